"""Rulings: where the interval of a comparison must lie for a claim to hold in it, or not to, and how sure each of
several comparisons must be.

A claim of an order ("more than", "the lowest") holds where the whole interval lies on its side. It does not hold where
the whole interval lies below a lead of ``LEAD``: no lead worth the name is an answer too. That is one half of the two
one-sided tests of D. J. Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach,
Journal of Pharmacokinetics and Biopharmaceutics 15: a lead that large is missed in 2.5 % at most. What is surely ahead
by less holds, as it was said.

A claim asks to hold in at least u of n comparisons. That it holds in fewer is rejected by the n - u + 1 largest of its
n p values, those that remain when the other u - 1 are taken for true. By Simes' test the i-th smallest of these may be
i / (n - u + 1) of the level. That it holds in u or more is rejected in the same way, by the u largest p values of the
opposite. With u = n the first is the test of R. L. Berger (1982), Multiparameter hypothesis testing and acceptance
sampling, Technometrics 24: each of several sure steps is asked for no more than a single one.

Y. Benjamini, R. Heller (2008), Screening for partial conjunction hypotheses, Biometrics 64; R. J. Simes (1986), An
improved Bonferroni procedure for multiple tests of significance, Biometrika 73. Simes' test is exact for independent
comparisons and holds for positively dependent ones (Y. Benjamini, D. Yekutieli 2001, Annals of Statistics 29), as those
are that have one contender in common on the same side. Each ruling is asked for 2.5 %, one tail of the interval that is
shown. The other half of the 5 % is in reserve for comparisons that depend on each other otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from webdyno.analyse.measures import Ratio
from webdyno.model.claim import Claim, Ruling

ABOUT = 1.25
"""A figure is "about" another within a quarter, up or (as a ratio) down."""
LEAD = 0.05
"""Smallest lead that counts where an order was claimed. Starts of one server differ by 1 to 5 %: who measures two
servers once each, as the articles did, sees a smaller lead come and go. What ``compare`` calls the same is less (3 %),
for it repeats both until that shows."""
Bounds = tuple[float, float]
AS_ONE = math.nextafter(1.0, 2.0)
"""As sure as a single one, and yet one of many: a share is then as wide as its requests allow, too."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with three rounds or more."""

    found: Ratio
    leeway: Bounds
    """How many times lower, and higher, it may be than it was measured."""
    looks: int = 1
    """As many comparisons it counts for, where claims are judged more than once (``Further.comparisons``)."""

    def bounds(self, comparisons: float) -> Bounds:
        """The interval, wide enough for this many comparisons at once and for the leeway."""
        low, high = self.found.of_many(self.looks * comparisons)
        return low / self.leeway[0], high * self.leeway[1]


@dataclass(frozen=True, slots=True)
class Asked:
    """How sure each comparison of a claim must be: as one of this many at once."""

    to_hold: float
    to_fail: float
    comparisons: int


def needed_of(claim: Claim, comparisons: int) -> int:
    """In how many comparisons it must hold."""
    return math.ceil(claim.share * comparisons - 1e-9)


def asked_of(claim: Claim, known: Sequence[Compared], comparisons: int) -> Asked:
    """What a claim asks of each of its ``comparisons``; ``known`` are those that can decide anything."""
    needed = needed_of(claim, comparisons)
    to_spare = comparisons - needed
    return Asked(
        _at_once(to_spare + 1, needed - 1, lambda many: sum(within(claim, one.bounds(many)) for one in known)),
        _at_once(needed, to_spare, lambda many: sum(beyond(claim, one.bounds(many)) for one in known)),
        comparisons,
    )


def _at_once(combined: int, beside: int, sure: Callable[[float], int]) -> float:
    """Of how many comparisons each must be sure so that ``beside`` of them may be true anyway, and the other
    ``combined`` are rejected together. ``sure``: how many are, each as one of that many."""
    if combined < 2:
        return 1
    most = min(combined, sure(AS_ONE) - beside)
    steps = ((at, max(AS_ONE, combined / at)) for at in range(most, 0, -1))
    return next((many for at, many in steps if sure(many) >= beside + at), combined)


def ruling_of(claim: Claim, compared: Compared, asked: Asked) -> Ruling:
    """Of one comparison."""
    if within(claim, compared.bounds(asked.to_hold)):
        return "holds"
    return "does not hold" if beyond(claim, compared.bounds(asked.to_fail)) else "cannot tell"


def within(claim: Claim, sure: Bounds) -> bool:
    """The whole interval lies where the claim says."""
    low, high, at = *sure, claim.times
    tests: dict[str, bool] = {
        "more than": low > at,
        "highest": low > 1,
        "at least": low >= at,
        "less than": high < at,
        "lowest": high < 1,
        "at most": high <= at,
        "about": low >= at / ABOUT and high <= at * ABOUT,
    }
    return tests[claim.relation]


def beyond(claim: Claim, sure: Bounds) -> bool:
    """The whole interval lies where the claim does not."""
    low, high, at = *sure, claim.times
    tests: dict[str, bool] = {
        "more than": high <= at,
        "highest": high <= 1,
        "at least": high < at,
        "less than": low >= at,
        "lowest": low >= 1,
        "at most": low > at,
        "about": high < at / ABOUT or low > at * ABOUT,
    }
    return tests[claim.relation] or no_lead(claim, sure) is not None


def no_lead(claim: Claim, sure: Bounds) -> float | None:
    """By which part the contender may be ahead at most, or behind, where an order was claimed and that does not count;
    None: it may be more, or no order was claimed."""
    if claim.value is not None or (claim.times != 1 and claim.relation in ("more than", "less than")):
        return None
    low, high = sure
    if claim.relation in ("more than", "highest") and high < 1 + LEAD:
        return max(high - 1, 0.0)
    if claim.relation in ("less than", "lowest") and low > 1 / (1 + LEAD):
        return max(1 - low, 0.0)
    return None
