"""Doubts about the load generator: when it is the limit, every server looks alike, and the table measures the tool."""

from __future__ import annotations

from collections.abc import Callable

from webdyno.analyse import words
from webdyno.analyse.table import Cell, Evidence
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt
from webdyno.model.driver import Can

BOUND = 0.85
COARSE_NS = 1_000_000
"""A millisecond: many an answer here takes less."""
_LACKS: tuple[tuple[Callable[[Can], bool], str], ...] = (
    (lambda can: not can.bodies, "compares no body with the right answer"),
    (lambda can: can.statuses != "exact", "judges a status only by its class"),
    (lambda can: "1.1" not in can.http, "asks in HTTP/1.0"),
    (lambda can: can.invents_samples, "adds latencies nobody measured"),
    (lambda can: can.latency_from != "sent", "counts the time to connect as latency"),
    (lambda can: (can.resolution_ns or 0) >= COARSE_NS, "counts latency in whole milliseconds"),
    (lambda can: not can.reconnects, "gives a connection up that the server closes unannounced, in silence"),
    (lambda can: not can.silence, "does not end requests that are never answered"),
    (lambda can: not can.series, "gives no figures by the second"),
    (lambda can: can.cores == "one", "uses one core only"),
)
"""What a driver may lack that our own engine has, the gravest first."""


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
        sentence=f"the load generator used {words.per_cent(share)} of its CPU against {cell.name}: its rate is a "
        "floor, it may be faster",
        advice="give the driver more cores, or a second machine",
        numbers={"driver_cpu": share},
    )


def driver_limits(evidence: Evidence) -> Doubt | None:
    """The study was driven by a tool that sees less than our own engine."""
    used = {run.driver_can.driver: run.driver_can for run in evidence.runs if run.driver_can}
    lacking = {name: found for name, can in used.items() if (found := [says for lacks, says in _LACKS if lacks(can)])}
    if not lacking:
        return None
    return Doubt(
        kind="driver-limits",
        severity="shades",
        subject="",
        sentence="; ".join(f"{name} {words.listing(found, len(_LACKS))}" for name, found in lacking.items()),
        advice="run the study with the engine, which checks every answer, and compare the two",
        numbers={name: len(found) for name, found in lacking.items()},
    )
