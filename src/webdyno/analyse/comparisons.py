"""Comparisons: whom a claim is about, and with whom or with what figure each of them is compared, in which tables."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import msgspec

from webdyno.analyse import words
from webdyno.analyse.by_route import of_route
from webdyno.analyse.floors import HELD_BACK, SERVICE_BOUND, room, spares_rate
from webdyno.analyse.measures import Figures, Together
from webdyno.model.claim import TIMES, Claim
from webdyno.model.doubt import Doubt
from webdyno.model.verdict import Standing, Verdict

UNANSWERED = 0.02
"""Share of requests that may have failed, or be without an answer, where all are said to be answered."""


@dataclass(frozen=True)
class Judged:
    """One table with its figures and its verdict."""

    figures: Figures
    verdict: Verdict

    @property
    def standings(self) -> dict[str, Standing]:
        """By contender."""
        return {standing.contender: standing for standing in self.verdict.standings}

    def kinds(self, *names: str) -> list[str]:
        """Kinds of the Doubts about the table and these contenders of it, each once."""
        of = [each for name in names if (each := self.standings.get(name)) is not None]
        found = [*self.verdict.doubts, *(doubt for standing in of for doubt in standing.doubts)]
        return list(dict.fromkeys(doubt.kind for doubt in found))

    def of_route(self, route: str | None) -> Judged:
        """The same with the times of one request of its workload alone; itself without one."""
        return self if route is None else Judged(of_route(self.figures, route), self.verdict)

    @property
    def alike(self) -> tuple[object, ...]:
        """What two tables must have in common to be compared, but for workload and connections."""
        return self.verdict.driver, self.verdict.manner


@dataclass(frozen=True)
class Side:
    """One contender in one table."""

    judged: Judged
    name: str

    @property
    def doubts(self) -> list[Doubt]:
        """About it in this table."""
        found = self.judged.standings.get(self.name)
        return found.doubts if found else []

    def bound(self) -> bool:
        """Its rate is a floor."""
        return any(doubt.kind in HELD_BACK for doubt in self.doubts)

    def room(self, measure: str) -> float:
        """How many times faster it may be than it was measured. What held up a few requests costs a rate its share of
        the time, and makes all of a tail: of such a time there is no bound. The mean in a closed load moves as the rate
        does (J. D. C. Little 1961, A proof for the queuing formula L = lambda W, Operations Research 9), as long as all
        were answered.
        """
        if (measure in TIMES and not self._moves_as_its_rate(measure)) or any(
            doubt.kind == SERVICE_BOUND for doubt in self.doubts
        ):
            return math.inf if self.bound() else 1.0
        return room(self.doubts)

    def is_spared(self, measure: str, doubt: Doubt) -> bool:
        """Whether the doubt says nothing against this figure of it."""
        return spares_rate(doubt) and (measure not in TIMES or self._moves_as_its_rate(measure))

    def _moves_as_its_rate(self, measure: str) -> bool:
        errors = self.judged.figures.share(self.name, "errors")
        answered = errors is not None and errors.possible <= UNANSWERED
        return measure == "latency_mean" and answered and not self.judged.figures.table.load.is_open


def together(tables: Sequence[Judged]) -> list[Judged]:
    """Tables that differ by their connections alone, as one each."""
    groups: dict[tuple[object, ...], list[Judged]] = defaultdict(list)
    for judged in tables:
        groups[judged.verdict.workload, *judged.alike].append(judged)
    return [_as_one(group) for group in groups.values()]


def _as_one(group: Sequence[Judged]) -> Judged:
    first = group[0]
    standings = []
    for name, standing in first.standings.items():
        others = [judged.standings[name] for judged in group if name in judged.standings]
        if len(others) == len(group):
            worst = min(others, key=lambda each: each.rounds_ok)
            every = [doubt for each in others for doubt in each.doubts]
            standings.append(
                msgspec.structs.replace(standing, doubts=every, rounds_ok=worst.rounds_ok, outcomes=worst.outcomes)
            )
    levels = dict.fromkeys(words.count(judged.verdict.connections) for judged in group)
    numbers = words.listing(list(levels), len(levels))
    load = f"{numbers} connections in total, {first.verdict.manner}" if len(group) > 1 else first.verdict.load
    doubts = [doubt for judged in group for doubt in judged.verdict.doubts]
    verdict = msgspec.structs.replace(first.verdict, load=load, standings=standings, doubts=doubts)
    parts = tuple(judged.figures for judged in group)
    return Judged(Together(first.figures.table, first.figures.trimmed, parts=parts), verdict)


Pair = tuple[Side, Side | None]
"""Whom a claim is about, and with whom it is compared; None: with a figure."""


def is_about(claim: Claim, judged: Judged) -> bool:
    """Whether the claim is about this table."""
    load = judged.figures.table.load
    return (
        claim.workload in (None, judged.verdict.workload)
        and (not claim.connections or load.connections in claim.connections)
        and claim.keep_alive in (None, load.keep_alive)
        and claim.driver in (None, judged.verdict.driver)
        # a figure compared with itself says nothing
        and claim.than_connections != load.connections
        and (claim.than_workload is None or claim.than_workload != judged.verdict.workload)
    )


def pairs(claim: Claim, judged: Judged, tables: Sequence[Judged]) -> Iterator[Pair]:
    """Every comparison that the claim names in a table it is about; of ``tables`` is the other side."""
    there = _there(claim, judged, tables)
    if there is not None and there is not judged:
        there = there.of_route(claim.route)
    for pattern in claim.contenders:
        for name in _named(claim, pattern, judged):
            if claim.value is not None:
                yield Side(judged, name), None
            elif there is not None:
                for other in _others(claim, pattern, name, there, same=there is judged):
                    yield Side(judged, name), Side(there, other)


def _there(claim: Claim, judged: Judged, tables: Sequence[Judged]) -> Judged | None:
    """The table of the other side."""
    workload = claim.than_workload or judged.verdict.workload
    connections = claim.than_connections or judged.verdict.connections
    if (workload, connections) == (judged.verdict.workload, judged.verdict.connections):
        return judged
    for other in tables:
        if (other.verdict.workload, other.verdict.connections) == (workload, connections) and (
            other.alike == judged.alike
        ):
            return other
    return None


def _named(claim: Claim, pattern: str, judged: Judged) -> list[str]:
    """The contenders of the table that ``pattern`` means; a plain name always means itself, measured or not."""
    ranked = [standing.contender for standing in judged.verdict.standings if standing.place is not None]
    if pattern in ("best", "last"):
        return ranked[:1] if pattern == "best" else ranked[-1:]
    if "*" in pattern:
        return [name for name in judged.standings if fnmatchcase(name, pattern) and is_meant(claim, name)]
    return [pattern]


def is_meant(claim: Claim, name: str) -> bool:
    """Whether ``name``, which a pattern of the claim fits, is not one that the claim leaves out."""
    return not any(fnmatchcase(name, pattern) for pattern in claim.without)


def _others(claim: Claim, pattern: str, name: str, there: Judged, *, same: bool) -> Iterator[str]:
    if not claim.than:
        if not same:
            yield name
        else:
            yield from (s.contender for s in there.verdict.standings if s.contender != name and s.rate is not None)
    for other in claim.than:
        if "*" in pattern and "*" in other:
            head, _, tail = pattern.partition("*")
            partner = other.replace("*", name[len(head) : len(name) - len(tail)], 1)
            yield from (known for known in there.standings if known == partner)
        else:
            yield from (known for known in _named(claim, other, there) if known != name or not same)
