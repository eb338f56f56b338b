"""Floors: how much higher a rate may be than it was measured, because something else held the contender back.

The load generator at its own limit leaves no bound, nor does a compiler of which it is not known how much it gains.
What the hypervisor took, or what else ran on the load generator's cores, what a contender still gained within its
windows, and what V8 and HotSpot gain at most, is known in size, and so is what it can have cost. So is what a count of
few answers leaves out. Which doubts these are, and by how much, stands in their rows of the table of doubts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

from webdyno.analyse.doubts.figures import few_answers
from webdyno.analyse.doubts.row import Floor
from webdyno.analyse.doubts.service_bound import service_bound
from webdyno.analyse.doubts.table import ROWS, kind_of
from webdyno.model.doubt import Doubt

FLOORS: dict[str, Floor] = {row.kind: row.floor for row in ROWS if row.floor is not None}
NOT_ITS_OWN = tuple(kind for kind, floor in FLOORS.items() if floor.by in ("measuring", "warming"))
"""Kinds of Doubts that make a rate a floor, and a time a ceiling: it is the measuring that held the contender back."""
SERVICE_BOUND = kind_of(service_bound)
COUNTED = kind_of(few_answers)
"""A rate that may be higher by the answers that were under way at the end; a time is not touched by it."""
HELD_BACK = (*NOT_ITS_OWN, *(kind for kind, floor in FLOORS.items() if floor.by == "service"))
"""Those, and one that may: a service is also full when the contender asks too much."""
LUCK = frozenset(kind for kind, floor in FLOORS.items() if floor.is_luck)
"""Those that another round may lift."""


def spares_rate(doubt: Doubt) -> bool:
    """Whether it leaves the rate as it was measured, and makes only a tail of the times doubtful."""
    floor = FLOORS.get(doubt.kind)
    if floor is None or floor.by == "service":
        return floor is None
    return floor.times(doubt.numbers) == 1 and (floor.flattered is None or floor.flattered(doubt.numbers) == 1)


def room(doubts: Iterable[Doubt]) -> float:
    """How many times faster than measured a contender may be at most; 1: nothing held it back."""
    times = warmer = 1.0
    for doubt in doubts:
        floor = FLOORS.get(doubt.kind)
        if floor is None:
            continue
        if floor.by == "warming":  # what climbs is a part of what a compiler gains, so the larger counts
            warmer = max(warmer, floor.times(doubt.numbers))
        else:
            times *= floor.times(doubt.numbers)
    return times * warmer


def flattery(doubts: Iterable[Doubt]) -> float:
    """How many times slower than measured a contender may be at most; 1: nothing helped it."""
    helped = ((FLOORS[doubt.kind].flattered, doubt.numbers) for doubt in doubts if doubt.kind in FLOORS)
    return math.prod(times(numbers) for times, numbers in helped if times is not None)


def handicap(faster: Sequence[Doubt], slower: Sequence[Doubt]) -> float:
    """How many times faster than measured the slower of two may be at most, compared with the faster; Doubts about
    each.

    Behind a full service there is no bound when the other was held back too: then both are floors.
    """
    if any(doubt.kind == SERVICE_BOUND for doubt in slower) and any(doubt.kind in HELD_BACK for doubt in faster):
        return math.inf
    return room(slower) * flattery(faster)


def handicaps(about: Mapping[str, Sequence[Doubt]]) -> dict[tuple[str, str], float]:
    """Those of all pairs, the faster first, where there is one; by the Doubts about each contender."""
    found = {(one, other): handicap(about[one], about[other]) for one, other in permutations(about, 2)}
    return {pair: times for pair, times in found.items() if times > 1}


def is_open_upwards(faster: Sequence[Doubt], slower: Sequence[Doubt], ratio: float) -> bool:
    """Whether the slower of two, measured at 1 / ``ratio`` of the faster, may be the faster; Doubts about each."""
    return handicap(faster, slower) > ratio
