"""Doubt about memory that is not given back: a server that is fast for the minute it is measured and dead by night."""

from __future__ import annotations

import statistics

from webdyno.analyse import words
from webdyno.analyse.leak import growths, is_leak, staying
from webdyno.analyse.table import Cell
from webdyno.model.doubt import Doubt

LEAKS_ADVICE = (
    "measure for longer (--duration 60s): a cache levels off, a leak does not; then look for what requests leave "
    "behind in lists, dictionaries and listeners that live as long as the process"
)


def leaks(cell: Cell) -> Doubt | None:
    """Its memory grew by the same amount for every request, until the end of its rounds, and by more than a heap
    normally varies. A cache that levels off, the steps of an allocator and the ups and downs of a garbage collector do
    not grow like this.
    """
    found = growths(cell)
    estimate = staying(found)
    if estimate is None or not is_leak(found, cell.contender.runtime):
        return None
    grown = statistics.median(each.total_bytes for each in found)
    sure = ""
    if estimate.low is not None and estimate.high is not None:
        sure = f" ({words.size(estimate.low)} to {words.size(estimate.high)})"
    return Doubt(
        kind="leaks",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} keeps {words.size(estimate.value)} of memory with every request{sure}: it grew by "
        f"{words.size(grown)} in a round and was still growing at its end, so it leaks, or is still filling a cache",
        advice=LEAKS_ADVICE,
        numbers={"bytes_per_request": estimate.value, "grown_bytes": grown, "rounds": estimate.rounds},
    )
