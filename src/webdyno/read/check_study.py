"""What a type cannot say about the claims of a study, its brief version, and the figures of its original."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from itertools import pairwise

from webdyno.model.catalogue import Catalogue
from webdyno.model.claim import TIMES, Absent, Claim, Original
from webdyno.model.further import Further
from webdyno.model.pattern import spelt_out
from webdyno.model.study import Brief, Study, StudyLoad
from webdyno.read import check
from webdyno.read.check import Fault, load_faults
from webdyno.read.check_pairs import paired_workloads_faults
from webdyno.read.check_systems import settings_faults, systems_faults
from webdyno.read.lines import Key
from webdyno.read.source import suggest

ENDS = ("best", "last")
"""In a claim: the ends of the ranking that is found."""


def study_faults(it: Study, catalogue: Catalogue) -> Iterator[Fault]:
    """Faults of a study, its references looked up in ``catalogue``."""
    yield from check.study_faults(it, catalogue)
    members = spelt_out(it.contenders, catalogue)
    yield from _asked_of(("loads",), it.loads, it, members)
    yield from paired_workloads_faults(("loads",), it.loads, it, catalogue)
    yield from _further(("further",), it.further, it.rounds)
    if it.brief is not None:
        yield from _brief(it.brief, it, members)
        yield from paired_workloads_faults(("brief", "loads"), it.brief.loads, it, catalogue)
    yield from systems_faults(it, members)
    for at, claim in enumerate(it.claims):
        yield from ((("claims", at, *inner), problem) for inner, problem in _claim(claim, it, members, catalogue))
    for at, absent in enumerate(it.absent):
        yield from ((("absent", at, *inner), problem) for inner, problem in _absent(absent, members))
    if it.original is not None:
        yield from ((("original", *inner), problem) for inner, problem in _original(it.original, it, members))


def _absent(it: Absent, members: Collection[str]) -> Iterator[Fault]:
    for field in ("name", "reason"):
        if not getattr(it, field).strip():
            yield (field,), "must not be empty"
    for at, name in enumerate(it.instead):
        yield from _whom(("instead", at), name, members)


def _asked_of(key: Key, loads: list[StudyLoad], study: Study, members: Collection[str]) -> Iterator[Fault]:
    for at, load in enumerate(loads):
        for place, name in enumerate(load.contenders):
            yield from _whom((*key, at, "contenders", place), name, members, ends=())
        for place, name in enumerate(load.workloads):
            yield from _one_of((*key, at, "workloads", place), name, "workload of this study", study.workloads)


def _further(key: Key, it: Further | None, rounds: int) -> Iterator[Fault]:
    if it is None:
        return
    if not it.looks or any(later <= sooner for sooner, later in pairwise((rounds, *it.looks))):
        yield (*key, "looks"), f"must be rising numbers of rounds, each more than the {rounds} of everything"
    if not it.budget_s > 0:
        yield (*key, "budget_s"), f"must be more than 0, but is {it.budget_s:g}"


def _brief(it: Brief, study: Study, members: Collection[str]) -> Iterator[Fault]:
    if it == Brief():
        yield ("brief",), "says nothing; give rounds, contenders, workloads, loads or further, or remove it"
    if it.rounds is not None and it.rounds < 1:
        yield ("brief", "rounds"), f"must be 1 or more, but is {it.rounds}"
    yield from _further(("brief", "further"), it.further, it.rounds or study.rounds)
    for at, name in enumerate(it.contenders):
        yield from _one_of(("brief", "contenders", at), name, "contender of this study", members)
    for at, name in enumerate(it.workloads):
        yield from _one_of(("brief", "workloads", at), name, "workload of this study", study.workloads)
    for at, load in enumerate(it.loads):
        yield from ((("brief", "loads", at, *inner), problem) for inner, problem in load_faults(load))
    yield from _asked_of(("brief", "loads"), it.loads, study, members)


def _claim(it: Claim, study: Study, members: Collection[str], catalogue: Catalogue) -> Iterator[Fault]:
    if not it.text.strip():
        yield ("text",), "must not be empty"
    if it.ours and it.quote:
        yield ("quote",), "comes from the article, and ours = true says that the claim does not; remove one of them"
    if not it.contenders:
        yield ("contenders",), "must name at least one contender, a pattern, best or last"
    for field in ("contenders", "than", "without"):
        for at, name in enumerate(getattr(it, field)):
            yield from _whom((field, at), name, members, ENDS if field != "without" else ())
    if it.together and (it.measure != "errors" or it.value is None):
        yield ("together",), 'adds up the failed requests of several loads: it needs measure = "errors" and a value'
    yield from _compared(it)
    yield from _where(it, study)
    yield from _route(it, study, catalogue)
    yield from _positive(("times",), it.times)
    yield from _positive(("share",), it.share)
    if it.share > 1:
        yield ("share",), f"must be a part of all comparisons, up to 1, but is {it.share:g}"
    if it.cores < 1:
        yield ("cores",), f"must be 1 or more, but is {it.cores}"


def _where(it: Claim, study: Study) -> Iterator[Fault]:
    """The loads and workloads it is about are some of the study."""
    for field in ("workload", "than_workload"):
        if (name := getattr(it, field)) is not None:
            yield from _one_of((field,), name, "workload of this study", study.workloads)
    levels = {number for load in study.loads for number in load.connections}
    for at, number in enumerate(it.connections):
        yield from _level(("connections", at), number, levels)
    if it.than_connections is not None:
        yield from _level(("than_connections",), it.than_connections, levels)
    yield from _driver(it.driver, study)


def _driver(name: str | None, study: Study) -> Iterator[Fault]:
    if name is not None:
        drivers = {load.driver or study.driver for load in study.loads}
        yield from _one_of(("driver",), name, "driver of this study", drivers)


def _route(it: Claim, study: Study, catalogue: Catalogue) -> Iterator[Fault]:
    """It names a request of each workload that it is about, and a time, for a route has no rate of its own."""
    if it.route is None:
        return
    if it.measure not in TIMES:
        yield ("route",), f"has times alone; measure must be one of {', '.join(TIMES)}, not {it.measure}"
    if it.together:
        yield ("route",), "goes with times, and together with errors; remove one of them"
    for name in (it.workload, it.than_workload) if it.workload else study.workloads:
        known = catalogue.workloads.get(name or "")
        if known is not None:
            yield from _one_of(("route",), it.route, f"request of {name}", [request.name for request in known.requests])


def _compared(it: Claim) -> Iterator[Fault]:
    """With whom, or with what figure: one of them, and one only."""
    elsewhere = it.than_workload is not None or it.than_connections is not None
    end = it.relation in ("highest", "lowest")
    if it.value is not None:
        yield from _positive(("value",), it.value)
        if it.than or elsewhere:
            yield ("value",), "is compared with instead of another contender; remove it, or than"
        if end:
            yield ("relation",), f'"{it.relation}" compares with other contenders; with a value say "at least" or such'
    elif not it.than and not elsewhere and not end:
        yield ("than",), f'"{it.relation}" needs whom or what it is compared with: than, value, or than_workload'
    if end and it.times != 1.0:
        yield ("times",), f'means nothing with "{it.relation}"; say "more than" or "less than"'


def _level(key: Key, number: int, levels: set[int]) -> Iterator[Fault]:
    if number not in levels:
        asked = ", ".join(str(level) for level in sorted(levels))
        yield key, f"no load of this study has {number} connections; they have {asked}"


def _whom(key: Key, name: str, members: Collection[str], ends: Collection[str] = ENDS) -> Iterator[Fault]:
    if "*" in name:
        if not any(fnmatchcase(known, name) for known in members):
            yield key, f'"{name}" fits no contender of this study'
    elif name not in ends:
        yield from _one_of(key, name, "contender of this study", members)


def _original(it: Original, study: Study, members: Collection[str]) -> Iterator[Fault]:
    if not it.source.strip():
        yield ("source",), "must not be empty"
    yield from settings_faults((), it.article, it.here)
    yield from _driver(it.driver, study)
    yield from _one_of(("baseline",), it.baseline, "contender of this study", members)
    if it.cores is not None and it.cores < 1:
        yield ("cores",), f"must be 1 or more, but is {it.cores}"
    seen: set[tuple[object, ...]] = set()
    for at, figure in enumerate(it.figures):
        key = ("figures", at)
        yield from _one_of((*key, "contender"), figure.contender, "contender of this study", members)
        yield from _one_of((*key, "workload"), figure.workload, "workload of this study", study.workloads)
        if figure.connections is not None and figure.connections < 1:
            yield (*key, "connections"), f"must be 1 or more, but is {figure.connections}"
        if not (math.isfinite(figure.value) and figure.value >= 0):
            yield (*key, "value"), f"must be 0 or more, but is {figure.value}"
        what = (figure.contender, figure.workload, figure.connections, figure.measure)
        if what in seen:
            yield (*key, "value"), f"{figure.measure} of {figure.contender} is given twice for this load"
        seen.add(what)


def _one_of(key: Key, name: str, kind: str, known: Collection[str]) -> Iterator[Fault]:
    if name not in known:
        yield key, f'there is no {kind} "{name}"; {suggest(name, known)}'


def _positive(key: Key, number: float) -> Iterator[Fault]:
    if not (math.isfinite(number) and number > 0):
        yield key, f"must be more than 0, but is {number}"
