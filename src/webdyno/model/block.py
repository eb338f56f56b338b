"""Block: fresh starts of several contenders, alive at the same time, that take turns under the same load.

A *turn* is a short stretch of load on one of them, drained before the next begins; a *pass* gives each its turn, in
random order. So two contenders are compared within fractions of a second, and what the machine does meanwhile falls on
both. What takes longer windows than a turn, latency above all, is measured in one steady phase for each as well.
"""

from __future__ import annotations

import msgspec


class Turns(msgspec.Struct, frozen=True, kw_only=True):
    """How contenders take turns in the blocks of a Plan."""

    total_s: float
    """Of turns, for each contender of a block."""
    turn_s: float = 0.05
    """At least, each."""
    cycles: float = 5.0
    """A turn lasts for at least so many answers on each connection of the slowest of its block."""
    window_s: float = 0.5
    """Of the steady phase that each has to itself, after the turns: for latency."""
    members: int = 8
    """Contenders of a block at most."""


class Rest(msgspec.Struct, frozen=True, kw_only=True):
    """What a contender used while others of its block had their turns."""

    time_ns: int
    cpu_ns: int

    @property
    def cores(self) -> float:
        """Cores' worth."""
        return self.cpu_ns / self.time_ns if self.time_ns else 0.0
