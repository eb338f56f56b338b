"""Compare: which pairs of a table differ beyond chance, when all pairs are asked at once, and which are equal.

With 14 contenders there are 91 pairs, and at 5 % each a table of equals would hold false claims nearly always. Holm's
step-down keeps the chance of *any* false "A beats B" in a table at 5 %, whatever the dependence between the pairs.

Equality is a claim of its own. A server that starts slow now and then looks equal to one that never does for as long
as no slow start was seen, so it takes six starts of both, and the plain t interval of these starts must agree with the
one that has its variance from the table.

S. Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6. C. J.
Clopper, E. S. Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial.
Biometrika 26.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from webdyno.analyse import special
from webdyno.analyse.estimate import Contrast, Fit
from webdyno.analyse.pairs import NONE, Handicaps, holm, pairs_of

ALPHA = 0.05
POWER = 0.80
EQUAL = math.log(1.03)
"""Differences below 3 % are not worth a choice of server: within it, contenders count as equal."""
STARTS = 6
"""Of both, before they may be called equal."""

Pair = frozenset[str]


def apart(fit: Fit, names: Sequence[str], handicaps: Handicaps = NONE, looks: int = 1) -> set[Pair]:
    """Pairs of ``names`` whose difference is beyond chance, and beyond what the slower one was held back by.

    ``looks``: how often the figures may have been looked at before it was decided to stop here (Bonferroni).
    """
    pairs = pairs_of(fit, names)
    if pairs is None:
        return set()
    p = pairs.p(handicaps)
    return {frozenset(claim) for claim in pairs.claims(p, holm([p[pairs.tested]], ALPHA / looks))}


def equal(fit: Fit, one: str, other: str, *, margin: float = EQUAL, alpha: float = ALPHA) -> bool:
    """True when the difference is certainly within ``margin``, either way, by both intervals and from starts enough.

    D. J. Schuirmann (1987), two one-sided tests. Journal of Pharmacokinetics and Biopharmaceutics 15.
    """
    contrast, plain = fit.contrast(one, other), fit.paired(one, other)
    if contrast is None or plain is None or plain.freedom < STARTS - 1:
        return False
    return all(abs(each.log) + each.reach(1 - alpha) < margin for each in (contrast, plain))


def slow_starts_allowed(starts: int, slow: int = 0) -> float:
    """The largest share of slow starts that this many starts, ``slow`` of them slow, still allow (exact, 95 %)."""
    return float(special.betaincinv(slow + 1, starts - slow, 1 - ALPHA)) if slow < starts else 1.0


def rounds_needed(contrast: Contrast, rounds: int, pairs: int, handicap: float = 1.0) -> int | None:
    """Rounds in all until a difference as large as it now looks would be beyond chance, in 4 of 5 cases.

    ``handicap``: times that the slower one may be faster than measured. None: beyond counting.
    """
    ahead = abs(contrast.log) - math.log(handicap)
    if ahead <= 0 or contrast.error <= 0:
        return None
    distance = float(special.ndtri(1 - ALPHA / 2 / max(pairs, 1)) + special.ndtri(POWER))
    needed = rounds * (distance * contrast.error / ahead) ** 2
    return math.ceil(needed) if needed < 10_000 else None
