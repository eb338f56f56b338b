"""Hosts: whether the hosts of a fleet agree about the contenders of a table.

Contenders are compared within hosts, so how fast a host is does not matter. That one contender gains more from a host
than the others do does matter: the ratio of two then depends on the host. Two additive models are compared by the F
test: one in which a contender is as fast, beside the others, on all hosts; and one for each host by itself. It needs
hosts that measured a table more than once. Runs that were measured alone count as in ``additive``.

H. Scheffe (1959), The Analysis of Variance, chapter 4. The test is somewhat too eager where contenders differ in noise,
so differences below a few per cent are not reported.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from webdyno.analyse import special
from webdyno.analyse.additive import ALONE, Key, Meetings, Vector, design_of
from webdyno.analyse.estimate import Cells


class Disagreement(NamedTuple):
    """The contender that is most unlike itself on one host, and how sure it is that hosts disagree at all."""

    contender: str
    host: str
    log: float
    """Of how many times as fast it is there as on the other hosts, each time beside the others."""
    p: float


class _Left(NamedTuple):
    """What an additive model leaves of its cells."""

    residuals: Vector
    squares: float
    freedom: float


def disagreement(cells: Cells, met: Meetings, host_of: Mapping[Key, str]) -> Disagreement | None:
    """Of the hosts about ``cells``; None where there is one host, or each measured too little to tell."""
    keys = [key for key, value in cells.items() if value > 0]
    of_host: dict[str, list[Key]] = defaultdict(list)
    for key in keys:
        of_host[host_of[key]].append(key)
    if len(of_host) < 2:
        return None
    alike, each = _left(cells, keys, met), [_left(cells, mine, met) for mine in of_host.values()]
    squares, freedom = math.fsum(one.squares for one in each), math.fsum(one.freedom for one in each)
    more = alike.freedom - freedom
    if freedom < 1 or more < 1 or not squares > 0:
        return None
    p = float(special.fdtrc(more, freedom, max(alike.squares - squares, 0.0) / more / (squares / freedom)))
    odd = [(*key, log) for key, log in _apart(dict(zip(keys, alike.residuals.tolist(), strict=True)), host_of)]
    return Disagreement(*max(odd, key=lambda found: abs(found[2])), p) if odd else None


def _left(cells: Cells, keys: Sequence[Key], met: Meetings) -> _Left:
    names = tuple(dict.fromkeys(name for name, _ in keys))
    design = design_of(keys, names, met)
    left = design.residuals(np.log([cells[key] for key in keys]))
    return _Left(left, float(_weights(keys, met) @ left**2), float(design.slack().sum()))


def _weights(keys: Sequence[Key], met: Meetings) -> Vector:
    """As in ``additive``, but the same for all hosts: of a table that has both, what was measured alone counts less."""
    both = any(meeting.in_turns for meeting in met.values())
    return np.array([ALONE if both and not met[key].in_turns else 1.0 for key in keys])


def _apart(residuals: Mapping[Key, float], host_of: Mapping[Key, str]) -> Iterator[tuple[tuple[str, str], float]]:
    """Of each contender and host: its mean residual there, less that on the other hosts."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for key, residual in residuals.items():
        found[key[0]][host_of[key]].append(residual)
    for name, by_host in found.items():
        for host, here in by_host.items():
            if elsewhere := [each for other, those in by_host.items() if other != host for each in those]:
                yield (name, host), float(np.mean(here) - np.mean(elsewhere))
