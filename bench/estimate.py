"""From paired windows to a figure: the median of the per-round ratio, with a bootstrap interval.

On a machine that is never quiet, absolute costs drift by tens of per cent within minutes. Two tools measured within
the same second share the drift, so their ratio does not see it, and the median over rounds does not see the few rounds
in which a neighbour woke up between the two. The interval is the percentile bootstrap over rounds (Efron and
Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13); with fewer than about ten rounds it is too narrow, and
the number of rounds is printed beside it.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from typing import NamedTuple

_RESAMPLES = 2000


class Estimate(NamedTuple):
    """A figure with what 95 of 100 repetitions of the same rounds would give."""

    median: float
    low: float
    high: float
    rounds: int


def median_with_interval(values: Sequence[float], seed: int = 1) -> Estimate:
    """Median and its 95 % interval; the seed makes the same rounds give the same interval."""
    if not values:
        raise ValueError("no rounds, no figure")
    draw = random.Random(seed)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    low, high = medians[int(0.025 * _RESAMPLES)], medians[int(0.975 * _RESAMPLES) - 1]
    return Estimate(statistics.median(values), low, high, len(values))


def ratio(ours: Sequence[float | None], theirs: Sequence[float | None], seed: int = 1) -> Estimate | None:
    """How many times cheaper ``ours`` is than ``theirs``, over the rounds in which both have a figure."""
    pairs = [
        their / our
        for our, their in zip(ours, theirs, strict=True)
        if our is not None and their is not None and our > 0
    ]
    return median_with_interval(pairs, seed) if pairs else None


def verdict(reached: Estimate, goal: float) -> str:
    """Met, or missed by how much; said apart when the interval holds the goal, because then the rounds cannot tell."""
    if reached.median >= goal:
        return "met" if reached.low >= goal else "met (interval holds the goal)"
    missed = f"missed by {100 * (1 - reached.median / goal):.0f} %"
    return missed if reached.high < goal else f"{missed} (interval holds the goal)"
