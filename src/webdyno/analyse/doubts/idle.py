"""Doubt about a contender that idles while it is waited for: it is slow for another reason than its work.

A server was once published as the slowest of a field at 336 answers per second, with its CPU idle: it was configured
to hold on to connections on which nobody asked.
"""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.doubts.driver import driver_share, strain_in
from webdyno.analyse.doubts.machine import foreign_cores
from webdyno.analyse.doubts.physics import delayed_ack
from webdyno.analyse.doubts.throttled import throttled
from webdyno.analyse.table import Cell
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt

IDLE_BELOW = 0.5
"""Of one core, over the whole process tree."""
CLIENTS = 4
"""With fewer clients per core a server has nothing to do while they read."""
TAKEN = 0.3
"""Cores' worth that somebody else used: then it may have been kept from working."""
IDLE_WHILE_SLOW_ADVICE = (
    "look at its settings for workers and keep-alive, and at requests per connection; its rate says little about "
    "its speed"
)


def idle_while_slow(cell: Cell) -> Doubt | None:
    """It used less than half a core while 4 or more clients per core waited, on a workload that only computes.

    Silent if something else explains it: a service, a quota, a shared core, another program, a delayed acknowledgement,
    or a load generator at its own limit.
    """
    work = cell.workload
    if cell.load.is_open or work.kind != "cpu" or work.service or work.service_floor_ms or not cell.windows:
        return None
    used, share, clients = cell.median(lambda window: window.contender_cores), cell.median(driver_share), _clients(cell)
    if used is None or share is None or used >= IDLE_BELOW or strain_in(cell).limit or clients < CLIENTS:
        return None
    if any(_explained(window) for window in cell.windows) or delayed_ack(cell) or throttled(cell):
        return None
    return Doubt(
        kind="idle-while-slow",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} used {words.per_cent(used)} of one core while {cell.load.connections:,} clients waited: "
        "something other than work limits it, such as a lock, a timer, or connections that it keeps needlessly",
        advice=IDLE_WHILE_SLOW_ADVICE,
        numbers={"cores": used, "connections": cell.load.connections},
    )


def _clients(cell: Cell) -> float:
    return cell.load.connections / max(1, len(cell.windows[0].run.rig.contender_cores))


def _explained(window: Window) -> bool:
    taken = (foreign_cores(window) or 0.0) + (window.steal_cores or 0.0)
    return window.run.rig.shares_cores or taken >= TAKEN
