"""Threshold: the rate at which as many starts meet an objective as miss it, from trials that met or missed it.

Every start of a server has its own luck, so around its capacity the same rate is met by one start and missed by the
next. The share that meets it falls with the logarithm of the rate as a normal curve does; where it crosses one half,
and how steep it is, are estimated together, on a grid, from nothing but met and missed. So one method serves for every
objective (a percentile, errors, a rate), whatever its own distribution is, and an overload that makes a percentile a
thousand times too long counts as one miss. Lapses are allowed for: a burst of foreign work makes any trial miss.

A. B. Watson, D. G. Pelli (1983), QUEST: a Bayesian adaptive psychometric method. Perception & Psychophysics 33.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webdyno.analyse import special

Vector = NDArray[np.floating]

MISSED_BY_CHANCE = 0.03
"""Of the trials far below the capacity: a neighbour's burst, a page cache written out."""
MET_BY_CHANCE = 0.005
SPREADS = np.geomspace(0.005, 0.2, 8)
"""How much starts may differ, as standard deviations of the logarithm of their own capacity; all equally likely."""
STEP = 0.004
"""Of the grid, in logarithms: two fifths of a per cent."""
BEYOND = 4.0
"""How far past the rates that were tried the capacity may lie, as a factor."""
TAIL = 0.025
NINE_OF_TEN = 1.2815515655446004
"""Standard deviations below the middle of a normal curve at which a tenth lies."""


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Middle and 95 % interval of a quantity, in requests per second."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Threshold:
    """What is known after some trials: how likely each capacity and each spread is."""

    logs: Vector
    weights: NDArray[np.floating]
    """One row per capacity, one column per spread; they add up to 1."""

    def half(self) -> Quantiles:
        """The rate that half of the starts meet."""
        return _quantiles(self.logs, self.weights.sum(axis=1))

    def nine_of_ten(self) -> Quantiles:
        """The rate that nine of ten starts meet."""
        shifted = (self.logs[:, None] - NINE_OF_TEN * SPREADS[None, :]).ravel()
        order = np.argsort(shifted)
        return _quantiles(shifted[order], self.weights.ravel()[order])


def threshold(rates: Sequence[float], met: Sequence[bool]) -> Threshold:
    """Posterior over capacity and spread, flat beforehand in the logarithm of both."""
    tried = np.log(np.asarray(rates, dtype=float))
    reach = np.log(BEYOND)
    logs = np.arange(tried.min() - reach, tried.max() + reach, STEP)
    likelihood = np.zeros((len(logs), len(SPREADS)))
    for rate in np.unique(tried):
        here = np.asarray(met)[tried == rate]
        above = special.ndtr((logs[:, None] - rate) / SPREADS[None, :])
        share = MET_BY_CHANCE + (1 - MET_BY_CHANCE - MISSED_BY_CHANCE) * above
        likelihood += here.sum() * np.log(share) + (~here).sum() * np.log1p(-share)
    weights = np.exp(likelihood - likelihood.max())
    return Threshold(logs, weights / weights.sum())


def _quantiles(logs: Vector, weights: Vector) -> Quantiles:
    reached = np.cumsum(weights) - weights / 2
    middle, low, high = np.exp(np.interp([0.5, TAIL, 1 - TAIL], reached, logs))
    return Quantiles(float(middle), float(low), float(high))
