"""Estimate: a figure with what is known about its error."""

from __future__ import annotations

import msgspec


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A figure over rounds with its 95 % interval; ``low`` and ``high`` are None when too few rounds tell.

    ``high`` alone is None where the interval has no upper end: a knee that may lie anywhere beyond.
    """

    value: float
    low: float | None
    high: float | None
    rounds: int
    unit: str
    """per_s, ns, bytes, bytes_per_s, bytes_per_answer, ns_per_request, share, ratio, cores, per_connection, number."""
