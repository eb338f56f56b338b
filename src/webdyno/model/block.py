"""Block: fresh starts of several contenders, alive at the same time, that take turns under the same load.

A *turn* is a short stretch of load on one of them, drained before the next begins; a *pass* gives each its turn, in
random order. So two contenders are compared within fractions of a second, and what the machine does meanwhile falls on
both. What takes longer windows than a turn, latency above all, is measured in one steady phase for each as well.
"""

from __future__ import annotations

import msgspec

from webdyno.model.load import Load
from webdyno.model.sample import Slice


class Turns(msgspec.Struct, frozen=True, kw_only=True):
    """How contenders take turns in the blocks of a Plan."""

    turn_s: float = 0.1
    """At least, each. In half of it, after a lead of 20 ms, seven servers of twelve were 2 to 7 % faster or slower than
    under load for longer (docs/measured.md)."""
    lead_s: float = 0.05
    """Load goes on for so long before a turn counts: after a rest the first milliseconds cost more CPU, five of them to
    Go and Node, and all connections send their request at the same moment."""
    cycles: float = 5.0
    """A turn lasts for this many answers on each of its connections, while that is not too long."""
    members: int = 8
    """Contenders of a block at most."""
    window_share: float = 1 / 3
    """Part of the load's length for the steady phase that each has to itself after its turns; for latency."""
    least_window_s: float = 0.5

    def total_s(self, load: Load) -> float:
        """Of turns, for each contender of a block on average; so that a block takes no longer than loads one by one."""
        asked_s = load.duration_s or 0.0
        return max(asked_s - self.window_s(load), asked_s / 2)

    def window_s(self, load: Load) -> float:
        """Of the steady phase."""
        return max(self.least_window_s, self.window_share * (load.duration_s or 0.0))


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that was taken, or another stretch of load in a block: reported to listeners as it comes."""

    contender: str
    slice: Slice
    passes: int | None
    """Of the block; None: it is not known yet."""


AT_REST = 0.01
"""Cores' worth of CPU: a contender that uses more while it rests disturbs its neighbours."""


class Rest(msgspec.Struct, frozen=True, kw_only=True):
    """What a contender used while others of its block had their turns."""

    time_ns: int
    cpu_ns: int

    @property
    def cores(self) -> float:
        """Cores' worth."""
        return self.cpu_ns / self.time_ns if self.time_ns else 0.0
