"""What a type cannot say about a study: its loads, its brief version, its claims, and the figures of its original.

A study's contenders may be patterns (``flask-*``), each for all contenders of the catalogue that it fits; ``expanded``
puts the names in their place before anything is checked, so that everybody else knows names only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

import msgspec

from webdyno.model.catalogue import Catalogue
from webdyno.model.claim import Claim, Original
from webdyno.model.study import Brief, Study, StudyLoad
from webdyno.read.check import Fault, above, at_least, names, reference, texts
from webdyno.read.lines import Key
from webdyno.read.source import suggest

HTTP_VERSIONS = ("1.0", "1.1")
MOST_PER_S = 1e7
ENDS = ("best", "last")
"""In a claim: the ends of the ranking that is found."""


def expanded(study: Study, catalogue: Catalogue) -> Study:
    """The study with names in the place of patterns; a pattern that fits nothing stays, and is a Fault."""
    study = msgspec.structs.replace(study, contenders=_expanded(study.contenders, catalogue.contenders))
    if study.brief is None or not study.brief.contenders:
        return study
    fewer = msgspec.structs.replace(study.brief, contenders=_expanded(study.brief.contenders, study.contenders))
    return msgspec.structs.replace(study, brief=fewer)


def _expanded(patterns: list[str], known: Iterable[str]) -> list[str]:
    found = [
        name
        for pattern in patterns
        for name in ([each for each in known if fnmatchcase(each, pattern)] if "*" in pattern else []) or [pattern]
    ]
    return list(dict.fromkeys(found)) if any("*" in pattern for pattern in patterns) else found


def study_faults(it: Study, catalogue: Catalogue) -> Iterator[Fault]:
    """Faults of a study, its references looked up in ``catalogue``."""
    yield from texts(it, ("title", "question"))
    yield from names(("contenders",), it.contenders, "contender", catalogue.contenders)
    yield from names(("workloads",), it.workloads, "workload", catalogue.workloads)
    if not it.loads:
        yield ("loads",), "must hold at least one load"
    yield from _loads(("loads",), it.loads, it)
    yield from at_least(("rounds",), it.rounds, 1)
    yield from at_least(("seed",), it.seed, 0)
    if it.memory_mb is not None:
        yield from at_least(("memory_mb",), it.memory_mb, 1)
    if it.brief is not None:
        yield from _brief(it.brief, it)
    for at, claim in enumerate(it.claims):
        yield from (((("claims", at, *inner)), problem) for inner, problem in _claim(claim, it))
    if it.original is not None:
        yield from _original(it.original, it)


def _loads(key: Key, loads: list[StudyLoad], study: Study) -> Iterator[Fault]:
    for at, load in enumerate(loads):
        for place, name in enumerate(load.workloads):
            yield from reference((*key, at, "workloads", place), name, "workload of this study", study.workloads)
        yield from (((*key, at, *inner), problem) for inner, problem in _load(load))


def _load(it: StudyLoad) -> Iterator[Fault]:
    if not it.connections:
        yield ("connections",), "must hold at least one number"
    for at, number in enumerate(it.connections):
        yield from at_least(("connections", at), number, 1)
    yield from _open(it)
    if (it.duration_s is None) == (it.count is None):
        both = "both are" if it.count is not None else "neither is"
        yield (), f"exactly one of duration_s and count must be given, and {both}"
    if it.duration_s is not None:
        yield from above(("duration_s",), it.duration_s, 0)
    if it.count is not None:
        yield from at_least(("count",), it.count, 1)
    yield from at_least(("warmup_s",), it.warmup_s, 0)
    yield from above(("timeout_s",), it.timeout_s, 0)
    if it.http not in HTTP_VERSIONS:
        yield ("http",), f'"{it.http}" is not a choice; {suggest(it.http, HTTP_VERSIONS)}'


def _open(it: StudyLoad) -> Iterator[Fault]:
    """What makes a load open, and what means nothing without it."""
    for at, rate in enumerate(it.rate_per_s):
        if not 0 < rate <= MOST_PER_S:
            yield ("rate_per_s", at), f"must be above 0 and up to 10,000,000, but is {rate:g}"
    if not it.rate_per_s:
        if it.poisson:
            yield ("poisson",), "needs rate_per_s: without it the load is closed"
        if it.max_connections is not None:
            yield ("max_connections",), "needs rate_per_s: without it the load is closed"
    elif it.max_connections is not None and it.connections and it.max_connections < max(it.connections):
        yield ("max_connections",), f"must be at least connections, of which there are {max(it.connections)}"


def _brief(it: Brief, study: Study) -> Iterator[Fault]:
    if it == Brief():
        yield ("brief",), "says nothing; give rounds, contenders, workloads or loads, or remove it"
    if it.rounds is not None:
        yield from at_least(("brief", "rounds"), it.rounds, 1)
    for field, kind in (("contenders", "contender"), ("workloads", "workload")):
        for at, name in enumerate(getattr(it, field)):
            yield from reference(("brief", field, at), name, f"{kind} of this study", getattr(study, field))
    yield from _loads(("brief", "loads"), it.loads, study)


def _claim(it: Claim, study: Study) -> Iterator[Fault]:
    yield from texts(it, ("text",))
    if not it.contenders:
        yield ("contenders",), "must name at least one contender, a pattern, best or last"
    for field in ("contenders", "than"):
        for at, name in enumerate(getattr(it, field)):
            yield from _whom((field, at), name, study)
    yield from _compared(it)
    for field in ("workload", "than_workload"):
        if (name := getattr(it, field)) is not None:
            yield from reference((field,), name, "workload of this study", study.workloads)
    levels = {number for load in study.loads for number in load.connections}
    for at, number in enumerate(it.connections):
        yield from _level(("connections", at), number, levels)
    if it.than_connections is not None:
        yield from _level(("than_connections",), it.than_connections, levels)
    drivers = {load.driver or study.driver for load in study.loads}
    if it.driver is not None:
        yield from reference(("driver",), it.driver, "driver of this study", drivers)
    yield from above(("times",), it.times, 0)
    yield from above(("share",), it.share, 0)
    if it.share > 1:
        yield ("share",), f"must be a part of all comparisons, up to 1, but is {it.share:g}"
    yield from at_least(("cores",), it.cores, 1)


def _compared(it: Claim) -> Iterator[Fault]:
    """With whom, or with what figure: one of them, and one only."""
    elsewhere = it.than_workload is not None or it.than_connections is not None
    if it.value is not None:
        yield from above(("value",), it.value, 0)
        if it.than or elsewhere:
            yield ("value",), "is compared with instead of another contender; remove than, or value"
        if it.relation in ("highest", "lowest"):
            yield ("relation",), f'"{it.relation}" compares with other contenders; with a value say "at least" or such'
    elif not it.than and not elsewhere and it.relation not in ("highest", "lowest"):
        yield ("than",), f'"{it.relation}" needs whom or what it is compared with: than, value, or than_workload'
    if it.relation in ("highest", "lowest") and it.times != 1.0:
        yield ("times",), f'means nothing with "{it.relation}"; say "more than" or "less than"'


def _level(key: Key, number: int, levels: set[int]) -> Iterator[Fault]:
    if number not in levels:
        asked = ", ".join(str(level) for level in sorted(levels))
        yield key, f"no load of this study has {number} connections; they have {asked}"


def _whom(key: Key, name: str, study: Study) -> Iterator[Fault]:
    if "*" in name:
        if not any(fnmatchcase(known, name) for known in study.contenders):
            yield key, f'"{name}" fits no contender of this study'
    elif name not in ENDS:
        yield from reference(key, name, "contender of this study", study.contenders)


def _original(it: Original, study: Study) -> Iterator[Fault]:
    yield from (((("original", *key)), problem) for key, problem in texts(it, ("source",)))
    yield from reference(("original", "baseline"), it.baseline, "contender of this study", study.contenders)
    if it.cores is not None:
        yield from at_least(("original", "cores"), it.cores, 1)
    seen: set[tuple[object, ...]] = set()
    for at, figure in enumerate(it.figures):
        key = ("original", "figures", at)
        yield from reference((*key, "contender"), figure.contender, "contender of this study", study.contenders)
        yield from reference((*key, "workload"), figure.workload, "workload of this study", study.workloads)
        yield from at_least((*key, "connections"), figure.connections, 1)
        if not (math.isfinite(figure.value) and figure.value >= 0):
            yield (*key, "value"), f"must be 0 or more, but is {figure.value}"
        what = (figure.contender, figure.workload, figure.connections, figure.measure)
        if what in seen:
            yield (*key, "value"), f"{figure.measure} of {figure.contender} is given twice for this load"
        seen.add(what)
