"""Limits: why a contender did not serve more, from what its processes, its connections and its memory did meanwhile.

A server under a closed load is busy, or it waits; both are seen from outside. Busy: on all the cores it has, or on one
of several (a global lock, one process). Waiting: for the load generator, for the service behind it, for its own
clients to connect again, for memory, or for something we cannot see (a timer, a lock, a full pool). What is named first
is what would have to go first. Utilisation as the first question: B. Gregg (2013), Thinking methodically about
performance, Communications of the ACM 56 (the USE method).
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from webdyno.analyse import words
from webdyno.analyse.doubts.connections import CLOSING_BELOW
from webdyno.analyse.doubts.machine import foreign_cores
from webdyno.analyse.doubts.processes import NEAR_LIMIT
from webdyno.analyse.table import Cell
from webdyno.analyse.window import Window, process_shares
from webdyno.model.limit import Limit

BUSY = 0.90
"""Of its cores: what is left goes to the kernel's own work and to the readings' grain."""
IDLE = 0.60
GENERATOR = 0.85
TAKEN = 0.10
"""Cores' worth that other programs or the hypervisor had."""
ONE = (0.85, 1.15)
"""Cores' worth of one that works and others that do not."""


def limits(cell: Cell) -> list[Limit]:
    """What holds it back, the nearest first; empty where nothing was read, or nothing stands out."""
    if not cell.windows:
        return []
    found = [rule(cell) for rule in _RULES]
    told = [limit for limit in found if limit is not None]
    busy = {limit.kind for limit in told} & {"cpu", "one-core", "generator", "service"}
    waiting = None if busy else _waiting(cell)
    return told if waiting is None else [*told, waiting]


def _cpu(cell: Cell) -> Limit | None:
    used, cores = _used(cell), _cores(cell)
    if used is None or not cores or used < BUSY * cores:
        return None
    all_of = "its one core was" if cores == 1 else f"all of its {cores} cores were"
    return Limit(
        kind="cpu",
        says=f"is CPU-bound: {all_of} {words.per_cent(min(used / cores, 1.0))} busy",
        numbers={"cores_used": used, "cores": float(cores)},
    )


def _one_core(cell: Cell) -> Limit | None:
    used, cores = _used(cell), _cores(cell)
    if used is None or cores < 2 or not ONE[0] <= used <= ONE[1] or used >= BUSY * cores:
        return None
    shares = [max(found.values()) for window in cell.windows if (found := process_shares(window.run))]
    alone = not shares or median(shares) > 0.8
    why = "one process does the work" if alone else "its processes take turns"
    return Limit(
        kind="one-core",
        says=f"is bound by one core of {cores}: it uses {used:.2f} cores, {why}",
        numbers={"cores_used": used, "cores": float(cores)},
    )


def _generator(cell: Cell) -> Limit | None:
    used = cell.median(lambda window: window.driver_cores)
    cores = len(cell.windows[0].run.rig.driver_cores)
    if used is None or not cores or used < GENERATOR * cores:
        return None
    return Limit(
        kind="generator",
        says=f"got no more requests: the load generator was {words.per_cent(min(used / cores, 1.0))} busy",
        numbers={"cores_used": used, "cores": float(cores)},
    )


def _service(cell: Cell) -> Limit | None:
    used = cell.median(lambda window: window.service_cores)
    cores = len(cell.windows[0].run.rig.service_cores)
    if used is None or not cores or used < BUSY * min(cores, 1):
        return None
    return Limit(
        kind="service",
        says=f"waits for the service behind it, which used {used:.2f} cores",
        numbers={"cores_used": used, "cores": float(cores)},
    )


def _closing(cell: Cell) -> Limit | None:
    each = cell.requests_per_connection
    if each is None or each >= CLOSING_BELOW or not cell.load.keep_alive:
        return None
    return Limit(
        kind="closing",
        says=f"sets up a new connection for nearly every answer ({each:.2f} requests per connection)",
        numbers={"requests_per_connection": each},
    )


def _memory(cell: Cell) -> Limit | None:
    limit = cell.windows[0].run.rig.memory_bytes
    peak = max((window.run.memory_peak_bytes or 0 for window in cell.windows), default=0)
    if not limit or peak < NEAR_LIMIT * limit:
        return None
    return Limit(
        kind="memory",
        says=f"is at its memory limit ({words.size(peak)} of {words.size(limit)})",
        numbers={"peak_bytes": float(peak), "limit_bytes": float(limit)},
    )


def _backlog(cell: Cell) -> Limit | None:
    """A short queue matters where connections keep arriving, not where they come once and stay."""
    queues = [w.run.probe.backlog for w in cell.windows if w.run.probe and w.run.probe.backlog is not None]
    each = cell.requests_per_connection
    shortest = min(queues, default=None)
    if shortest is None or shortest >= cell.load.connections or each is None or each >= CLOSING_BELOW:
        return None
    queue = words.count(shortest, "connection")
    return Limit(
        kind="backlog",
        says=f"lets at most {queue} queue, and {cell.load.connections:,} connect again and again",
        numbers={"backlog": float(shortest), "connections": float(cell.load.connections)},
    )


def _waiting(cell: Cell) -> Limit | None:
    """Silent where others had the CPU: what looks idle then was taken."""
    used, cores = _used(cell), _cores(cell)
    if used is None or not cores or used > IDLE * cores or (cell.median(_taken) or 0.0) > TAKEN:
        return None
    floor = cell.workload.floor_ms
    what = f"each answer takes {floor:g} ms by design" if floor else "for a timer, a lock or its own full pool"
    return Limit(
        kind="waiting",
        says=f"waits: its cores are {words.per_cent(1 - used / cores)} idle, {what}",
        numbers={"cores_used": used, "cores": float(cores)},
    )


def _taken(window: Window) -> float | None:
    foreign = foreign_cores(window)
    return None if foreign is None else foreign + (window.steal_cores or 0.0)


def _used(cell: Cell) -> float | None:
    return cell.median(lambda window: window.contender_cores)


def _cores(cell: Cell) -> int:
    return len(cell.windows[0].run.rig.contender_cores)


_RULES: tuple[Callable[[Cell], Limit | None], ...] = (
    _generator,
    _service,
    _memory,
    _cpu,
    _one_core,
    _closing,
    _backlog,
)
