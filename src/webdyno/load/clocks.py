"""How another host's clock stands to ours, from exchanges: asked at, told, answered at.

Cristian, Probabilistic clock synchronization (Distributed Computing 3, 1989): what was told was read somewhere between
asking and answering, so the middle is right to half of the exchange, however unlike the two ways are. The shortest of
many exchanges knows the most. Between two measurements clocks drift apart, some 1 to 50 us in a second: so it is
measured before and after the load.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from webdyno.model.share import Offset


class Exchange(NamedTuple):
    """One question to the other host, in nanoseconds of the clocks of both."""

    asked_ns: int
    told_ns: int
    """By the other's clock."""
    answered_ns: int


def offset(exchanges: Iterable[Exchange]) -> Offset:
    """The other's clock minus ours. An offset within its uncertainty is none: both are of one machine.

    ValueError where there is no exchange.
    """
    best = min(exchanges, key=lambda each: each.answered_ns - each.asked_ns)
    uncertainty_ns = -(-(best.answered_ns - best.asked_ns) // 2)
    ns = best.told_ns - (best.asked_ns + best.answered_ns) // 2
    return Offset(ns=0 if abs(ns) <= uncertainty_ns else ns, uncertainty_ns=uncertainty_ns)
