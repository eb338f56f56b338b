"""Digits: the texts of a column, in one unit, and so that what is read never contradicts what was measured.

A figure has the digits that its interval supports. Side by side that can mislead: 9,960 and 9,980 read as ``10,000``
and ``9,980``, the lesser one as the greater. Where that would happen, the coarser of the two gets more digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from webdyno.analyse.words import MISSING, decimals, half_width, interval, number, of_best, places_of_best
from webdyno.model.estimate import Estimate

SCALES = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")),
    "bytes": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "bytes")),
}
SCALES["ns_per_request"] = SCALES["ns"]
"""Units of figures that have several, the largest first."""
_LEGIBLE = 2
"""Significant digits that every figure has: one alone misleads beside others."""
Known = Sequence[Estimate | None]


class Texts(NamedTuple):
    """A column: its unit, and for each figure the number and its interval, empty where there is none."""

    unit: str
    numbers: list[str]
    intervals: list[str]


def told(*columns: Known) -> list[Texts]:
    """Columns that are read together, such as p50 and p99: one unit for them all, and one order."""
    found = [each for column in columns for each in column if each is not None]
    scale, unit = _unit(found)
    places = iter(in_order([each.value for each in found], [_places(each, scale) for each in found]))
    texts = []
    for column in columns:
        numbers, intervals = [], []
        for each in column:
            place = 0 if each is None else next(places)
            numbers.append(MISSING if each is None else number(each.value / scale, place))
            intervals.append("" if each is None else interval(each, scale, "–", place))
        texts.append(Texts(unit, numbers, intervals))
    return texts


def ratios(column: Known) -> list[str]:
    """``0.92× (0.87–0.98)``, as ``of_best`` has it, each."""
    found = [each for each in column if each is not None]
    places = iter(in_order([each.value for each in found], [places_of_best(each) for each in found]))
    return [MISSING if each is None else of_best(each, "–", next(places)).replace("x", "×") for each in column]


def in_order(values: Sequence[float], places: Sequence[int]) -> list[int]:
    """Digits after the point for each value, at least ``places``, with which no value reads as more than a greater one.

    As many digits for two values never contradict, so this ends.
    """
    found = list(places)
    ascending = sorted(range(len(values)), key=lambda at: values[at])
    clash = True
    while clash:
        clash = False
        for one, other in pairwise(ascending):
            if round(values[one], found[one]) > round(values[other], found[other]):
                coarser = one if found[one] < found[other] else other
                found[coarser] += 1
                clash = True
    return found


def _unit(found: Sequence[Estimate]) -> tuple[float, str]:
    """That of the middle one: some need more digits, and none a unit of its own."""
    scales = SCALES.get(found[0].unit) if found else None
    if scales is None:
        return 1.0, ""
    middle = median(each.value for each in found)
    return next((pair for pair in scales if middle >= pair[0]), scales[-1])


def _places(each: Estimate, scale: float) -> int:
    value, width = each.value / scale, half_width(each)
    supported = decimals(value, None if width is None else width / scale)
    if not value or not math.isfinite(value):
        return supported
    return max(supported, _LEGIBLE - 1 - math.floor(math.log10(abs(value))))
