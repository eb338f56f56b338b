"""Share: what one of several drivers of a load was given and gave, and how its clock stands to ours."""

from __future__ import annotations

import msgspec


class Offset(msgspec.Struct, frozen=True, kw_only=True):
    """Another host's CLOCK_MONOTONIC minus ours, as far as exchanges over the way between can tell."""

    ns: int
    uncertainty_ns: int
    """The true one lies within so much of ``ns``: half of the shortest exchange."""


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """One driver's part of a load; a list of them is ``Run.summary["drivers"]``."""

    name: str
    host: str = ""
    """The machine it ran on, by its address; empty: ours."""
    processor: str = ""
    """Of that machine."""
    connections: int
    """Of the load's; it may open more at an open pace."""
    offered: int
    """Its requests that ended in the steady phase."""
    ok: int
    start_late_ns: int | None
    """How long after the agreed instant its last thread began, by its own clock."""
    before: Offset
    """Its clock before the load ..."""
    after: Offset | None
    """... and after it; None: it could not be asked any more."""
    threads: int
    span_ns: int
    """How long its steady phase was."""
    idle_ns: int | None
    """Of that, when its threads had nothing to do, added up over them; None where the kernel does not count."""
    run_delay_ns: int | None
    """When they could have run and had no core, added up over them."""
    ended: str
    """As it said itself."""

    @property
    def skew_ns(self) -> int | None:
        """How far from the agreed instant, by our clock, it may have begun; None: unknown."""
        if self.start_late_ns is None:
            return None
        return self.start_late_ns + self.before.uncertainty_ns
