"""Doubt about pools: when few may work while many wait, the size of the pool is measured, and not the server."""

from __future__ import annotations

import math

from webdyno.analyse import words
from webdyno.analyse.table import Cell
from webdyno.model.doubt import Doubt
from webdyno.model.run import Run

NEAR = 0.8
"""A rate from this part on of what its places allow is decided by them."""
ABOVE = 1.05
POOL_LIMITED_ADVICE = "give all contenders as many places as there are connections, or the same number of places"


def pool_limited(cell: Cell) -> Doubt | None:
    """Fewer requests can wait for the service, or sleep, at once than there are connections.

    Raised if a pool for a service has fewer places than there are connections, and if a rate is 80 to 105 % of workers
    x threads / service floor (Little's law with workers instead of connections).
    """
    if cell.load.is_open or not cell.windows:
        return None
    run = cell.windows[0].run
    return _pool(cell, run) or _slots(cell, run)


def _pool(cell: Cell, run: Run) -> Doubt | None:
    """Towards a service: the pool of each process, as it was told at its start."""
    told = run.environment.get("WEBDYNO_POOL", "")
    places = int(told) * (run.workers or 1) if told.isdecimal() else math.inf
    if cell.workload.service is None or places >= cell.load.connections:
        return None
    what = f"sends {cell.workload.service} at most {int(places):,} {'query' if places == 1 else 'queries'} at a time"
    return _doubt(cell, what, int(places))


def _slots(cell: Cell, run: Run) -> Doubt | None:
    """In its workers and threads, each of which sleeps through one request at a time."""
    floor_s = cell.workload.floor_ms / 1e3
    slots = (run.workers or 0) * (run.threads or 1)
    rate = cell.median(lambda window: window.rate_per_s)
    if not floor_s or not slots or rate is None or slots >= cell.load.connections:
        return None
    if not NEAR <= rate * floor_s / slots <= ABOVE:
        return None
    return _doubt(cell, f"handles {words.count(slots, 'request')} at a time (workers x threads)", slots)


def _doubt(cell: Cell, what: str, places: int) -> Doubt:
    return Doubt(
        kind="pool-limited",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} {what} for {words.count(cell.load.connections, 'connection')}: the others wait, "
        "and the size of its pool determines its rate",
        advice=POOL_LIMITED_ADVICE,
        numbers={"places": places, "connections": cell.load.connections},
    )
