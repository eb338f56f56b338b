"""``webdyno compare``: did this change make it slower? Two revisions, two contenders, or two results folders."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from cyclopts import Parameter

from webdyno.commands.completing import contenders
from webdyno.commands.measuring import Measuring
from webdyno.commands.options import (
    CatalogueOption,
    JsonOption,
    ResumeOption,
    WaitOption,
    flag,
    holds_runs,
)
from webdyno.commands.placing import Placing
from webdyno.commands.printing import err, give, out, say_failed, say_json
from webdyno.commands.revising import Revising
from webdyno.commands.trusting import TrustOption, agreeing, catalogue_to_run, refuse_as_root
from webdyno.commands.units import share, size_mb
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import BuildError, ContenderError, UsageError
from webdyno.model.load import Load
from webdyno.model.paired import Paired, Revisions
from webdyno.model.spelling import did_you_mean
from webdyno.session.folders import state_folder
from webdyno.session.trust import throwaway

if TYPE_CHECKING:
    from webdyno.analyse.table import Evidence
    from webdyno.analyse.versus import Versus
    from webdyno.rig.strap import Strapped
    from webdyno.session.ready import Ready

Format = Literal["terminal", "md", "json"]
WORSE, CANNOT_TELL = 1, 3
MARGIN = 0.03


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Judging:
    """The flags that say how the answer is judged and printed."""

    margin: Annotated[
        str | None,
        flag("--margin", help="Smallest change that counts: 3%. [default: as measured, or 3%]"),
    ] = None
    format_: Annotated[Format, Parameter(name=["--format", "-f"], help="md: for a pull request.")] = "terminal"
    json: JsonOption = False

    def check(self) -> None:
        """UsageError for a margin that makes no sense, and for two forms."""
        self.share()
        if self.json and self.format_ == "md":
            raise UsageError("--json and --format md exclude each other: the answer has one format")

    @property
    def form(self) -> Format:
        """That it is printed in."""
        return "json" if self.json else self.format_

    def share(self, paired: Paired | None = None) -> float:
        """The margin, as a part of the rate: of the flag, else of what was measured."""
        if self.margin is not None:
            return share(self.margin, "--margin", 0.0001, 0.5)
        return MARGIN if paired is None else paired.margin


_REVISING, _MEASURING, _JUDGING = Revising(), Measuring(), Judging()


def compare(
    *names: Annotated[
        str, Parameter(help="Base and head: two results folders, or two contenders.", completer=contenders)
    ],
    revising: Revising = _REVISING,
    measuring: Measuring = _MEASURING,
    judging: Judging = _JUDGING,
    resume: ResumeOption = None,
    results: Annotated[
        Path | None,
        flag("--results", help="Where to create the results folder. [default: ~/.local/state/webdyno]"),
    ] = None,
    wait: WaitOption = False,
    catalogue: CatalogueOption = None,
    trust: TrustOption = False,
) -> int:
    """Compare head with base: faster, slower, the same within a margin, or undecided.

    Two revisions of a repository (--rev BASE --rev HEAD), or two contenders, are measured in pairs, close together in
    time, until the answer is clear. Two results folders are compared as they are. A runtime that compiles while it
    serves (V8, HotSpot ...) is first loaded for a while, once per side, to measure the warm-up it needs. Exit code 0:
    same or better; 1: worse, or head does not build or serve at all; 3: undecided, or only base does not build; 4: this
    machine cannot do it. Ctrl-C keeps the pairs so far, and `--resume` continues.

    Example: `webdyno compare --rev main --rev HEAD --cmd 'python app.py {port}'` or `webdyno compare
    results/toys-20261121-120000 results/toys-20261121-130000`
    """
    judging.check()
    chosen = _Chosen(judging, measuring, revising, results, wait, catalogue or [], trust)
    if resume is not None:
        _refuse_beside_resume(names, chosen)
        return _resumed(resume, chosen, catalogue_to_run(catalogue, trust))
    revs, load = revising.check(names), measuring.load()
    if revs:
        return _revisions(revs, load, chosen)
    folders = [name for name in names if _is_folder(name)]
    if names and len(folders) == len(names) <= 2:
        return _tell(chosen, [Path(name) for name in names])
    _refuse_other_than_two_contenders(names, folders)
    return _contenders(names, load, chosen, catalogue_to_run(catalogue, trust))


def _refuse_beside_resume(names: Sequence[str], chosen: _Chosen) -> None:
    placed = replace(_MEASURING, **{name: getattr(chosen.measuring, name) for name in Placing.__dataclass_fields__})
    another = names or chosen.measuring != placed or not chosen.revising.gives_again
    if another or chosen.judging.margin is not None or chosen.results is not None:
        raise UsageError(
            "--resume continues a comparison as it was begun, so the only other flags it takes are --env, -H and --far"
        )


def _refuse_other_than_two_contenders(names: Sequence[str], folders: Sequence[str]) -> None:
    if len(names) != 2:
        raise UsageError("compare what? Give two results folders, two contenders, or --rev BASE --rev HEAD")
    if folders:
        raise UsageError(f"{folders[0]} is a results folder and the other is not: give two of the same kind")


@dataclass(frozen=True)
class _Chosen:
    judging: Judging
    measuring: Measuring
    revising: Revising
    results: Path | None
    wait: bool
    catalogues: Sequence[Path]
    trust: bool

    def new_folder(self) -> Path:
        from webdyno.session.folders import new_folder

        return new_folder(state_folder() if self.results is None else self.results, "compare")

    def asked(self, load: Load, revisions: Revisions | None = None) -> Paired:
        """How the pairs are measured."""
        return Paired(
            load=load,
            margin=self.judging.share(),
            most=self.measuring.pairs,
            budget_s=self.measuring.budget_s,
            revisions=revisions,
            looks="late",
        )

    @property
    def memory_mb(self) -> int | None:
        return size_mb(self.measuring.memory, "--memory")

    def strapped(self, *, as_user: bool = False) -> AbstractContextManager[Strapped]:
        """The machine, or the machines, for as long as it is measured."""
        from webdyno.session.machine import strapped_here
        from webdyno.session.ready import memory_of

        memory, how = memory_of(self.memory_mb), self.measuring
        return strapped_here(memory, way=how.way, as_user=as_user, cpus=how.cpus, wait=self.wait, far=how.cluster)

    @property
    def about(self) -> dict[str, str | float | None]:
        """What the plan says of them, as a study would."""
        return {"memory_mb": self.memory_mb, "way": self.measuring.way, "cpus": self.measuring.cpus, "seed": 1}


def _is_folder(name: str) -> bool:
    return name.endswith("results.sqlite") or (Path(name) / "results.sqlite").is_file()


def _contenders(names: Sequence[str], load: Load, chosen: _Chosen, known: Catalogue) -> int:
    from webdyno.session.ready import ready_from_catalogue, workload_of

    base, head = names
    for name in names:
        if name not in known.contenders:
            hint = did_you_mean(name, known.contenders, "see: webdyno list contenders")
            raise UsageError(f"{name} is neither a results folder nor a contender; {hint}")
    if base == head:
        raise UsageError(f"{base} compared with itself: give two different contenders")
    asked = workload_of(known, [base, head], chosen.measuring.workload)
    folder = chosen.new_folder()
    as_user = throwaway(chosen.measuring.as_user, chosen.catalogues)
    with chosen.strapped(as_user=as_user) as strapped:
        about = {"name": "compare", "title": f"{head} against {base}", "as_user": as_user, **chosen.about}
        ready = ready_from_catalogue(
            known, [base, head], asked, strapped, question=f"Is {head} slower than {base}?", **about
        )
        for name in (head, base):
            if isinstance(error := ready.built[name], BuildError):
                return _not_built(name == head, BuildError(f"{name} does not build: {error}", error.log_tail))
        _measure(ready, chosen.asked(load), strapped, folder, chosen)
    return _ended(folder, chosen, stopped=strapped.interrupted.is_set())


def _revisions(revs: list[str], load: Load, chosen: _Chosen) -> int:
    from webdyno.analyse.versus import HEAD
    from webdyno.session.revisions import RevisionError, resolve

    if chosen.measuring.way == "container":
        raise UsageError("--way container is only for contenders of the catalogue: use bare or cgroup for revisions")
    refuse_as_root("compare of revisions", chosen.measuring.as_user, chosen.catalogues)
    known = catalogue_to_run([*chosen.catalogues], chosen.trust)
    flags, folder = chosen.revising, chosen.new_folder()
    with chosen.strapped() as strapped:
        made = flags.made(resolve(flags.repo, revs, strapped))
        try:
            ready = flags.ready(made, chosen.measuring.workload, known, strapped, **chosen.about)
        except RevisionError as error:
            return _not_built(error.side == HEAD, error)
        _measure(ready, chosen.asked(load, made), strapped, folder, chosen)
    return _ended(folder, chosen, stopped=strapped.interrupted.is_set())


def _resumed(folder: Path, chosen: _Chosen, known: Catalogue) -> int:
    from webdyno.session.pairing import resume_pairs

    try:
        agree = agreeing(chosen.trust)
        far = chosen.measuring.cluster
        ended = resume_pairs(folder, known, chosen.revising.again, wait=chosen.wait, agree=agree, far=far)
    except BuildError as error:  # it was built before, so this says nothing of head
        say_failed(error)
        return CANNOT_TELL
    return _ended(ended.folder, chosen, stopped=ended.interrupted)


def _ended(folder: Path, chosen: _Chosen, *, stopped: bool) -> int:
    if not stopped:
        return _tell(chosen, [folder])
    so_far = f"to see the pairs so far: webdyno compare {folder}" if holds_runs(folder) else "no pair was measured"
    err(f"stopped; {so_far}")
    if (line := _to_go_on(folder, chosen.catalogues)) is not None:
        err(f"to go on: {line}")
    return 128 + signal.SIGINT


def _to_go_on(folder: Path, catalogues: Sequence[Path]) -> str | None:
    """The command line; None where it was stopped before there was a plan, or nothing is left."""
    from webdyno.session.pairing import is_open
    from webdyno.session.resuming import line_of
    from webdyno.store import FILE, Store

    if not (folder / FILE).is_file():
        return None
    with Store.open(folder) as store:
        plan, runs = store.plan(), store.runs()
    return line_of(plan, folder, catalogues) if is_open(plan, runs) else None


def _not_built(is_head: bool, error: ContenderError) -> int:
    """A head that does not build is worse than any; without a base there is no answer."""
    say_failed(error)
    return WORSE if is_head else CANNOT_TELL


def _measure(ready: Ready, asked: Paired, strapped: Strapped, folder: Path, chosen: _Chosen) -> None:
    """How long a side has to be warmed up is found out first, unless it was said."""
    from webdyno.session.pairing import begin_pairs
    from webdyno.session.settling import settling_s
    from webdyno.session.warming import warmed

    ready = replace(ready, plan=msgspec.structs.replace(ready.plan, arguments=chosen.measuring.arguments))
    if chosen.measuring.warmup is None:
        ready = warmed(ready, asked.load, settling_s(asked.budget_s, len(ready.plan.contenders)), strapped)
    if not strapped.interrupted.is_set():
        begin_pairs(ready, asked, strapped, folder)


def _tell(chosen: _Chosen, folders: Sequence[Path]) -> int:
    """The verdict, from written Runs and nothing else."""
    from webdyno.analyse.table import Evidence
    from webdyno.analyse.versus import outcome_of, over_folders, over_pairs
    from webdyno.model.rig import changes
    from webdyno.store import Store

    evidence = []
    for folder in folders:
        with Store.open(folder) as store:
            evidence.append(Evidence(store.plan(), store.fingerprint(), store.runs()))
    notes: list[str] = []
    if len(evidence) == 1:
        (only,) = evidence
        if only.plan.study != "compare":
            raise UsageError(f"{folders[0]} is not a comparison by itself: give two folders, base first")
        base, head = only.plan.contenders
        found = [over_pairs(only, base, head, chosen.judging.share(only.plan.paired))]
        notes += [*_warm_ups(only), f"Results: {folders[0]}"]
        named = only.plan.title.partition(" against ")
        names = (named[2], named[0])
    else:
        found = over_folders(evidence[0], evidence[1], chosen.judging.share())
        notes.append(
            "note: measured in two sittings: what changed on the machine in between cannot be separated from the change"
        )
        differ = changes(evidence[0].fingerprint, evidence[1].fingerprint)
        notes += [f"note: the machines differ in {', '.join(differ)}"] if differ else []
        names = (str(folders[0]), str(folders[1]))
    _say(chosen.judging.form, names, found, notes)
    if len(evidence) == 1 and _serves_nothing(evidence[0]):
        return WORSE
    return {"worse": WORSE, "cannot tell": CANNOT_TELL}.get(outcome_of(found), 0)


def _serves_nothing(evidence: Evidence) -> bool:
    """Whether its last contender, which is head, never served: then it is no good, whatever base did."""
    from webdyno.analyse.window import BLAMELESS

    head, unknown = list(evidence.plan.contenders)[-1], {"interrupted", *BLAMELESS}
    outcomes = {run.outcome for run in evidence.runs if run.trial.contender == head} - unknown
    return bool(outcomes) and "ok" not in outcomes


def _warm_ups(evidence: Evidence) -> list[str]:
    """What was given to sides in which a compiler works, as it stands in their Runs."""
    from webdyno.analyse.words import listing

    sides: dict[float, list[str]] = {}
    given = {run.trial.contender: run.trial.warmup_s for run in evidence.runs if run.compilers and run.trial.warmup_s}
    for name, warmup_s in given.items():
        sides.setdefault(warmup_s, []).append(name)
    return [
        f"note: each start of {listing(names)} was given {warmup_s:g} s to warm up, because it compiles while it serves"
        for warmup_s, names in sides.items()
    ]


def _say(form: Format, names: tuple[str, str], found: Sequence[Versus], notes: Sequence[str]) -> None:
    from webdyno.analyse.versus import outcome_of
    from webdyno.report.versus import sentence, versus_lines, versus_markdown

    if form == "json":
        told = [sentence(names, each) for each in found]
        data = {"base": names[0], "head": names[1], "outcome": outcome_of(found), "sentences": told}
        say_json(data | {"tables": found, "notes": notes})
    elif form == "md":
        give([versus_markdown(names, found, notes)])
    else:
        for line in versus_lines(names, found, notes):
            out(line)
