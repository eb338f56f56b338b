"""Pairs of base and head in a results folder: begun once both are built, and gone on with where they were stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from webdyno.analyse.words import count
from webdyno.design.pairs import TURNS, Pairs
from webdyno.model.again import Again
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import BuildError
from webdyno.model.paired import Paired, Revisions
from webdyno.model.place import Cluster
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.rig.strap import Strapped
from webdyno.session.designs import room_here
from webdyno.session.lines import PairLines
from webdyno.session.listeners import Beside
from webdyno.session.loop import Loop, at_work, in_folder
from webdyno.session.ready import Ready, build
from webdyno.session.resuming import (
    agreed,
    not_by,
    on_its_machine,
    opened,
    recall,
    refuse_variables,
    there_again,
    with_definitions_of,
)
from webdyno.session.revisions import (
    by_command,
    catalogue_by_file,
    check_out_both,
    refuse_failed_builds,
    say_what_builds_see,
)
from webdyno.session.saying import say
from webdyno.session.study import Ended
from webdyno.session.trust import Agree, refuse
from webdyno.store import Store


def begin_pairs(ready: Ready, asked: Paired, strapped: Strapped, folder: Path) -> None:
    """Measure the two contenders of ``ready`` into a new folder. Any WebdynoError."""
    turns = None if ready.plan.turns is None else TURNS
    ready = replace(ready, plan=msgspec.structs.replace(ready.plan, paired=asked, turns=turns))
    design = _design(ready.plan, asked)
    with in_folder(ready, strapped, folder, [PairLines(design)]) as loop:
        _follow(loop, design)


def is_open(plan: Plan, runs: Sequence[Run]) -> bool:
    """Whether a comparison has pairs left to measure."""
    return plan.paired is not None and bool(_design(plan, plan.paired)(runs))


def resume_pairs(
    folder: Path,
    known: Catalogue,
    again: Again,
    *,
    wait: bool = False,
    agree: Agree = refuse,
    far: Cluster | None = None,
) -> Ended:
    """Go on with the comparison of a results folder. Any WebdynoError; BuildError for a side that cannot be built."""
    with opened(folder) as store:
        plan, asked = store.plan(), _asked(store)
        if not is_open(plan, store.runs()):
            say(f"nothing is left to measure in {store.folder}")
            return Ended(store.folder, interrupted=False)
        agreed(store, known, agree)
        refuse_variables(plan, store.folder, again)
        if asked.revisions is None or asked.revisions.contender_file is None:
            recall(store, known, again)
        with on_its_machine(store, wait=wait, far=far) as (strapped, drivers):
            ready = _ready_again(store, asked.revisions, known, again, strapped, drivers)
            refuse_unbuilt(ready)
            design = _design(ready.plan, asked)
            with (
                Beside(store.folder, None, store.done()) as beside,
                at_work(ready, strapped, store, [beside, PairLines(design, store.runs())]) as loop,
            ):
                _follow(loop, design)
    return Ended(store.folder, strapped.interrupted.is_set())


def _asked(store: Store) -> Paired:
    plan = store.plan()
    if plan.paired is None:
        raise not_by("compare", plan, store.folder)
    return plan.paired


def _ready_again(
    store: Store,
    made: Revisions | None,
    known: Catalogue,
    again: Again,
    strapped: Strapped,
    drivers: dict[str, str],
) -> Ready:
    """Both sides built as they were, from the catalogue or the repository."""
    plan = store.plan()
    if made is None:
        return _from_catalogue(store, known, strapped, drivers)
    revisions = check_out_both(made, strapped)
    if made.cmd is not None:
        (workload,) = plan.workloads
        say_what_builds_see(made.builds)
        both = [by_command(each, made.cmd, made.builds, {**again.variables}, workload, strapped) for each in revisions]
        return Ready(plan=plan, built={it.contender: it for _, it in both}, found={}, servers={}, drivers=drivers)
    known = catalogue_by_file(known, revisions, Path(made.contender_file or ""))
    recall(store, known, again)
    ready = _from_catalogue(store, known, strapped, drivers)
    refuse_failed_builds(ready.built, revisions)
    return ready


def _from_catalogue(store: Store, known: Catalogue, strapped: Strapped, drivers: dict[str, str]) -> Ready:
    plan = store.plan()
    known = with_definitions_of(plan, known)
    return build(known, plan, there_again(known, plan, store.folder, strapped), drivers, strapped)


def refuse_unbuilt(ready: Ready) -> None:
    """BuildError of the first side that could not be built."""
    for result in ready.built.values():
        if isinstance(result, BuildError):
            raise result


def _design(plan: Plan, asked: Paired) -> Pairs:
    base, head = plan.contenders
    return Pairs(plan=plan, names=(base, head), asked=asked, room=room_here())


def _follow(loop: Loop, design: Pairs) -> None:
    loop.follow(design)
    made = design.made(loop.runs)
    if not loop.is_interrupted and len(made) < design.asked.most and not design.is_decided(made):
        say(f"the budget is spent after {count(len(made), 'pair')}")
