"""A study from begin to end: what it needs is looked for and built, its Trials are carried out and written down."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

import msgspec

from webdyno.design.choice import Choice
from webdyno.model.catalogue import Catalogue
from webdyno.model.study import Study
from webdyno.plan import make_plan, memory_bytes
from webdyno.session.ceilings import with_ceilings
from webdyno.session.designs import design_of, room_here
from webdyno.session.folders import cache_folder, refuse_unwritable
from webdyno.session.listeners import Beside
from webdyno.session.lookup import look_for_drivers, refuse_what_the_driver_cannot
from webdyno.session.loop import at_work
from webdyno.session.machine import strapped_here, wide
from webdyno.session.manner import AS_EVER, Attend, Ended, Intent, Manner, refuse_other_manner
from webdyno.session.ready import build, look
from webdyno.session.resuming import (
    agreed,
    command_of,
    further_of,
    not_by,
    on_its_machine,
    opened,
    there_again,
    why_nothing_followed,
    with_definitions_of,
)
from webdyno.session.saying import note
from webdyno.session.trust import remember_plan
from webdyno.store import Store

__all__ = ["Attend", "Ended", "Intent", "Manner", "begin", "resume"]


def begin(
    study: Study,
    known: Catalogue,
    results: Path,
    *,
    choice: Choice = Choice(),  # noqa: B008 - frozen
    arguments: Sequence[str] = (),
    brief: bool = False,
    manner: Manner = AS_EVER,
) -> Ended:
    """Measure ``study`` into a new folder below ``results``. Any WebdynoError.

    ``arguments`` are what makes the same study again on a command line.
    """
    refuse_unwritable(results)
    refuse_what_the_driver_cannot(study, known)
    if manner.is_fleet:
        from webdyno.session.fleet_study import begin as begin_on_fleet  # numpy, which one machine need not wait for

        return begin_on_fleet(study, known, results, choice=choice, arguments=arguments, brief=brief, manner=manner)
    raced = choice.rounds_of(study)
    far = wide(manner.far, study.loads)
    limits, wait = (memory_bytes(study), study.cores), manner.wait
    with strapped_here(*limits, way=study.way, as_user=study.as_user, cpus=study.cpus, wait=wait, far=far) as strapped:
        versions, absent = look_for_drivers(study, strapped.of_drivers)
        there = look(known, study.contenders, study.workloads, strapped)
        plan = make_plan(raced, known, there.missing, there.lacking, absent, brief=brief)
        plan = msgspec.structs.replace(choice.on(plan, study), arguments=[*arguments])
        folder = results / f"{study.name}-{datetime.datetime.now().strftime('%Y%m%d-%H%M%S')}"
        manner.announce(Intent(plan, folder, versions, set(), room_here()))
        ready = build(known, plan, there, versions, strapped)
        remember_plan(plan, folder)
        with (
            Store.create(folder, plan, with_ceilings(strapped.fingerprint, cache_folder())) as store,
            manner.attend(store, plan) as listeners,
            Beside(folder, plan, set()) as beside,
            at_work(ready, strapped, store, [*listeners, beside]) as loop,
        ):
            loop.follow(design_of(plan, store.fingerprint()))
    return Ended(folder, strapped.interrupted.is_set())


def resume(folder: Path, known: Catalogue, *, manner: Manner = AS_EVER) -> Ended:
    """Go on with the plan of a results folder; nothing it has is repeated. Any WebdynoError."""
    with opened(folder) as store:
        if command_of(store.plan()) != "run":
            raise not_by("run", store.plan(), store.folder)
        agreed(store, known, manner.agree)
        store.recall(known)
        refuse_other_manner(store, manner)
        if manner.further_s is not None:
            store.grow([], further=further_of(store, manner.further_s))
        plan, folder, already = store.plan(), store.folder, store.done()
        known = with_definitions_of(plan, known)
        if manner.is_fleet:
            from webdyno.session.fleet_study import go_on as go_on_with_fleet

            return go_on_with_fleet(store, known, manner)
        how = {"wait": manner.wait, "as_planned": manner.as_planned}
        with on_its_machine(store, far=manner.far, **how) as (strapped, versions):
            there = there_again(known, plan, folder, strapped)
            manner.announce(Intent(plan, folder, versions, already, room_here()))
            ready = build(known, plan, there, versions, strapped)
            with (
                manner.attend(store, plan) as listeners,
                Beside(folder, plan, already) as beside,
                at_work(ready, strapped, store, [*listeners, beside]) as loop,
            ):
                loop.follow(design_of(plan, store.fingerprint()))
            if manner.further_s is not None and store.done() == already and not strapped.interrupted.is_set():
                note([why_nothing_followed(store)])
    return Ended(folder, strapped.interrupted.is_set())
