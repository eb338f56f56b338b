"""Doubts about the schedule of an open load: was it offered as asked, and were the requests sent when they were due?

A load that is not offered measures another load, and a generator that is late measures itself. The latencies of an open
load count from due, so neither is hidden; but whose fault they are is said here.
"""

from __future__ import annotations

from webdyno.analyse.doubts import sentences
from webdyno.analyse.doubts.driver import generator_bound
from webdyno.analyse.latency import merge
from webdyno.analyse.objectives import OFFERED
from webdyno.analyse.table import Cell
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt

LATE = 0.1
"""Lag at p99, as a part of the response time at p99, from which on it is part of what is measured."""
NOT_OFFERED_ADVICE = "allow more max_connections, or use a rate that it can serve"
NOT_OFFERED_NOT_SENT_ADVICE = "remove the load generator's limit first (see generator-bound)"
SCHEDULE_LAG_ADVICE = "give the driver more cores, or use a lower rate"


def not_offered(cell: Cell) -> Doubt | None:
    """Less than 99 % of the requests that were due were sent: all connections were in use, or the driver waits for
    answers.
    """
    due = cell.median(_offered) if cell.load.poisson else cell.load.due  # by chance more or less come due
    sent = cell.median(_sent)
    if not due or sent is None or sent >= OFFERED * due:
        return None
    if generator_bound(cell) is not None:
        return _not_sent(cell, sent, due)
    return Doubt(
        kind="not-offered",
        severity="shades",
        subject=cell.name,
        sentence=sentences.not_offered(cell.name, sent / due),
        advice=NOT_OFFERED_ADVICE,
        numbers={"sent": sent, "due": due},
    )


def _not_sent(cell: Cell, sent: float, due: float) -> Doubt:
    return Doubt(
        kind="not-offered",
        severity="shades",
        subject=cell.name,
        sentence=sentences.not_sent(cell.name, sent / due),
        advice=NOT_OFFERED_NOT_SENT_ADVICE,
        numbers={"sent": sent, "due": due},
    )


def schedule_lag(cell: Cell) -> Doubt | None:
    """The driver itself was late with requests that had a connection: at p99, by a tenth of their p99."""
    lag, waited = cell.median(_lag_p99), cell.median(lambda window: window.points_ns.get("p99"))
    if not cell.load.is_open or lag is None or not waited or lag <= LATE * waited:
        return None
    return Doubt(
        kind="schedule-lag",
        severity="shades",
        subject=cell.name,
        sentence=sentences.late(cell.name, lag, waited),
        advice=SCHEDULE_LAG_ADVICE,
        numbers={"lag_ns": lag, "p99_ns": waited},
    )


def _offered(window: Window) -> float:
    return window.offered


def _sent(window: Window) -> float:
    return window.offered - window.errors.get("shed", 0)


def _lag_p99(window: Window) -> float | None:
    steady = (slice_ for slice_ in window.run.slices if slice_.phase == "steady")
    lag = merge(slice_.lag_hdr for slice_ in steady if slice_.lag_hdr)
    return None if lag is None else lag.percentiles_ns((0.99,))[0]
