"""Doubt about work that was not done: an answer that should come out of a service, and came out of a cache."""

from __future__ import annotations

from webdyno.analyse.table import Cell
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt

CHEAPEST_NS = 1_000
"""CPU of a service per answer. One read and one write on a socket cost it more than this, whatever it looks up."""
NOBODY_NS = 200
"""The same where many questions share the read and the write: each is still parsed, looked up and answered."""
ENOUGH_ANSWERS = 1_000
"""With fewer, what a service does while nobody asks it costs as much as their share of its answers."""
ENOUGH_IN_TICKS = 10_000
"""Where no cgroup counts its CPU, the kernel tells it in ticks of 10 ms, and fewer answers may fit between two."""
CACHED_SERVICE_ADVICE = (
    "remove the cache (or the made-up answer) from the contender's app: the workload requires a query each time"
)
CACHED_SERVICE_AT_ONCE_ADVICE = (
    "look in the contender's app for a cache; if its client sends many queries at once, the figure is correct"
)


def cached_service(cell: Cell) -> Doubt | None:
    """The service behind it used less CPU per correct answer (1 us) than a query over a socket costs.

    Needs at least 1,000 answers, or 10,000 if CPU is counted in ticks. Voids below 0.2 us: the service was not asked,
    and a contender that does not do the work is not compared with those that do. Above that, its client may send many
    queries at once.
    """
    if cell.workload.service is None:
        return None
    cost_ns = cell.median(_cost_ns)
    if cost_ns is None or cost_ns >= CHEAPEST_NS:
        return None
    if cost_ns >= NOBODY_NS:
        return _at_once(cell, cost_ns)
    return Doubt(
        kind="cached-service",
        severity="voids",
        subject=cell.name,
        sentence=f"{cell.workload.service} used {cost_ns / 1e3:.2g} µs of CPU for each answer of {cell.name}, "
        "less than it takes to read a query: the answers came from a cache, or were made up",
        advice=CACHED_SERVICE_ADVICE,
        numbers={"service_cpu_ns": cost_ns},
    )


def _at_once(cell: Cell, cost_ns: float) -> Doubt:
    return Doubt(
        kind="cached-service",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.workload.service} used {cost_ns / 1e3:.2g} µs of CPU for each answer of {cell.name}, "
        "less than one query by itself costs: some answers came from a cache, or its client sends many queries at once",
        advice=CACHED_SERVICE_AT_ONCE_ADVICE,
        numbers={"service_cpu_ns": cost_ns},
    )


def _cost_ns(window: Window) -> float | None:
    enough = ENOUGH_IN_TICKS if window.run.rig.cgroup == "none" else ENOUGH_ANSWERS
    if window.service_cores is None or window.steady.ok < enough:
        return None
    return window.service_cores / window.steady.rate_per_s * 1e9
