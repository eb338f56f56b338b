"""A study from begin to end: what it needs is looked for and built, its Trials are carried out and written down."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from webdyno.design.choice import Choice
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
from webdyno.session.ready import build, look
from webdyno.session.saying import note
from webdyno.store import Store

_PROCESSORS = ("cpu_model", "architecture", "cores", "threads_per_core")
"""Of a Fingerprint: what makes it another machine."""


class Intent(NamedTuple):
    """What is about to happen, to be told before it does."""

    plan: Plan
    folder: Path
    drivers: dict[str, str]
    """Their versions."""
    already: set[str]
    """Ids of the Trials that are done."""


Attend = Callable[[Store, Plan], AbstractContextManager[Sequence[Listener]]]
"""Who listens to the plan of a store, from before its first Trial to after its last."""


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How a session goes about a study, whatever the study is."""

    announce: Callable[[Intent], object] = lambda _: None
    attend: Attend = lambda _store, _plan: nullcontext(())
    wait: bool = False
    """While another webdyno measures here, instead of refusing."""


class Ended(NamedTuple):
    """Where a study's results are, and whether the user stopped it."""

    folder: Path
    interrupted: bool


def begin(
    study: Study,
    known: Catalogue,
    results: Path,
    *,
    choice: Choice = Choice(),  # noqa: B008 - frozen
    arguments: Sequence[str] = (),
    brief: bool = False,
    manner: Manner = Manner(),
) -> Ended:
    """Measure ``study`` into a new folder below ``results``. Any WebdynoError.

    ``arguments`` are what makes the same study again on a command line.
    """
    refuse_unwritable(results)
    refuse_what_the_driver_cannot(study, known)
    raced = choice.rounds_of(study)
    with strapped_here(memory_bytes(study), study.cores, wait=manner.wait) as (strapped, interrupted):
        versions, absent = look_for_drivers(study, strapped)
        there = look(known, study.contenders, study.workloads, strapped)
        plan = make_plan(raced, known, there.missing, there.lacking, absent, brief=brief)
        plan = msgspec.structs.replace(choice.on(plan, study), arguments=[*arguments])
        folder = results / f"{study.name}-{datetime.datetime.now().strftime('%Y%m%d-%H%M%S')}"
        manner.announce(Intent(plan, folder, versions, set()))
        ready = build(known, plan, there, versions, strapped, interrupted)
        with (
            Store.create(folder, plan, with_ceilings(strapped.fingerprint, cache_folder())) as store,
            manner.attend(store, plan) as listeners,
            Beside(folder, plan, set()) as beside,
            at_work(ready, strapped, store, interrupted, [*listeners, beside]) as loop,
        ):
            loop.follow(design_of(plan, store.fingerprint().ceilings))
    return Ended(folder, interrupted.is_set())


def resume(folder: Path, known: Catalogue, *, manner: Manner = Manner()) -> Ended:
    """Go on with the plan of a results folder; nothing it has is repeated. Any WebdynoError."""
    with Store.open(folder, writable=True) as store:
        store.recall(known.workloads)
        plan, folder, already = store.plan(), store.folder, store.done()
        known = _with_definitions_of(plan, known)
        with strapped_here(plan.memory_bytes, plan.cores, wait=manner.wait) as (strapped, interrupted):
            versions = _same_machine(store, plan, strapped)
            there = look(known, plan.contenders, plan.workloads, strapped)
            for name, reason in there.missing.items():
                raise UsageError(f"{folder}: its plan needs {name}, but {reason}")
            for name, reason in there.lacking.items():
                raise UsageError(f"{folder}: its plan needs service {name}, but {reason}")
            manner.announce(Intent(plan, folder, versions, already))
            ready = build(known, plan, there, versions, strapped, interrupted)
            with (
                manner.attend(store, plan) as listeners,
                Beside(folder, plan, already) as beside,
                at_work(ready, strapped, store, interrupted, [*listeners, beside]) as loop,
            ):
                loop.follow(design_of(plan, store.fingerprint().ceilings))
    return Ended(folder, interrupted.is_set())


def _same_machine(store: Store, plan: Plan, strapped: Strapped) -> dict[str, str]:
    """The versions of its drivers here; UsageError on other processors. What else differs is noted."""
    refuse_another_machine(plan, store.folder, store.fingerprint(), strapped.fingerprint)
    versions = driver_versions(dict.fromkeys(trial.driver for trial in plan.trials), strapped)
    changed = store.add_fingerprint(with_ceilings(strapped.fingerprint, cache_folder()))
    note([f"this machine differs from before in {', '.join(changed)}"] if changed else [])
    return versions


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
