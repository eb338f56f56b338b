"""Stolen: how much slower Runs that were measured alone are for what the hypervisor took of their cores meanwhile.

A virtual machine loses its cores for moments, more in one minute than in another. Rounds come in random order, so in
the long run everybody loses as much; in three rounds they do not, and on a machine that loses a few per cent this is
most of what rounds of one contender differ by (docs/measured.md). The kernel tells what each Run lost, so rates are
shown as they would be had each round of a contender lost as much: a covariate that a contender has no part in narrows
an interval and moves no mean (see ``robbed``, which does it for turns).

What it costs is found from how the rounds of one contender differ, over all tables of a study, never from how
contenders do: one per cent of a core may cost four of the rate, for what takes it works on the caches, too. Nothing
is adjusted where that is not known well.

A contender may have a part in what it loses: it sleeps and wakes more often, or uses more than it is allowed. So each
has a usual share of its own, and rates are as of that. It is drawn to the mean of all, the more the less contenders
differ beyond chance; and that it is not known better is part of every interval.

R. A. Fisher (1932), Statistical Methods for Research Workers, 4th edition, for the analysis of covariance; W. James,
C. Stein (1961), Estimation with quadratic loss, for the shrinking; C. R. Henderson (1975), Best linear unbiased
estimation and prediction under a selection model. Biometrics 31, for usual shares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.floating]
ENOUGH = 12
"""Degrees of freedom from which on a cost is found."""
MOST = 8.0
"""Logarithm of speed for all of a core; what comes out larger is chance."""
MOST_SHARE = 0.1
"""What is stolen beyond costs no more here: so much is seen too rarely to know."""


class Loss(NamedTuple):
    """Of one Run."""

    rate_per_s: float
    share: float
    """Of its cores, that the hypervisor had; 0 to 1."""
    round: int


class Usual(NamedTuple):
    """Of a contender."""

    share: float
    variance: float
    """Of that."""


@dataclass(frozen=True, slots=True)
class Stolen:
    """What theft costs the Runs of a study."""

    cost: float
    """Logarithm of speed that is lost for all of a core; 0 to ``MOST``."""
    usual: Mapping[str, Usual]
    """What each contender loses in the long run."""
    mean: float = 0.0
    """Of all shares."""

    def speed(self, contender: str, share: float) -> float:
        """Of a Run that lost ``share``, as a part of what it is where its contender loses what it usually does."""
        return math.exp(-self.cost * (_counted(share) - self.usual[contender].share))

    def variance(self, contender: str) -> float:
        """Of the logarithm of its level, however many rounds it has."""
        return self.cost**2 * self.usual[contender].variance


NOTHING = Stolen(0.0, {})


def read_stolen(cells: Iterable[tuple[str, Sequence[Loss]]]) -> Stolen:
    """From the rounds of each contender, by name, under each load; those of one are compared with each other."""
    named = [(name, those) for name, those in cells if those]
    losses = [those for _, those in named if len(those) > 1]
    freedom = sum(map(len, losses)) - len(losses) - 1
    if freedom < ENOUGH:
        return NOTHING
    x = np.concatenate([_centred([_counted(loss.share) for loss in those]) for those in losses])
    y = np.concatenate([_centred([math.log(loss.rate_per_s) for loss in those]) for those in losses])
    squares = float(x @ x)
    if squares <= 0:
        return NOTHING
    cost = -float(x @ y) / squares
    left = y + cost * x
    error = math.sqrt(float(left @ left) / freedom / squares)
    known = max(0.0, 1 - (error / cost) ** 2) if cost > 0 else 0.0
    if not known:
        return NOTHING
    mean = fmean(_counted(loss.share) for _, those in named for loss in those)
    return Stolen(min(cost * known, MOST), _usual(_by_contender(named)), mean)


def _counted(share: float) -> float:
    return max(0.0, min(share, MOST_SHARE))


def _centred(values: Sequence[float]) -> Vector:
    found = np.asarray(values)
    return np.asarray(found - found.mean())


def _by_contender(cells: Iterable[tuple[str, Sequence[Loss]]]) -> dict[str, Vector]:
    """The share of each of its rounds: its loads may follow each other, and a theft that lasts falls on all of them."""
    found: dict[str, dict[int, list[float]]] = {}
    for name, those in cells:
        for loss in those:
            found.setdefault(name, {}).setdefault(loss.round, []).append(_counted(loss.share))
    return {name: np.array([fmean(shares) for shares in rounds.values()]) for name, rounds in found.items()}


def _usual(rounds: Mapping[str, Vector]) -> dict[str, Usual]:
    """Best linear unbiased prediction, variances by the analysis of variance."""
    sizes = np.array([len(each) for each in rounds.values()], dtype=float)
    means = np.array([each.mean() for each in rounds.values()])
    number, groups = float(sizes.sum()), len(sizes)
    if groups < 2 or number <= groups:
        return {name: Usual(float(means.mean()), 0.0) for name in rounds}
    within = math.fsum(float(((each - each.mean()) ** 2).sum()) for each in rounds.values()) / (number - groups)
    overall = float(sizes @ means) / number
    between = float(sizes @ (means - overall) ** 2) / (groups - 1)
    apart = max(0.0, (between - within) / ((number - float(sizes @ sizes) / number) / (groups - 1)))
    drawn = apart / (apart + within / sizes) if apart else np.zeros(groups)
    centre = float(np.average(means, weights=1 / (apart + within / sizes))) if apart else overall
    return {
        name: Usual(centre + float(part) * (float(mean) - centre), apart * (1 - float(part)))
        for name, part, mean in zip(rounds, drawn, means, strict=True)
    }
