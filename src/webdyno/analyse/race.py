"""Race: from the Runs so far to the Trials worth doing next. Pure: asked again with the same Runs, it says the same.

After each round from the third on there is a look. A pair of contenders is settled when it is distinguished, when it is
equal within the margin (see ``compare``), or when deciding it would take more rounds than there may be. For the
question "who are the first three" only pairs count that touch the three which now lead. A contender without an open
pair is left out of the next round; when nobody has, or the time is spent, the race is over.

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
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from webdyno.analyse import special
from webdyno.analyse.additive import Meetings
from webdyno.analyse.compare import POWER, Pair, equal
from webdyno.analyse.estimate import Cells, fit
from webdyno.analyse.pairs import Claim, Handicaps, Pairs, holm, pairs_of
from webdyno.model.race import Race

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Heat:
    """One table after a look."""

    told: frozenset[Claim] = frozenset()
    active: frozenset[str] | None = None
    """Contenders worth another round; None: all of them, for there was no look yet."""


@dataclass(frozen=True, slots=True)
class Reserve:
    """What is known of a table besides its figures."""

    barred: frozenset[str] = frozenset()
    """Contenders that will not be ranked."""
    moot: frozenset[Pair] = frozenset()
    """Pairs of which neither will be said to beat the other, whatever is found."""
    handicaps: Handicaps = field(default_factory=dict)
    """Who may be faster than measured."""
    steps: Cells = field(default_factory=dict)
    """The part of each figure that came in one step."""
    met: Meetings = field(default_factory=dict)
    """Who shared a block."""
    least: Cells = field(default_factory=dict)
    """Variances of logarithms that the turns of each show."""


def spending(alpha: float, look: int) -> float:
    """What look 1, 2, 3 ... may spend; all of them together spend ``alpha``."""
    return alpha * 6 / (math.pi * look) ** 2


def comparisons(tables: int, contenders: int, look: int) -> int:
    """How many comparisons of one single analysis ask as much of each as look ``look`` does over this many tables."""
    return math.ceil(tables * contenders * (contenders - 1) / 2 * (math.pi * look) ** 2 / 6)


def judge(
    tables: Mapping[K, Cells],
    before: Mapping[K, Heat],
    race: Race,
    look: int,
    reserves: Mapping[K, Reserve] = MappingProxyType({}),
) -> dict[K, Heat]:
    """Every table after look ``look`` (from 1), where it stood ``before``.

    Who is barred takes nobody's place among the first, and nothing about it is open; nor are pairs that are moot,
    because the report will not tell them whatever is found. Nobody is said by this look to beat one that was held back,
    unless by certainly more than that can have cost. All of them count among the pairs that are asked all the same, so
    that what is claimed does not depend on them.
    """
    beside = {key: reserves.get(key, Reserve()) for key in tables}
    fits = {
        key: fit(cells, steps=beside[key].steps, met=beside[key].met, least=beside[key].least)
        for key, cells in tables.items()
    }
    asked = {key: pairs for key, made in fits.items() if (pairs := pairs_of(made)) is not None}
    level = spending(race.alpha, look)
    p = {key: pairs.p(beside[key].handicaps) for key, pairs in asked.items()}
    tested = [p[key][pairs.tested] for key, pairs in asked.items()]
    number, limit = sum(map(len, tested)), holm(tested, level)
    heats: dict[K, Heat] = {}
    for key in tables:
        earlier = before.get(key, Heat())
        if key not in asked:
            heats[key] = Heat(earlier.told, frozenset())
            continue
        told = _kept(earlier.told, asked[key].claims(p[key], limit))
        open_ = _open(asked[key], told, race, level / max(number, 1), beside[key])
        open_ &= ~(asked[key].boundless(beside[key].handicaps) & (asked[key].p() <= limit))
        heats[key] = Heat(told, frozenset(_active(asked[key], open_, race, beside[key].barred)))
    return heats


def _kept(earlier: Collection[Claim], now: Collection[Claim]) -> frozenset[Claim]:
    """Claims of both looks but for those that contradict each other."""
    every = {*earlier, *now}
    return frozenset((one, other) for one, other in every if (other, one) not in every)


def _open(pairs: Pairs, told: Collection[Claim], race: Race, level: float, beside: Reserve) -> NDArray[np.bool_]:
    """Pairs that another round may settle."""
    place = {name: at for at, name in enumerate(pairs.names)}
    known = np.zeros((len(place), len(place)), dtype=bool)
    closed: list[Collection[str]] = [*told, *beside.moot]
    for one, other in closed:
        if one in place and other in place:  # who has no second round any more has no row
            known[place[one], place[other]] = known[place[other], place[one]] = True
    still_open = ~(known | _alike(pairs, race) | _hopeless(pairs, race, level))
    np.fill_diagonal(still_open, False)
    return np.asarray(still_open)


def _alike(pairs: Pairs, race: Race) -> NDArray[np.bool_]:
    """Pairs that are certainly equal. Most are too far apart for that, and are not asked."""
    margin, names = math.log1p(race.margin), pairs.names
    alike = np.zeros_like(pairs.apart, dtype=bool)
    for row, column in zip(*np.nonzero(np.triu(np.abs(pairs.apart) < margin, 1)), strict=True):
        one, other = names[row], names[column]
        alike[row, column] = alike[column, row] = equal(pairs.fitted, one, other, margin=margin, alpha=race.alpha)
    return alike


def _active(pairs: Pairs, still_open: NDArray[np.bool_], race: Race, barred: Collection[str]) -> set[str]:
    """Who has an open pair that counts."""
    ranked = np.array([name not in barred for name in pairs.names])
    counts = still_open & ranked[:, None] & ranked[None, :]
    if race.top is not None:
        leads = np.zeros(len(pairs.names), dtype=bool)
        leads[np.argsort(np.where(ranked, -pairs.logs, np.inf), kind="stable")[: race.top]] = True
        counts &= leads[:, None] | leads[None, :]
    return {name for name, row in zip(pairs.names, counts, strict=True) if row.any()}


def _hopeless(pairs: Pairs, race: Race, level: float) -> NDArray[np.bool_]:
    """Pairs that would need more rounds than there may be, even if they differ by a standard error more than it looks.

    Needed to tell a difference d in 4 of 5 cases: rounds * ((z of the level + z of the power) * error / d)^2.
    """
    distance = float(special.ndtri(1 - level / 2) + special.ndtri(POWER))
    likely = np.abs(pairs.apart) + pairs.error
    done = np.minimum(pairs.rounds[:, None], pairs.rounds[None, :])
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.nan_to_num(done * (distance * pairs.error / likely) ** 2, nan=0.0)
    return np.asarray(needed > race.most_rounds)
