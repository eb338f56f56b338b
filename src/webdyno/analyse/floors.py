"""Floors: how much higher a rate may be than it was measured, because something else held the contender back.

The load generator at its own limit leaves no bound, nor does a compiler of which it is not known how much it gains.
What the hypervisor took, or what else ran on the load generator's cores, what a contender still gained within its
windows, and what V8 and HotSpot gain at most, is known in size, and so is what it can have cost. So is what a count of
few answers leaves out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

from webdyno.model.doubt import Doubt
from webdyno.model.load import Load

NOT_ITS_OWN = ("generator-bound", "cold-compiler", "stolen-time", "still-climbing")
"""Kinds of Doubts that make a rate a floor, and a time a ceiling: it is the measuring that held the contender back."""
SERVICE_BOUND = "service-bound"
COUNTED = "few-answers"
"""A rate that may be higher by the answers that were under way at the end; a time is not touched by it."""
HELD_BACK = (*NOT_ITS_OWN, SERVICE_BOUND)
"""Those, and one that may: a service is also full when the contender asks too much."""
COST = 3.0
"""A rate loses at most so many times the part of the CPU that was stolen; 1.5 times is what A/A experiments showed."""
MOST_LOST = 0.9


def follows(load: Load) -> str:
    """What such a Doubt means for the figures, as the end of its sentence."""
    return "its latency may be lower" if load.is_open else "its rate is a floor, it may be faster"


def room(doubts: Iterable[Doubt]) -> float:
    """How many times faster than measured a contender may be at most; 1: nothing held it back."""
    times = warmer = 1.0
    for doubt in doubts:
        if doubt.kind == "generator-bound":
            times *= _lost(doubt.numbers.get("driver_without_core", math.inf))
        elif doubt.kind == "stolen-time":
            times *= _lost(doubt.numbers["steal"])
        elif doubt.kind == "still-climbing":
            warmer = max(warmer, float(doubt.numbers["climb"]) ** 2)  # as much again
        elif doubt.kind == "cold-compiler":  # what climbs is a part of what such a compiler gains
            warmer = max(warmer, float(doubt.numbers.get("gain", math.inf)))
        elif doubt.kind == COUNTED:
            times *= 1 + float(doubt.numbers["at_work"]) / float(doubt.numbers["answers"])
    return times * warmer


def _lost(share: float | str) -> float:
    """What a part of the time, taken from cores by others, can have cost; infinite: it is not known how much was."""
    return 1 / (1 - min(COST * float(share), MOST_LOST)) if share != math.inf else math.inf


def handicap(faster: Sequence[Doubt], slower: Sequence[Doubt]) -> float:
    """How many times faster than measured the slower of two may be at most, held against the faster; Doubts about each.

    Behind a full service there is no bound when the other was held back too: then both are floors.
    """
    if any(doubt.kind == SERVICE_BOUND for doubt in slower) and any(doubt.kind in HELD_BACK for doubt in faster):
        return math.inf
    return room(slower)


def handicaps(about: Mapping[str, Sequence[Doubt]]) -> dict[tuple[str, str], float]:
    """Those of all pairs, the faster first, where there is one; by the Doubts about each contender."""
    found = {(one, other): handicap(about[one], about[other]) for one, other in permutations(about, 2)}
    return {pair: times for pair, times in found.items() if times > 1}


def is_open_upwards(faster: Sequence[Doubt], slower: Sequence[Doubt], ratio: float) -> bool:
    """Whether the slower of two, measured at 1 / ``ratio`` of the faster, may be the faster; Doubts about each."""
    return handicap(faster, slower) > ratio
