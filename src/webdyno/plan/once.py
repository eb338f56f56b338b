"""Once: loads of a narrowed study that have become the same are asked once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import msgspec

from webdyno.model.study import Study, StudyLoad
from webdyno.plan.loads import asks, loads_from


class _One(NamedTuple):
    """A load of a narrowed study at one number of connections and one rate."""

    was: StudyLoad
    """The load of the study it comes from."""
    load: StudyLoad
    face: str
    """What tables call it, with its driver: loads with the same face cannot be distinguished by who reads of them."""
    place: int


def once(study: Study, narrowed: Study) -> tuple[Study, list[str]]:
    """``narrowed`` with what has become the same asked once, and the faces of that.

    Loads that have the same face in ``study`` are there on purpose, and stay. Of others the one stays that was written
    for the driver, or is nearest to the number of connections.
    """
    pairs = zip(study.loads, narrowed.loads, strict=True)
    ones = [_One(was, *one, place) for place, (was, now) in enumerate(pairs) for one in _singly(now, narrowed)]
    kept: list[_One] = []
    faces: list[str] = []
    for one in sorted(ones, key=lambda one: _foreign(one, study, narrowed)):
        left = [one.load]
        for other in (other for other in kept if other.face == one.face and not _on_purpose(one, other, study)):
            left = [part for load in left for part in _beside(load, other.load, narrowed)]
        if left != [one.load]:
            faces.append(one.face)
        kept += [one._replace(load=load) for load in left]
    if not faces:
        return narrowed, []
    in_order = [one.load for one in sorted(kept, key=lambda one: one.place)]
    return msgspec.structs.replace(narrowed, loads=in_order), sorted(set(faces))


def _singly(load: StudyLoad, study: Study) -> Iterator[tuple[StudyLoad, str]]:
    driver = load.driver or study.driver
    for connections, rate in product(load.connections, [[rate] for rate in load.rate_per_s] or [[]]):
        single = msgspec.structs.replace(load, connections=[connections], rate_per_s=rate)
        yield single, f"{next(loads_from(single, study.seed, driver)).label}, by {driver}"


def _foreign(one: _One, study: Study, narrowed: Study) -> tuple[int, float]:
    """How far what is asked now is from what the load was written for: its driver, its connections."""
    asked, was = one.load.driver or narrowed.driver, one.was.driver or study.driver
    drivers = 0 if was == asked else 1 if was == study.driver else 2
    return drivers, min(abs(math.log(number / one.load.connections[0])) for number in one.was.connections)


def _on_purpose(one: _One, other: _One, study: Study) -> bool:
    """The study itself asks the same face by both of their loads."""
    faces, others = ({face for _, face in _singly(each.was, study)} for each in (one, other))
    return bool(faces & others) and _beside(one.was, other.was, study) != [one.was]


def _beside(load: StudyLoad, taken: StudyLoad, study: Study) -> list[StudyLoad]:
    """What ``load`` still asks of the study when ``taken`` asks its own part of it."""
    workloads, contenders = _asked_of(load, study)
    gone, also_gone = (set(names) for names in _asked_of(taken, study))
    if gone.isdisjoint(workloads) or also_gone.isdisjoint(contenders):
        return [load]
    others = [name for name in workloads if name not in gone]
    shared = [name for name in workloads if name in gone]
    rest = [name for name in contenders if name not in also_gone]
    parts = [msgspec.structs.replace(load, workloads=others)] * bool(others)
    return parts + [msgspec.structs.replace(load, workloads=shared, contenders=rest)] * bool(rest)


def _asked_of(load: StudyLoad, study: Study) -> tuple[list[str], list[str]]:
    """The workloads and contenders of the study that a load is for."""
    return [name for name in study.workloads if asks(load.workloads, name)], [
        name for name in study.contenders if asks(load.contenders, name)
    ]
