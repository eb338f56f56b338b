"""Sought: how the capacity of a server is searched, and when that ends; what it goes on with when resumed."""

from __future__ import annotations

import msgspec


class Sought(msgspec.Struct, frozen=True, kw_only=True):
    """Rates are asked one after the other until the capacity is known well enough, or the time is up."""

    slo: str
    """What must be met, as it was typed."""
    budget_s: float
    duration_s: float
    """Of the steady phase of each trial."""
    warmup_s: float
    first_per_s: float
    most_per_s: float
    precision: float
    """Half the interval, as a share of the rate, that ends the search."""
    even: bool = False
    """Requests are evenly spaced, not at random."""
    max_connections: int | None = None
    """None: twice what the objectives need."""
    verify: bool = True
    """The certificate of a server that is asked by its URL."""
