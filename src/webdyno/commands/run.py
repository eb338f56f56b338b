"""``webdyno run``: plan, build, then Trial after Trial, each written down when it is over; at the end the report."""

from __future__ import annotations

import datetime
import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from webdyno.analyse.words import count, length, listing
from webdyno.commands.metering import Meter, MetricsOption, check, put
from webdyno.commands.options import CatalogueOption, JsonOption, ResultsOption, WaitOption, catalogue_of
from webdyno.commands.progress import progress
from webdyno.commands.racing import Racing, costs, ending, extent
from webdyno.commands.report import rendered, show, write
from webdyno.commands.studying import Narrowing, StudyArgument, study_called
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import UsageError
from webdyno.model.rig import Fingerprint
from webdyno.model.study import Study
from webdyno.model.trial import Plan
from webdyno.plan import make_plan, memory_bytes
from webdyno.rig.strap import Strapped
from webdyno.session.ceilings import with_ceilings
from webdyno.session.designs import design_of
from webdyno.session.folders import cache_folder, refuse_unwritable
from webdyno.session.listeners import Beside, Listener
from webdyno.session.lookup import driver_versions, look_for_drivers, refuse_what_the_driver_cannot
from webdyno.session.loop import at_work
from webdyno.session.machine import strapped_here
from webdyno.session.ready import Ready, build, look
from webdyno.session.saying import note
from webdyno.store import Store

ResumeOption = Annotated[
    Path | None, Parameter(name=["--resume"], help="Continue the plan of this results folder; repeats nothing it has.")
]
_PROCESSORS = ("cpu_model", "architecture", "cores", "threads_per_core")
"""Of a Fingerprint: what makes it another machine."""


def run(
    study: StudyArgument | None = None,
    /,
    *,
    narrowing: Narrowing = Narrowing(),  # noqa: B008 - frozen
    racing: Racing = Racing(),  # noqa: B008 - frozen
    resume: ResumeOption = None,
    results: ResultsOption = Path("results"),
    metrics: MetricsOption = None,
    wait: WaitOption = False,
    catalogue: CatalogueOption = None,
    json: JsonOption = False,
) -> int:
    """Run a study: every contender on every workload, in rounds of random order; say who wins and how sure.

    Where rates are all its question it is a race: three rounds of everything, then only what still decides something,
    in as many runs as its rounds of everything would take at most. `--exhaustive` runs them all.

    Ctrl-C ends it cleanly: what was measured is kept, and `--resume` continues.

    Example: `webdyno run quickstart`
    """
    check(metrics)
    known = catalogue_of(catalogue)
    if resume is not None:
        if study is not None or not narrowing.is_empty or racing != Racing():
            raise UsageError("--resume continues a plan as it was made; it takes no study and no flag that narrows one")
        return _resume(resume, known, metrics, json, wait=wait)
    if study is None:
        raise UsageError("run what? Name a study (see: webdyno list studies), a study file, or --resume FOLDER")
    refuse_unwritable(results)
    chosen = narrowing.of(study_called(study, known), known)
    refuse_what_the_driver_cannot(chosen, known)
    arguments = [
        study,
        *narrowing.arguments,
        *(part for path in catalogue or [] for part in ("--catalogue", str(path))),
    ]
    return _begin(chosen, known, racing, _Call(arguments, narrowing.brief, results, metrics, json, wait))


@dataclass(frozen=True)
class _Call:
    """What the command line said beside the study and its race."""

    arguments: list[str]
    """As they make the same study again."""
    brief: bool
    results: Path
    metrics: Path | None
    json: bool
    wait: bool


def _begin(study: Study, known: Catalogue, racing: Racing, call: _Call) -> int:
    raced = racing.rounds_of(study)
    with strapped_here(memory_bytes(study), study.cores, wait=call.wait) as (strapped, interrupted):
        versions, absent = look_for_drivers(study, strapped)
        there = look(known, study.contenders, study.workloads, strapped)
        plan = make_plan(raced, known, there.missing, there.lacking, absent, brief=call.brief)
        plan = msgspec.structs.replace(racing.on(plan, study), arguments=call.arguments)
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        folder = call.results / f"{study.name}-{stamp}"
        _announce(plan, folder, versions)
        ready = build(known, plan, there, versions, strapped, interrupted)
        with Store.create(folder, plan, with_ceilings(strapped.fingerprint, cache_folder())) as store:
            _work(store, ready, strapped, interrupted, call.metrics)
    return _finish(folder, interrupted, call.json, call.metrics)


