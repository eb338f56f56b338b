"""A study on a fleet, from begin to end; what ``study.py`` is for one machine."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from webdyno.analyse.doubts.machine import placement
from webdyno.design.choice import Choice
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.study import Study
from webdyno.model.trial import Plan
from webdyno.plan import drivers_of, make_plan
from webdyno.session.fleet import Member, build_on, fingerprint_of, look_on, manned
from webdyno.session.fleet_agent import Needed
from webdyno.session.fleet_course import FleetCourse, room_on
from webdyno.session.interrupts import listening_for_interrupts
from webdyno.session.listeners import Beside, Kept, Listeners
from webdyno.session.loop import next_block
from webdyno.session.manner import Ended, Intent, Manner
from webdyno.session.trust import remember_plan, throwaway_for
from webdyno.store import Store


def begin(
    study: Study,
    known: Catalogue,
    results: Path,
    *,
    choice: Choice,
    arguments: Sequence[str],
    brief: bool,
    manner: Manner,
) -> Ended:
    """As ``study.begin``."""
    assert manner.far is not None  # noqa: S101 - it is a fleet
    raced = choice.rounds_of(study)
    needed = Needed(contenders=study.contenders, workloads=study.workloads, drivers=list(drivers_of(study)))
    with listening_for_interrupts() as interrupted, manned(manner.far, study, interrupted) as fleet:
        seen = look_on(fleet, known, needed)
        plan = make_plan(raced, known, seen.missing, seen.lacking, seen.absent, brief=brief)
        plan = msgspec.structs.replace(choice.on(plan, study), arguments=[*arguments])
        folder = results / f"{study.name}-{datetime.datetime.now().strftime('%Y%m%d-%H%M%S')}"
        manner.announce(Intent(plan, folder, seen.drivers, set(), room_on(fleet), len(fleet)))
        _build(fleet, plan, 1, interrupted)
        remember_plan(plan, folder)
        with Store.create(folder, plan, fingerprint_of(fleet)) as store:
            _carry_out(plan, store, fleet, interrupted, manner)
    return Ended(folder, interrupted.is_set())


def go_on(store: Store, known: Catalogue, manner: Manner) -> Ended:
    """As ``study.resume``, with a plan whose secrets are there; its fleet may have other hosts now."""
    assert manner.far is not None  # noqa: S101 - it is a fleet
    plan = store.plan()
    drivers = list(dict.fromkeys(trial.driver for trial in plan.trials))
    needed = Needed(contenders=[*plan.contenders], workloads=[*plan.workloads], drivers=drivers)
    as_user = plan.as_user if manner.as_planned else throwaway_for(plan)
    asked = msgspec.structs.replace(plan, as_user=as_user)
    with listening_for_interrupts() as interrupted, manned(manner.far, asked, interrupted) as fleet:
        _refuse_other_hosts(store, fleet)
        seen = look_on(fleet, known, needed)
        for name, reason in {**seen.missing, **seen.lacking, **seen.absent}.items():
            raise UsageError(f"{store.folder}: its plan needs {name}, but {reason}")
        manner.announce(Intent(plan, store.folder, seen.drivers, store.done(), room_on(fleet), len(fleet)))
        _build(fleet, plan, next_block(store.runs()), interrupted)
        store.add_fingerprint(fingerprint_of(fleet))
        _carry_out(plan, store, fleet, interrupted, manner)
    return Ended(store.folder, interrupted.is_set())


def _build(fleet: Sequence[Member], plan: Plan, next_block: int, interrupted: threading.Event) -> None:
    """KeyboardInterrupt where the user stopped it, and not what hosts say of that."""
    try:
        build_on(fleet, plan, next_block)
    except MachineError:
        if interrupted.is_set():
            raise KeyboardInterrupt from None
        raise


def _carry_out(plan: Plan, store: Store, fleet: Sequence[Member], interrupted: threading.Event, manner: Manner) -> None:
    with manner.attend(store, plan) as listeners, Beside(store.folder, plan, store.done()) as beside:
        told = Listeners([Kept(store.refuse_moved), *listeners, beside])
        FleetCourse(plan, store, fleet, told, interrupted).run()


def _refuse_other_hosts(store: Store, fleet: Sequence[Member]) -> None:
    """UsageError where contenders have other cores or limits than in the Runs before."""
    rigs = {placement(run.rig) for run in store.runs()}
    if rigs and not all(member.about.rig is not None and placement(member.about.rig) in rigs for member in fleet):
        raise UsageError(
            f"{store.folder}: its runs were made with other cores or limits than the hosts of this fleet give, and "
            "such rates are not compared: use hosts of the same size, or start over"
        )
