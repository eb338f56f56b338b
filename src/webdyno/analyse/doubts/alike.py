"""Doubt about tables in which everybody is equal: they measure what all contenders share, mostly the load generator.

Published tables of eight and of sixty servers within 1.5 % of each other were exactly that.
"""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.doubts.service_bound import BOUND as SERVICE_BOUND
from webdyno.analyse.doubts.service_bound import service_share
from webdyno.analyse.table import Cell, Table
from webdyno.analyse.window import used_of_own
from webdyno.model.doubt import Doubt

ALIKE = 0.02
FEWEST = 3
"""Two contenders may well be equally fast."""
AT_WORK = 0.85
"""A contender that used so much of the cores it can use was at its own limit: that is the proof otherwise."""
NEAR_BOUND = 0.9
ALL_EQUAL_ADVICE = (
    "give the load generator more cores or its own machine; `webdyno doctor --calibrate` measures its limit"
)
ALL_EQUAL_LOAD_BOUND_ADVICE = "use more connections"


def all_equal(table: Table) -> Doubt | None:
    """Three or more contenders are within 2 %, and not all of them were at the limit of their own CPU.

    The generator is the limit until proven otherwise: voids. Shades if the workload's own waiting explains it, because
    every rate is then 90 % or more of connections / service floor. Silent at an open pace, where all of them serve the
    requested rate.
    """
    rates = {cell.name: rate for cell in table.cells if (rate := cell.median(lambda window: window.rate_per_s))}
    if table.load.is_open or len(rates) < FEWEST:
        return None
    apart = max(rates.values()) / min(rates.values()) - 1
    served = [cell for cell in table.cells if cell.name in rates]
    if apart > ALIKE or all(_at_its_limit(cell) for cell in served):
        return None
    everyone = f"all {len(rates)} contenders are within {words.per_cent(apart)} of each other"
    numbers: dict[str, float | int | str] = {"apart": apart, "contenders": len(rates)}
    floor_s = table.workload.floor_ms / 1e3
    if floor_s > 0 and min(rates.values()) * floor_s >= NEAR_BOUND * table.load.connections:
        return _load_bound(table, everyone, numbers)
    return Doubt(
        kind="all-equal",
        severity="voids",
        subject="",
        sentence=f"{everyone}: this is the limit of something they share, the load generator until proven otherwise",
        advice=ALL_EQUAL_ADVICE,
        numbers=numbers,
    )


def _load_bound(table: Table, everyone: str, numbers: dict[str, float | int | str]) -> Doubt:
    many = table.load.connections
    allowed = f"{words.count(many, 'connection')} {'allows' if many == 1 else 'allow'}"
    return Doubt(
        kind="all-equal",
        severity="shades",
        subject="",
        sentence=f"{everyone}: each answers as often as {allowed}, so this load cannot distinguish them",
        advice=ALL_EQUAL_LOAD_BOUND_ADVICE,
        numbers=numbers,
    )


def _at_its_limit(cell: Cell) -> bool:
    """It used up its CPU, or the service behind it did."""
    used, service = cell.median(used_of_own), cell.median(service_share)
    return (used is not None and used >= AT_WORK) or (service is not None and service >= SERVICE_BOUND)