def _resume(folder: Path, known: Catalogue, metrics: Path | None, json: bool, *, wait: bool) -> int:
    with Store.open(folder, writable=True) as store:
        store.recall(known.workloads)
        plan, folder = store.plan(), store.folder
        known = _with_definitions_of(plan, known)
        with strapped_here(plan.memory_bytes, plan.cores, wait=wait) as (strapped, interrupted):
            refuse_another_machine(plan, folder, store.fingerprint(), strapped.fingerprint)
            versions = driver_versions(_drivers(plan), strapped)
            changed = store.add_fingerprint(with_ceilings(strapped.fingerprint, cache_folder()))
            note([f"this machine differs from before in {', '.join(changed)}"] if changed else [])
            there = look(known, plan.contenders, plan.workloads, strapped)
            for name, reason in there.missing.items():
                raise UsageError(f"{folder}: its plan needs {name}, but {reason}")
            for name, reason in there.lacking.items():
                raise UsageError(f"{folder}: its plan needs service {name}, but {reason}")
            _announce(plan, folder, versions, already=store.done())
            ready = build(known, plan, there, versions, strapped, interrupted)
            _work(store, ready, strapped, interrupted, metrics)
    return _finish(folder, interrupted, json, metrics)


def refuse_another_machine(plan: Plan, folder: Path, before: Fingerprint, here: Fingerprint) -> None:
    """UsageError when a plan would go on on other processors: runs of two machines are never compared."""
    asked = ((field, getattr(before, field), getattr(here, field)) for field in _PROCESSORS)
    if differs := [f"{field} was {old} and is {new} here" for field, old, new in asked if old != new]:
        again = " ".join(plan.arguments or [plan.study])
        raise UsageError(
            f"{folder}: its runs were made on another machine ({', '.join(differs)}), and runs of two machines are "
            f"not compared; begin anew here: webdyno run {again}"
        )


def _with_definitions_of(plan: Plan, known: Catalogue) -> Catalogue:
    """The catalogue with the plan's own definitions on top: a plan goes on as it began, whatever was edited since."""
    absent = [name for name in plan.apps if name not in known.app_directories]
    if absent:
        raise UsageError(
            f"the plan serves app {absent[0]!r}, which is not in the catalogue; give --catalogue as before"
        )
    return msgspec.structs.replace(
        known,
        contenders={**known.contenders, **plan.contenders},
        apps={**known.apps, **plan.apps},
        runtimes={**known.runtimes, **plan.runtimes},
        workloads={**known.workloads, **plan.workloads},
        services={**known.services, **plan.services},
    )


def _drivers(plan: Plan) -> list[str]:
    return list(dict.fromkeys(trial.driver for trial in plan.trials))


def _announce(plan: Plan, folder: Path, versions: dict[str, str], already: set[str] | None = None) -> None:
    """What will happen and how long it takes, before it happens."""
    share = 1 - len(already or ()) / len(plan.trials)
    most = "at most" if plan.race is not None else "about"
    done = f", {len(already)} of them done" if already else ""
    print(f"{plan.title}: {plan.question}", file=sys.stderr)
    print(
        f"{count(len(plan.contenders), 'contender')}, {count(len(plan.workloads), 'workload')}, {extent(plan)}{done}, "
        f"{most} {length(plan.seconds * share)} after the build\n"
        f"load by {listing([f'{name} {versions[name]}' for name in _drivers(plan)])}; results in {folder}",
        file=sys.stderr,
    )
    for sentence in costs(plan):
        print(sentence, file=sys.stderr)
    for skip in plan.skipped:
        print(f"skipped {skip.what}: {skip.reason}", file=sys.stderr)


def _work(store: Store, ready: Ready, strapped: Strapped, interrupted: threading.Event, metrics: Path | None) -> None:
    plan, already = ready.plan, store.done()
    with progress(plan, already) as shown, Beside(store.folder, plan, already) as beside:
        meters: list[Listener] = [Meter(metrics, plan, store.fingerprint(), store.runs())] if metrics else []
        with at_work(ready, strapped, store, interrupted, [shown, beside, *meters]) as loop:
            loop.follow(design_of(plan, store.fingerprint().ceilings))


def _finish(folder: Path, interrupted: threading.Event, json: bool, metrics: Path | None) -> int:
    with Store.open(folder) as store:
        runs = store.runs()
        if json:
            sys.stdout.write(rendered(store, "json"))
        elif runs:
            write(folder / "report.html", rendered(store, "html"))
            show(store, folder)
        if metrics is not None and runs:
            put(metrics, rendered(store, "openmetrics"))
        plan = store.plan()
        done = len(store.done())
        left = "" if plan.race is not None else f" {len(plan.trials) - done} trials left:"
        note([said] if not interrupted.is_set() and (said := ending(plan, store)) else [])
    if interrupted.is_set():
        again = f"{left} webdyno run --resume {folder}" if done else " nothing was measured yet that could be resumed"
        print(f"stopped;{again}", file=sys.stderr)
        return 128 + signal.SIGINT
    return 1 if any(record.outcome != "ok" for record in runs) else 0
