"""Stolen: how much slower Runs that were measured alone are for what the hypervisor took of their cores meanwhile.

A virtual machine loses its cores for moments, more in one minute than in another. Rounds come in random order, so in
the long run everybody loses as much; in three rounds they do not, and on a machine that loses a few per cent this is
most of what rounds of one contender differ by (docs/measured.md). It is told in each Run, so rates are shown as they
would be had as much been stolen from all: a covariate that a contender has no part in narrows an interval and moves no
mean (see ``robbed``, which does it for turns).

What it costs is found from how the rounds of one contender differ, over all tables of a study, never from how
contenders do: one per cent of a core may cost four of the rate, for whoever takes it works on the caches, too. Nothing
is adjusted where that is not known well, nor where some contenders lose more than others by more than chance: there
they may have a part in it.

R. A. Fisher (1932), Statistical Methods for Research Workers, 4th edition, for the analysis of covariance; W. James,
C. Stein (1961), Estimation with quadratic loss, for the shrinking; W. H. Kruskal, W. A. Wallis (1952), Use of ranks in
one-criterion variance analysis. JASA 47.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webdyno.analyse import special

Vector = NDArray[np.floating]
ENOUGH = 12
"""Degrees of freedom from which on a cost is found."""
MOST = 8.0
"""Logarithm of speed for all of a core; what comes out larger is chance."""
MOST_SHARE = 0.1
"""What is stolen beyond costs no more here: so much is seen too rarely to know."""
UNEVEN = 0.05
"""p value of "all lose alike" below which contenders may have a part in it; a wrong alarm only costs precision."""


class Loss(NamedTuple):
    """Of one Run."""

    rate_per_s: float
    share: float
    """Of its cores, that the hypervisor had; 0 to 1."""


@dataclass(frozen=True, slots=True)
class Stolen:
    """What theft costs the Runs of a study."""

    cost: float
    """Logarithm of speed that is lost for all of a core; 0 to ``MOST``."""
    usual: float
    """Share that is stolen on average: rates are shown as of that."""

    def speed(self, share: float) -> float:
        """Of a Run that lost ``share``, as a part of what it is where as much is stolen as usual."""
        return math.exp(-self.cost * (_counted(share) - self.usual))


NOTHING = Stolen(0.0, 0.0)


def read_stolen(cells: Iterable[tuple[str, Sequence[Loss]]]) -> Stolen:
    """From the rounds of each contender, by name, under each load; those of one are compared with each other."""
    named = [(name, those) for name, those in cells if len(those) > 1]
    cells = [those for _, those in named]
    shares = [np.array([_counted(loss.share) for loss in those]) for those in cells]
    freedom = sum(map(len, cells)) - len(cells) - 1
    if freedom < ENOUGH or _uneven(_by_contender([name for name, _ in named], shares)):
        return NOTHING
    x = np.concatenate([each - each.mean() for each in shares])
    y = np.concatenate([_centred([math.log(loss.rate_per_s) for loss in those]) for those in cells])
    squares = float(x @ x)
    if squares <= 0:
        return NOTHING
    cost = -float(x @ y) / squares
    left = y + cost * x
    error = math.sqrt(float(left @ left) / freedom / squares)
    known = max(0.0, 1 - (error / cost) ** 2) if cost > 0 else 0.0
    return Stolen(min(cost * known, MOST), float(np.concatenate(shares).mean()))


def _counted(share: float) -> float:
    return min(share, MOST_SHARE)


def _centred(values: Sequence[float]) -> Vector:
    found = np.asarray(values)
    return np.asarray(found - found.mean())


def _by_contender(names: Sequence[str], shares: Sequence[Vector]) -> list[Vector]:
    found: dict[str, list[Vector]] = {}
    for name, those in zip(names, shares, strict=True):
        found.setdefault(name, []).append(those)
    return [np.concatenate(those) for those in found.values()]


def _uneven(groups: Sequence[Vector]) -> bool:
    """Whether shares differ more between these than by chance: of many a little, or of one much.

    Both by ranks, with the correction for ties: the former by Kruskal and Wallis's H, the latter by the largest of the
    normal deviates that H is made of (Bonferroni).
    """
    values = np.concatenate(groups)
    number = len(values)
    _, place, ties = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[place]
    spread = 1 - float((ties**3 - ties).sum()) / (number**3 - number)
    if spread <= 0 or len(groups) < 2:
        return False
    sizes = np.array([len(each) for each in groups])
    means = np.add.reduceat(ranks, np.cumsum(sizes) - sizes) / sizes
    away = (means - (number + 1) / 2) ** 2 / ((number + 1) * number / 12 * spread)
    many = float(special.chdtrc(len(groups) - 1, float((sizes * away).sum())))
    largest = float((sizes * away * number / (number - sizes)).max())
    one = len(groups) * float(special.chdtrc(1, largest))
    return 2 * min(many, one) < UNEVEN
