"""Doubts about the load generator: when it is the limit, every server looks alike, and the table measures the tool."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.table import Cell, Evidence
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt

BOUND = 0.85
_LIMITS = {
    "wrk": "wrk checks no body, gives no time series, and adds samples it never took where it thinks it was late",
    "ab": "ab speaks HTTP/1.0, uses one thread, checks only the length of answers, and gives no time series",
}
"""What a driver cannot do, said once per study."""


def driver_share(window: Window) -> float | None:
    """CPU the driver used, as a share of the cores it had."""
    cores = len(window.run.rig.driver_cores)
    return None if window.driver_cores is None or not cores else window.driver_cores / cores


def generator_bound(cell: Cell) -> Doubt | None:
    """The driver ran out of CPU. Shades: the figure is a floor, and two such contenders are never told apart."""
    share = cell.median(driver_share)
    if share is None or share < BOUND:
        return None
    return Doubt(
        kind="generator-bound",
        severity="shades",
        subject=cell.name,
        sentence=f"the load generator used {words.share(share)} of its CPU against {cell.name}: its rate is a "
        "floor, it may be faster",
        advice="give the driver more cores, or a second machine",
        numbers={"driver_cpu": share},
    )


def driver_limits(evidence: Evidence) -> Doubt | None:
    """The study was driven by a tool that sees less than our own engine."""
    used = [driver for driver in dict.fromkeys(trial.driver for trial in evidence.plan.trials) if driver in _LIMITS]
    if not used:
        return None
    return Doubt(
        kind="driver-limits",
        severity="shades",
        subject="",
        sentence="; ".join(_LIMITS[driver] for driver in used),
        advice="run the study with the engine, which checks every answer, and compare the two",
        numbers={"drivers": ", ".join(used)},
    )
