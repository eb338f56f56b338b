"""Compare: which pairs of a table can be told apart, when all pairs are asked at once.

With 14 contenders there are 91 pairs, and at 5 % each a table of equals would hold false claims nearly always. Holm's
step-down keeps the chance of *any* false "A beats B" in a table at 5 %, whatever the dependence between the pairs.

S. Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import combinations

from scipy.special import ndtri

from webdyno.analyse.estimate import Contrast, Fit

ALPHA = 0.05
POWER = 0.80
EQUAL = math.log(1.03)
"""Differences below 3 % are not worth a choice of server: within it, contenders count as equal."""

Pair = frozenset[str]


def apart(fit: Fit, names: Sequence[str], untold: Collection[Pair] = ()) -> set[Pair]:
    """Pairs of ``names`` whose difference is beyond chance. Pairs in ``untold`` are taken as not comparable at all."""
    tested: list[tuple[float, Pair]] = []
    for one, other in combinations(names, 2):
        contrast = fit.contrast(one, other)
        if contrast is not None and frozenset((one, other)) not in untold:
            tested.append((contrast.p, frozenset((one, other))))
    told: set[Pair] = set()
    for rank, (p, pair) in enumerate(sorted(tested, key=lambda item: item[0])):
        if p > ALPHA / (len(tested) - rank):
            break
        told.add(pair)
    return told


def equal(contrast: Contrast) -> bool:
    """True when the difference is surely within 3 %, either way.

    D. J. Schuirmann (1987), two one-sided tests. Journal of Pharmacokinetics and Biopharmaceutics 15.
    """
    return abs(contrast.log) + contrast.reach(1 - ALPHA) < EQUAL


def rounds_needed(contrast: Contrast, rounds: int, pairs: int) -> int | None:
    """Rounds in all until a difference as large as it now looks would be told, in 4 of 5 cases.

    None: beyond counting.
    """
    if contrast.log == 0 or contrast.error <= 0:
        return None
    distance = float(ndtri(1 - ALPHA / 2 / max(pairs, 1)) + ndtri(POWER))
    needed = rounds * (distance * contrast.error / abs(contrast.log)) ** 2
    return math.ceil(needed) if needed < 10_000 else None
