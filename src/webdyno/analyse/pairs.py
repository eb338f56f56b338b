"""Pairs: every two contenders of a table at once, and how likely chance alone makes what lies between them.

A rate that something else than the contender held down is a floor (``floors``). How much higher it may be is a handicap
of the one that was measured to be faster: the difference must lie beyond it, with its whole interval. Such a pair is
asked like any other, so it counts among those that Holm's step-down is over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from webdyno.analyse import special
from webdyno.analyse.estimate import Fit

ENOUGH = 3
"""Rounds of both from which on one may be said to beat the other: two that happen to agree say nothing of noise."""
Handicaps = Mapping[tuple[str, str], float]
"""How many times faster than measured the second may be, compared with the first; not in it: no faster."""
NONE: Handicaps = MappingProxyType({})
Claim = tuple[str, str]
"""The first beats the second."""
Matrix = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Row against column. Contenders with less than two rounds are left out."""

    fitted: Fit
    names: list[str]
    rounds: NDArray[np.intp]
    logs: Matrix
    """Of each contender."""
    apart: Matrix
    """Differences of logarithms, row minus column."""
    error: Matrix
    freedom: Matrix

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Each pair once, row before column, of those that have rounds enough."""
        enough = self.rounds >= ENOUGH
        return np.asarray(np.triu(enough[:, None] & enough[None, :], 1))

    def p(self, handicaps: Handicaps = NONE) -> Matrix:
        """Two-sided, of "there is no difference but for the handicap of who is ahead"."""
        ahead = np.abs(self.apart)
        if handicaps:
            room = self._room(handicaps)
            ahead = np.maximum(ahead - np.where(self.apart > 0, room, room.T), 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.where(
                self.error > 0, 2 * special.stdtr(self.freedom, -ahead / self.error), np.where(ahead == 0, 1.0, 0.0)
            )
        return np.asarray(np.where(np.isnan(p), 1.0, p))

    def boundless(self, handicaps: Handicaps) -> NDArray[np.bool_]:
        """Pairs of which the slower may be faster by any amount."""
        room = self._room(handicaps)
        return np.asarray(np.isinf(np.where(self.apart > 0, room, room.T)))

    def claims(self, p: Matrix, limit: float) -> set[Claim]:
        """Pairs whose ``p`` is within ``limit``, the better first."""
        told = (self.tested | self.tested.T) & (p <= limit) & (self.apart > 0)
        return {(self.names[row], self.names[column]) for row, column in zip(*np.nonzero(told), strict=True)}

    def _room(self, handicaps: Handicaps) -> Matrix:
        """Logarithms, of who is faster (row) against who is slower (column)."""
        room = np.zeros_like(self.apart)
        place = {name: at for at, name in enumerate(self.names)}
        for (faster, slower), times in handicaps.items():
            if faster in place and slower in place:
                room[place[faster], place[slower]] = math.log(times)
        return room


def pairs_of(made: Fit | None, names: Sequence[str] | None = None) -> Pairs | None:
    """Of ``names``, else of all; None where there is nothing to compare."""
    if made is None:
        return None
    asked = range(len(made.names)) if names is None else [made.names.index(n) for n in names if n in made.names]
    able = np.array([at for at in asked if made.rounds[at] >= 2 and made.freedom[at] > 0], dtype=np.intp)
    return _compared(made, able) if len(able) > 1 else None


def _compared(made: Fit, able: NDArray[np.intp]) -> Pairs:
    """As ``Fit.contrast`` does for one pair."""
    weights = made.weights[able]
    shared = (weights * made.noise) @ weights.T
    own, freedom = np.diag(shared), made.freedom[able]
    variance = np.maximum(own[:, None] + own[None, :] - 2 * shared, 0)
    parts = own**2 / freedom
    both, divided = own[:, None] + own[None, :], parts[:, None] + parts[None, :]
    apart = made.group[able][:, None] != made.group[able][None, :]
    if apart.any():  # nothing connects them: how blocks differ is in it
        loose = np.where(apart, made.loose[able][:, None] + made.loose[able][None, :], 0.0)
        if not made.among:
            loose[apart] = np.inf
        variance, both = variance + loose, both + loose
        divided = divided + (loose**2 / made.among if made.among else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        known = both**2 / divided
    return Pairs(
        fitted=made,
        names=[made.names[at] for at in able],
        rounds=np.array(made.rounds)[able],
        logs=made.logs[able],
        apart=made.logs[able][:, None] - made.logs[able][None, :],
        error=np.sqrt(variance),
        freedom=np.minimum(np.nan_to_num(known, nan=made.total, posinf=made.total), made.total),
    )


def holm(values: Sequence[NDArray[np.floating]], level: float) -> float:
    """The p value up to which Holm's step-down rejects, over all tables; below zero: none."""
    ordered = np.sort(np.concatenate([*values, np.zeros(0)]))
    passed = ordered <= level / np.arange(len(ordered), 0, -1)
    last = len(ordered) if passed.all() else int(np.argmin(passed))
    return float(ordered[last - 1]) if last else -1.0
