"""Middle: the median of few values with an interval that needs no distribution.

As many of n values lie below the median as heads fall in n throws of a coin; so the k-th from each end hold it between
them with a chance that is known exactly, whatever the values are. Less than six are too few for 95 %.

W. R. Thompson (1936), On confidence ranges for the median and other expectation distributions. Annals of Mathematical
Statistics 7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from webdyno.analyse.estimate import CONFIDENCE
from webdyno.model.estimate import Estimate


def middle(values: Sequence[float], unit: str) -> Estimate:
    """The median of ``values``, of which there must be one at least, with its 95 % interval."""
    ordered, number = sorted(values), len(values)
    outside = _outside(number)
    low, high = (ordered[outside - 1], ordered[-outside]) if outside else (None, None)
    return Estimate(value=float(median(ordered)), low=low, high=high, rounds=number, unit=unit)


def _outside(number: int) -> int:
    """The highest k for which the k-th value from each end hold the median between them; 0: none does."""
    most, chance = 0, 0.0
    for fewer in range(number // 2):
        chance += 2 * math.comb(number, fewer) / 2**number
        if chance > 1 - CONFIDENCE:
            break
        most = fewer + 1
    return most
