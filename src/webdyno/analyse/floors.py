"""Floors: how much higher a rate may be than it was measured, because something else held the contender back.

The load generator at its own limit leaves no bound, nor does a compiler of which it is not known how much it gains.
What the hypervisor took, what a contender still gained within its windows, and what V8 and HotSpot gain at most, is
known in size, and so is what it can have cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from webdyno.model.doubt import Doubt
from webdyno.model.load import Load

NOT_ITS_OWN = ("generator-bound", "cold-compiler", "stolen-time", "still-climbing")
"""Kinds of Doubts that make a rate a floor, and a time a ceiling: it is the measuring that held the contender back."""
SERVICE_BOUND = "service-bound"
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
            return math.inf
        if doubt.kind == "stolen-time":
            times /= 1 - min(COST * float(doubt.numbers["steal"]), MOST_LOST)
        elif doubt.kind == "still-climbing":
            warmer = max(warmer, float(doubt.numbers["climb"]) ** 2)  # as much again
        elif doubt.kind == "cold-compiler":  # what climbs is a part of what such a compiler gains
            warmer = max(warmer, float(doubt.numbers.get("gain", math.inf)))
    return times * warmer


def is_open_upwards(faster: Sequence[Doubt], slower: Sequence[Doubt], ratio: float) -> bool:
    """Whether the slower of two, measured at 1 / ``ratio`` of the faster, may be the faster; Doubts about each.

    Behind a full service it may when the other was held back too: then both are floors.
    """
    if any(doubt.kind == SERVICE_BOUND for doubt in slower) and any(doubt.kind in HELD_BACK for doubt in faster):
        return True
    return room(slower) > ratio
