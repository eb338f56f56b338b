"""A capacity as people read it: the answer first, then what it costs, the curve, and why not to trust it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webdyno.analyse.capacity import Capacity, Point
from webdyno.analyse.words import MISSING, count, per_cent, plain, rate, size, time_ns, with_interval

_COLUMNS = ("rate", "answered", "p50", "p99", "errors", "CPU", "memory", "met")


def capacity_lines(what: str, slo: str, found: Capacity, doubts: Sequence[str] = (), of: str = "starts") -> list[str]:
    """Every line of the answer; ``of`` is what differs from trial to trial, for a server that is not restarted."""
    table = ["", *_table(found.curve)] if found.curve else []
    return [answer(what, slo, found), *_facts(found, of), *table, *(f"  doubt: {doubt}" for doubt in doubts)]


def answer(what: str, slo: str, found: Capacity) -> str:
    """One sentence, whatever the search came to."""
    head = f"{what} under {slo}"
    if found.rate is not None:
        told = f"{head}: {with_interval(found.rate, 'requests/s')}, from {count(found.trials, 'trial')}"
        return told + ("" if found.ended == "known" else "; not precise enough yet, use a longer --budget")
    if found.at_least_per_s is not None:
        told = f"{head}: at least {rate(found.at_least_per_s)}; the objectives were met at every rate that was tried"
        return told + (
            "" if found.ended == "always-met" else "; the upper bound is not known yet, use a longer --budget"
        )
    if found.ended == "never-met":
        return f"{head}: never met, not even at {rate(found.curve[0].rate_per_s)}"
    if found.curve:
        return f"{head}: not known yet; missed at every rate down to {rate(found.curve[0].rate_per_s)}"
    return f"{head}: not known yet; " + (
        "the load generator could reach none of the rates that were tried" if found.trials else "nothing was tried"
    )


def _facts(found: Capacity, of: str) -> Iterator[str]:
    if found.nine_of_ten is not None:
        yield f"  nine of ten {of} meet it up to {with_interval(found.nine_of_ten, 'requests/s')}"
    if found.per_core is not None:
        yield f"  per core: {plain(found.per_core)} requests/s for each core's worth of CPU it used"
    if found.per_gb is not None:
        yield f"  per GB: {plain(found.per_gb)} requests/s for each GB of peak memory"
    if found.knee is not None:
        knee = found.knee
        yield (
            f"  knee of p99: {rate(knee.knee_per_s)}; beyond it, waiting grows faster than the rate (fitted: "
            f"{time_ns(knee.idle_ns)} when idle, infinite at {rate(knee.limit_per_s)})"
        )


def _table(curve: Sequence[Point]) -> Iterator[str]:
    rows = [_COLUMNS, *(_row(point) for point in curve)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_COLUMNS))]
    for row in rows:
        yield "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))


def _row(point: Point) -> tuple[str, ...]:
    return (
        rate(point.rate_per_s),
        rate(point.ok_per_s),
        MISSING if point.p50_ns is None else time_ns(point.p50_ns),
        MISSING if point.p99_ns is None else time_ns(point.p99_ns),
        per_cent(point.error_ratio),
        MISSING if point.cores is None else per_cent(point.cores),
        MISSING if point.memory_bytes is None else size(point.memory_bytes),
        f"{point.met} of {point.trials}",
    )
