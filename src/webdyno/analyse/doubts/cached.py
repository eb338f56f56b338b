"""Doubt about work that was not done: an answer that should come out of a service, and came out of a cache."""

from __future__ import annotations

from webdyno.analyse.table import Cell
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt

CHEAPEST_NS = 1_000
"""CPU of a service per answer. One read and one write on a socket cost it more than this, whatever it looks up."""
ENOUGH_ANSWERS = 1_000
"""With fewer, what a service does while nobody asks it costs as much as their share of its answers."""


def cached_service(cell: Cell) -> Doubt | None:
    """The service behind it used less CPU per right answer (1 us) than a question over a socket costs: nobody asked.

    In at least 1,000 answers. Voids: a contender that does not do the work is not compared with those that do.
    """
    if cell.workload.service is None:
        return None
    cost_ns = cell.median(_cost_ns)
    if cost_ns is None or cost_ns >= CHEAPEST_NS:
        return None
    return Doubt(
        kind="cached-service",
        severity="voids",
        subject=cell.name,
        sentence=f"{cell.workload.service} used {cost_ns / 1e3:.2g} µs of CPU for each answer of {cell.name}, less "
        "than it takes to read a question: the answers came from a cache, or from nowhere",
        advice="take the cache (or the made-up answer) out of the contender's app; the workload is to ask each time",
        numbers={"service_cpu_ns": cost_ns},
    )


def _cost_ns(window: Window) -> float | None:
    if window.service_cores is None or window.ok < ENOUGH_ANSWERS:
        return None
    return window.service_cores / window.rate_per_s * 1e9
