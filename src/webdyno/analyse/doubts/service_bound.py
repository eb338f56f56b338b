"""Doubt about the service as the limit: when its CPU is full, every contender in front of it looks alike."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.doubts.row import Numbers
from webdyno.analyse.table import Cell
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt

BOUND = 0.85
SERVICE_BOUND_ADVICE = (
    "give the service more cores or a machine of its own; contenders that it limited are not ranked against each other"
)


def service_share(window: Window) -> float | None:
    """CPU the service used, as a share of what it could: its cores, or fewer when it cannot use them all.

    On the driver's own cores, what the driver used is gone for the service too.
    """
    backing, cores = window.run.service, len(window.run.rig.service_cores)
    if window.service_cores is None or backing is None or not cores:
        return None
    driver_cores = window.steady.driver_cores
    if _shares(window) and driver_cores is not None:
        return (window.service_cores + driver_cores) / cores
    return window.service_cores / min(cores, backing.most_cores or cores)


def _shares(window: Window) -> bool:
    rig = window.run.rig
    return set(rig.service_cores) == set(rig.own_driver_cores)


def service_bound(cell: Cell) -> Doubt | None:
    """The service used 85 % of the CPU available to it.

    Shades: the figure is a floor, and of two such contenders neither is said to beat the other. A contender that left
    the service CPU to spare may be said to beat it: how much a contender asks of a service also matters.
    """
    share = cell.median(service_share)
    if share is None or share < BOUND:
        return None
    kinds = sorted({run.service.kind for run in cell.runs if run.service})
    together = any(_shares(window) for window in cell.windows)
    used = "and the load generator, on one core, together" if together else "alone"
    return Doubt(
        kind="service-bound",
        severity="shades",
        subject=cell.name,
        sentence=f"behind {cell.name}, {words.listing(kinds)} {used} used {words.per_cent(share)} of the CPU "
        "available to it: the service was the bottleneck, and the rate is the service's",
        advice=SERVICE_BOUND_ADVICE,
        numbers={"service_cpu": share},
    )


def room(_: Numbers) -> float:
    """None of its own: there is no bound where the other was held back too, and else the rate may be its own."""
    return 1.0
