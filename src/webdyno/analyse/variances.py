"""Variances: how noisy each contender is, from few rounds of it.

Three things went wrong in simulated worlds (``python -m bench.trust worlds``), and each has its remedy here.

One wild contender among quiet ones wags the mean of every round, and so the residuals of all. From five contenders on a
residual is therefore taken against the median of the others in its round, which one cannot move.

One prior for all (``moderate``) takes those that are really noisier than the rest for quieter than they are, and they
are the ones that seem to differ. So no variance is taken for less than what was seen of it.

Starts that are slow now and then leave most contenders without a slow one in three rounds: these look quiet, and differ
from those that had one. So no variance is taken for less than three quarters of what the table has on average, its
noisiest contender left aside. Half would do for such starts; where contenders differ in noise by twenty times, it takes
three quarters.

J. W. Tukey (1977), Exploratory Data Analysis, for medians in two-way tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from webdyno.analyse.additive import together
from webdyno.analyse.moderate import moderate

Vector = NDArray[np.floating]
Matrix = NDArray[np.floating]

ENOUGH = 5
"""Contenders in a round from which on the median of the others says what the round was like."""
LEAST = 0.75
"""Part of the table's variance below which nobody's is taken to be."""


def variances(
    residuals: Vector, slack: Vector, owner: NDArray[np.intp], blocks: NDArray[np.intp]
) -> tuple[Vector, Vector]:
    """Variance of each contender's cells, and its degrees of freedom; nan and 0: unknown.

    ``residuals`` are those of the additive fit, with the ``slack`` that it leaves to each; ``owner`` and ``blocks`` say
    whose cell it is and of which round.
    """
    squares, expected, freedom = _squares(residuals, slack, owner, blocks)
    own = np.divide(squares, expected, out=np.zeros(len(squares)), where=expected > 1e-9)
    moderated, known = moderate(own, freedom)
    least = np.where(freedom > 1e-9, np.fmax(own, LEAST * _of_table(own, freedom)), moderated)
    return np.fmax(moderated, least), known


def variances_by_kind(
    residuals: Vector, slack: Vector, owner: NDArray[np.intp], blocks: NDArray[np.intp], kind: NDArray[np.intp]
) -> tuple[Vector, Vector]:
    """Variance of each cell, and degrees of freedom of each contender.

    Cells of one ``kind`` are steadied by those of their own: what took turns and what was measured alone differ in
    variance by ten times, and one prior for both would be nobody's. Of a contender that has both, the fewer count.
    """
    known, freedom = np.full(len(owner), np.nan), np.full(int(owner.max()) + 1, np.inf)
    for each in np.unique(kind):
        mine = np.flatnonzero(kind == each)
        whose, place = np.unique(owner[mine], return_inverse=True)
        of, its = variances(residuals[mine], slack[mine], place, blocks[mine])
        known[mine], freedom[whose] = of[place], np.fmin(freedom[whose], its)
    return known, freedom


def beside_the_median(residuals: Vector, blocks: NDArray[np.intp]) -> tuple[Vector, Vector]:
    """Residuals against the median of the others in their round, and the variance of such a median, in cells.

    Where a round has too few contenders they stay as they are, and 0 is added by no median.
    """
    beside, added = residuals.copy(), np.zeros(len(residuals))
    for here in together(blocks):
        if len(here) >= ENOUGH:
            beside[here] -= _medians_of_others(residuals[here])
            added[here] = math.pi / 2 / (len(here) - 1 + math.pi / 2 - 1)
    return beside, added


def medians(residuals: Vector, rounds: NDArray[np.intp], blocks: Sequence[int]) -> Vector:
    """Of the residuals of each of ``blocks``, so that one wild contender does not wag it; 0 where it has too few."""
    members = together(rounds)
    of = [residuals[members[block]] for block in blocks]
    return np.array([_median(each) if len(each) >= ENOUGH else 0.0 for each in of])


def _median(values: Vector) -> float:
    """numpy's own takes five times as long for so few."""
    ordered, half = np.sort(values), len(values) // 2
    return float(ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2)


def _medians_of_others(values: Vector) -> Vector:
    """For each value the median of all others."""
    order = np.argsort(values, kind="stable")
    ordered, place = values[order], np.empty(len(values), dtype=np.intp)
    place[order] = np.arange(len(values))
    low, high = (len(values) - 2) // 2, (len(values) - 1) // 2
    made: Vector = (ordered[low + (place <= low)] + ordered[high + (place <= high)]) / 2
    return made


def _squares(
    residuals: Vector, slack: Vector, owner: NDArray[np.intp], blocks: NDArray[np.intp]
) -> tuple[Vector, Vector, Vector]:
    """Of each contender: its sum of squares, how many variances that is expected to hold, and degrees of freedom."""
    rounds = np.bincount(owner)
    beside, added = beside_the_median(residuals, blocks)
    beside -= (np.bincount(owner, beside) / rounds)[owner]
    robust = added > 0
    alone = 1 - 1 / rounds[owner]
    squares = np.bincount(owner, beside**2).astype(float)
    expected = np.bincount(owner, np.where(robust, (1 + added) * alone, slack)).astype(float)
    freedom = np.bincount(owner, np.where(robust, alone, slack)).astype(float)
    return squares, expected, freedom


def _of_table(own: Vector, freedom: Vector) -> float:
    """The mean variance of all, from five contenders on without the noisiest."""
    known = np.flatnonzero(freedom > 1e-9)
    if len(known) >= ENOUGH:
        known = np.delete(known, int(np.argmax(own[known])))
    return float(own[known] @ freedom[known] / freedom[known].sum()) if len(known) else 0.0
