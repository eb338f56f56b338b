"""Race: from the Runs so far to the Trials worth doing next. Pure: asked again with the same Runs, it says the same.

After each round from the third on there is a look. A pair of contenders is settled when it is told apart, when it is
surely equal within the margin, or when telling it would take more rounds than there may be. For the question "who are
the first three" only pairs count that touch the three which now lead. Whoever has no open pair is left out of the next
round; when nobody has, or the time is spent, the race is over.

Looking often and asking many pairs both make false claims likelier. Look k may spend alpha * 6 / (pi k)^2, which adds
up to alpha over any number of looks, and Holm's step-down holds it over all pairs of all tables at once. So the chance
of any false "A beats B" in the whole experiment is alpha, wherever it stops. What was told stays told, unless a later
look tells the contrary.

O. Maron, A. W. Moore (1994), Hoeffding races. NIPS 6, for the idea. K. K. G. Lan, D. L. DeMets (1983), Discrete
sequential boundaries for clinical trials. Biometrika 70, for spending. S. Holm (1979), see ``compare``. D. J.
Schuirmann (1987), two one-sided tests, for equality.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr, stdtrit

from webdyno.analyse.compare import POWER, Pair
from webdyno.analyse.estimate import Cells, Fit, fit
from webdyno.model.race import Race

Claim = tuple[str, str]
"""The first beats the second."""
Matrix = NDArray[np.floating]
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Heat:
    """One table after a look."""

    told: frozenset[Claim] = frozenset()
    active: frozenset[str] | None = None
    """Contenders worth another round; None: all of them, for there was no look yet."""


def spending(alpha: float, look: int) -> float:
    """What look 1, 2, 3 ... may spend; all of them together spend ``alpha``."""
    return alpha * 6 / (math.pi * look) ** 2


def comparisons(tables: int, contenders: int, look: int) -> int:
    """How many comparisons of one single analysis ask as much of each as look ``look`` does over so many tables."""
    return math.ceil(tables * contenders * (contenders - 1) / 2 * (math.pi * look) ** 2 / 6)


def judge(
    tables: Mapping[K, Cells],
    before: Mapping[K, Heat],
    race: Race,
    look: int,
    barred: Mapping[K, Collection[str]] = MappingProxyType({}),
    moot: Mapping[K, Collection[Pair]] = MappingProxyType({}),
    unlucky: Mapping[K, Mapping[str, float]] = MappingProxyType({}),
) -> dict[K, Heat]:
    """Every table after look ``look`` (from 1), where it stood ``before``.

    Who is ``barred`` will not be ranked: it takes nobody's place among the first, and nothing about it is open; nor
    are pairs that are ``moot``, because the report will not tell them whatever is found. Nobody is told by this look to
    be faster than one that was ``unlucky``, unless by more than its luck can have cost. All of them count among the
    pairs that are asked all the same, so that what is claimed does not depend on them.
    """
    asked = {key: pairs for key, cells in tables.items() if (pairs := _pairs(cells)) is not None}
    level = spending(race.alpha, look)
    number = sum(pairs.count for pairs in asked.values())
    limit = _holm([pairs.p[np.triu_indices(len(pairs.names), 1)] for pairs in asked.values()], level)
    heats: dict[K, Heat] = {}
    for key in tables:
        earlier = before.get(key, Heat())
        if key not in asked:
            heats[key] = Heat(earlier.told, frozenset())
            continue
        told = _kept(earlier.told, asked[key].told(limit, unlucky.get(key, {})))
        open_ = _open(asked[key], told, race, level / max(number, 1), moot.get(key, ()))
        heats[key] = Heat(told, frozenset(_active(asked[key], open_, race, barred.get(key, ()))))
    return heats


@dataclass(frozen=True, slots=True)
class _Pairs:
    """All pairs of a table at once: row against column. Contenders with less than two rounds are left out."""

    names: list[str]
    rounds: NDArray[np.intp]
    logs: Matrix
    """Of each contender."""
    apart: Matrix
    """Differences of logarithms, row minus column."""
    error: Matrix
    freedom: Matrix
    p: Matrix
    """Two-sided, of "there is no difference"."""

    @property
    def count(self) -> int:
        return len(self.names) * (len(self.names) - 1) // 2

    def told(self, limit: float, room: Mapping[str, float]) -> set[Claim]:
        """Pairs whose p value is within ``limit``, the better first; ``room``: times a worse one may be better."""
        least = np.log([room.get(name, 1.0) for name in self.names])
        rows, columns = np.nonzero((self.p <= limit) & (self.apart > least[None, :]))
        return {(self.names[row], self.names[column]) for row, column in zip(rows, columns, strict=True)}


def _pairs(cells: Cells) -> _Pairs | None:
    """None where there is nothing to compare."""
    made = fit(cells)
    if made is None:
        return None
    able = [at for at in range(len(made.names)) if made.rounds[at] >= 2 and made.freedom[at] > 0]
    if len(able) < 2:
        return None
    return _compared(made, np.array(able))


def _compared(made: Fit, able: NDArray[np.intp]) -> _Pairs:
    """As ``Fit.contrast`` does for one pair."""
    weights = made.weights[able]
    shared = (weights * made.noise) @ weights.T
    own, freedom = np.diag(shared), made.freedom[able]
    variance = np.maximum(own[:, None] + own[None, :] - 2 * shared, 0)
    error = np.sqrt(variance)
    parts = own**2 / freedom
    with np.errstate(divide="ignore", invalid="ignore"):
        known = (own[:, None] + own[None, :]) ** 2 / (parts[:, None] + parts[None, :])
        known = np.minimum(np.nan_to_num(known, nan=made.total, posinf=made.total), made.total)
        apart = made.logs[able][:, None] - made.logs[able][None, :]
        p = np.where(error > 0, 2 * stdtr(known, -np.abs(apart) / error), np.where(apart == 0, 1.0, 0.0))
    return _Pairs(
        names=[made.names[at] for at in able],
        rounds=np.array(made.rounds)[able],
        logs=made.logs[able],
        apart=apart,
        error=error,
        freedom=known,
        p=p,
    )


def _holm(values: Sequence[NDArray[np.floating]], level: float) -> float:
    """The p value up to which Holm's step-down rejects, over all tables; below zero: none."""
    ordered = np.sort(np.concatenate([*values, np.zeros(0)]))
    passed = ordered <= level / np.arange(len(ordered), 0, -1)
    last = len(ordered) if passed.all() else int(np.argmin(passed))
    return float(ordered[last - 1]) if last else -1.0


