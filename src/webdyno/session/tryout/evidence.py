"""From what was measured to what is said; and the files of ``--save``."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from webdyno.analyse import analyse, words
from webdyno.analyse.blocks import read_windows
from webdyno.analyse.doubts.machine import noisy_host
from webdyno.analyse.doubts.table import kind_of
from webdyno.analyse.erring import erring
from webdyno.analyse.window import Window, read_window
from webdyno.design.blocks import restless
from webdyno.design.halving import Field
from webdyno.model.errors import WebdynoError
from webdyno.model.log import decisive_line, last_lines
from webdyno.model.outward import clean
from webdyno.model.run import Run
from webdyno.model.secret import asked, hidden_line
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis
from webdyno.model.workload import Request, Workload
from webdyno.report.words import placement
from webdyno.session.ceilings import with_ceilings
from webdyno.session.folders import cache_folder
from webdyno.session.reports import rendered, write
from webdyno.session.saying import say
from webdyno.session.tryout.answer import Answer, answer_of, called, doubts_of
from webdyno.session.tryout.bench import TryBench
from webdyno.session.tryout.budget import NOTHING_S
from webdyno.session.tryout.command import CURRENT
from webdyno.session.tryout.copying import Around, Copied, image_to_copy, to_copy
from webdyno.session.tryout.first import First
from webdyno.session.tryout.limit import Limit, limit_of, middle
from webdyno.session.tryout.profile import Profile, profile
from webdyno.session.tryout.servers import other_versions
from webdyno.session.tryout.sitting import Sitting
from webdyno.session.tryout.told import Dropped, Told, told_ratio
from webdyno.store import LOGS, Store

ANSWER = "answer.json"
HELLO = Workload(name="app", title="an app that does nothing", kind="cpu", requests=[Request(name="/", path="/")])


def conclude(sitting: Sitting, first: First, bench: TryBench, field: Field, plan: Plan, runs: list[Run]) -> Told:
    """What is said; the machine must still be ours, for where the time goes is measured here."""
    fingerprint = with_ceilings(sitting.strapped.fingerprint, cache_folder())
    analysis = analyse(plan, fingerprint, runs)
    windows = read_windows(runs)
    answer = answer_of(analysis, windows, bench.settings, _current(sitting))
    seen = Profile()
    if answer.best is not None and sitting.project is not None and not sitting.strapped.interrupted.is_set():
        seen = profile(bench, answer.best, sitting.work)
    project = sitting.project
    wrong = _wrong(bench, answer, runs)
    return Told(
        answer=answer.sentence if wrong is None else f"{answer.sentence} {wrong[0].upper()}{wrong[1:]}.",
        take=answer.best,
        interface=None if project is None else project.interface,
        python="" if project is None else f"{project.version}, {project.how}",
        asked=[asked(request) for request in first.workload.requests],
        load=bench.load(1.0).label,
        copy=_copied(sitting, bench, answer.first),
        copy_of=answer.first,
        limit=_limit(sitting, bench, answer, windows, first.alone_s),
        profile=seen,
        names={name: _name(sitting, bench, name) for name in bench.settings},
        standings=answer.verdict.standings,
        dropped=_dropped(field, plan),
        failed=_failed([*field.failed.values(), *runs]),
        skipped=sitting.skipped,
        untried=len(field.untried),
        doubts=doubts_of(analysis, answer.best),
        notes=[*first.notes, *_notes(sitting, bench, answer, runs), *_early(field, plan, analysis)],
        saved=None if sitting.task.save is None else str(sitting.task.save),
        complete=not sitting.strapped.interrupted.is_set(),
        **told_ratio(answer),  # type: ignore[arg-type]  # its fields by name
    )


def _current(sitting: Sitting) -> str | None:
    """The command of --current, as it may be shown."""
    return sitting.task.current and hidden_line(sitting.task.current)


def _name(sitting: Sitting, bench: TryBench, name: str) -> str:
    if name == CURRENT:
        return f"current: {_current(sitting)}"
    return called(bench.settings[name])


def _wrong(bench: TryBench, answer: Answer, runs: Sequence[Run]) -> str | None:
    """What went wrong under load, of all that were compared."""
    errors = [str(run.summary["first_error"]) for run in runs if run.summary.get("first_error")]
    seen = errors[0].partition(", expected ")[0] if errors else ""  # what is right, the user knows
    return erring(answer.verdict.standings, lambda name: called(bench.settings[name]), seen)


def _limit(
    sitting: Sitting, bench: TryBench, answer: Answer, windows: Sequence[Window], alone_s: float
) -> Limit | None:
    """Where the time of the best goes: with the app, and with one that does nothing.

    Of the best that is the catalogue's: what the user's own command would be without the app, only the user knows.
    """
    if answer.best is None:
        return None
    ranked = [answer.best, *(standing.contender for standing in answer.verdict.standings)]
    name = next((each for each in ranked if sitting.original(bench.settings[each]) is not None), answer.best)
    own = middle([window for window in windows if window.run.trial.contender == name])
    if own is None:
        return None
    idle = None if sitting.strapped.interrupted.is_set() else sitting.nothing(bench, name, HELLO)
    nothing = None if idle is None else read_window(idle[0].measure(idle[1], NOTHING_S))
    standings = answer.verdict.standings
    setting = bench.settings[name]
    shown = setting.contender.server if setting.is_command else setting.base
    return limit_of(shown, own, nothing, standings, lambda each: bench.settings[each].contender.server, alone_s)


def _copied(sitting: Sitting, bench: TryBench, name: str | None) -> Copied | None:
    if name is None:
        return None
    if name in sitting.images:
        return image_to_copy(sitting.images[name], sitting.task.variables)
    setting, task = bench.settings[name], sitting.task
    around = Around(
        project=sitting.project,
        folder=task.folder,
        cores=sitting.cores,
        cache=sitting.cache,
        env_file=task.env_file,
        names=task.names,
    )
    return to_copy(setting, sitting.original(setting), around)


def _dropped(field: Field, plan: Plan) -> list[Dropped]:
    """Measured, served, and not in the last comparison; the fastest first."""
    rates = field.reached()
    names = [name for name in field.ranked(rates) if name not in plan.contenders]
    return [Dropped(name, rates[name], len(field.runs[name])) for name in names]


def _failed(runs: Sequence[Run]) -> dict[str, str]:
    """What went wrong with each, and the line of its log that says why, or the last one."""
    found = {}
    for run in runs:
        if run.outcome not in ("ok", "interrupted"):
            line = decisive_line(run.log_tail) or "".join(last_lines(run.log_tail, 1))
            found[run.trial.contender] = run.message + (f" ({line.strip()[:200]})" if line else "")
    return found


def _notes(sitting: Sitting, bench: TryBench, answer: Answer, runs: Sequence[Run]) -> list[str]:
    """What holds for the whole answer."""
    found = [
        f"asked by {words.count(sitting.task.connections, 'client')} that wait for each answer; the load that "
        "it can take within a latency limit is a different question",
        *([placement(runs[-1].rig)] if runs else []),
        *[
            f"each start of {base} was given {warmup_s:g} s to warm up: the time that its compiler took to settle"
            for base, warmup_s in bench.warmups.items()
            if any(bench.settings[run.trial.contender].base == base for run in runs)
        ],
        *_alone(bench, runs),
        *[f"{each.name} is {each.digest or each.id}, run by {each.engine.name}" for each in sitting.images.values()],
    ]
    if answer.best is not None and sitting.project is not None:
        found_for = sitting.original(bench.settings[answer.best])
        original = None if found_for is None else found_for[0]
        if original is not None:
            found.append(f"how {original.name} works: {original.model} ({original.recommended or original.because})")
        others = [] if original is None else other_versions(original, sitting.project)
        if others:
            found.append(f"measured with {words.listing(others)}: the answer holds for that version")
    return found


def _alone(bench: TryBench, runs: Sequence[Run]) -> list[str]:
    """Who was measured alone, and why."""
    if bench.all_alone is not None:
        return [f"each setting was measured alone: {bench.all_alone}"]
    names = dict.fromkeys(run.trial.contender for run in runs if run.block is None)
    reasons = {**bench.room.kept, **restless(runs)}
    return [f"{called(bench.settings[name])} was measured alone: {reasons[name]}" for name in names if name in reasons]


def _early(field: Field, plan: Plan, analysis: Analysis) -> list[str]:
    """What was dropped was dropped after short Runs: a noisy machine may have dropped the wrong one."""
    noisy = any(doubt.kind == kind_of(noisy_host) for doubt in doubts_of(analysis, None))
    if not noisy or not _dropped(field, plan):
        return []
    return ["settings dropped early had only one or two short runs, and this machine is noisy: a rerun may differ"]


def save(folder: Path, told: Told, logs: Path) -> None:
    """Beside the results: the report, the answer as JSON, what is to be copied, and everybody's log."""
    with Store.open(folder) as store:
        write(folder / "report.html", rendered(store, "html"))
    write(folder / ANSWER, clean(msgspec.json.format(msgspec.json.encode(told), indent=2).decode()) + "\n")
    for log in sorted(logs.glob("*.log")):
        with log.open("rb") as written, (folder / LOGS / log.name).open("ab") as kept:  # behind an earlier sitting's
            shutil.copyfileobj(written, kept)
    if told.copy is not None:
        unit = {"webdyno-try.service": told.copy.systemd} if told.copy.systemd else {}
        for name, content in {**told.copy.files, **unit}.items():
            write(folder / name, content)


def keep(folder: Path, told: Told, logs: Path) -> None:
    """As ``save``; where it fails (a full disk) that is a note, for what was measured is still to be told."""
    try:
        save(folder, told, logs)
    except (WebdynoError, OSError) as error:
        say(f"note: --save {folder} is not complete: {error}")