def _kept(earlier: Collection[Claim], now: Collection[Claim]) -> frozenset[Claim]:
    """Claims of both looks but for those that contradict each other."""
    every = {*earlier, *now}
    return frozenset((one, other) for one, other in every if (other, one) not in every)


def _open(
    pairs: _Pairs, told: Collection[Claim], race: Race, level: float, moot: Collection[Pair]
) -> NDArray[np.bool_]:
    """Pairs that another round may settle."""
    place = {name: at for at, name in enumerate(pairs.names)}
    known = np.zeros((len(place), len(place)), dtype=bool)
    closed: list[Collection[str]] = [*told, *moot]
    for one, other in closed:
        if one in place and other in place:  # who has no second round any more has no row
            known[place[one], place[other]] = known[place[other], place[one]] = True
    reach = pairs.error * stdtrit(pairs.freedom, 1 - race.alpha)
    alike = np.abs(pairs.apart) + reach < math.log1p(race.margin)
    still_open = ~(known | alike | _hopeless(pairs, race, level))
    np.fill_diagonal(still_open, False)
    return np.asarray(still_open)


def _active(pairs: _Pairs, still_open: NDArray[np.bool_], race: Race, barred: Collection[str]) -> set[str]:
    """Who has an open pair that counts."""
    ranked = np.array([name not in barred for name in pairs.names])
    counts = still_open & ranked[:, None] & ranked[None, :]
    if race.top is not None:
        leads = np.zeros(len(pairs.names), dtype=bool)
        leads[np.argsort(np.where(ranked, -pairs.logs, np.inf), kind="stable")[: race.top]] = True
        counts &= leads[:, None] | leads[None, :]
    return {name for name, row in zip(pairs.names, counts, strict=True) if row.any()}


def _hopeless(pairs: _Pairs, race: Race, level: float) -> NDArray[np.bool_]:
    """Pairs that would need more rounds than there may be, even if they differ by a standard error more than it looks.

    Needed to tell a difference d in 4 of 5 cases: rounds * ((z of the level + z of the power) * error / d)^2.
    """
    distance = float(ndtri(1 - level / 2) + ndtri(POWER))
    likely = np.abs(pairs.apart) + pairs.error
    done = np.minimum(pairs.rounds[:, None], pairs.rounds[None, :])
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.nan_to_num(done * (distance * pairs.error / likely) ** 2, nan=0.0)
    return np.asarray(needed > race.most_rounds)
