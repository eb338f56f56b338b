"""Doubts about windows that were too short for what happened in them: for the time-out of a request that hung, and for
connections that wait long for their turn.
"""

from __future__ import annotations

from webdyno.analyse.doubts import sentences
from webdyno.analyse.error_share import error_share
from webdyno.analyse.patience import CYCLES, least_rate_per_s, outlasted
from webdyno.analyse.table import Cell
from webdyno.analyse.unanswered import could_have_failed
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt

HIDDEN = 0.01
"""Of the requests: what may be missing in the error rate before it is worth a sentence."""
SHORT_WINDOW_ADVICE = (
    "measure for longer than the time-out (--duration), or give the load a shorter one (timeout_s in the study's file)"
)
FEW_CYCLES_ADVICE = "measure longer (--duration), or use fewer connections"


def short_window(cell: Cell) -> Doubt | None:
    """Requests hung at the end of a window that is shorter than their time-out: 1 % or more of the requests of a round.

    Silent if the driver drops the requests in flight at the end.
    """
    told = [window for window in cell.windows if window.run.driver_can is None or window.run.driver_can.unfinished]
    if not told or not outlasted(cell.load):
        return None
    worst = max(told, key=_hidden)
    if _hidden(worst) < HIDDEN:
        return None
    left = could_have_failed(worst.run, worst.points_ns.get("p99"))
    return Doubt(
        kind="short-window",
        severity="shades",
        subject=cell.name,
        sentence=sentences.short_window(cell.name, left, cell.load),
        advice=SHORT_WINDOW_ADVICE,
        numbers={"left": left, "asked": left + worst.ok + sum(worst.errors.values())},
    )


def _hidden(window: Window) -> float:
    """By how much its error rate would be higher, had they all failed."""
    left = could_have_failed(window.run, window.points_ns.get("p99"))
    return error_share(window.errors, window.ok, left) - window.error_ratio


def few_cycles(cell: Cell) -> Doubt | None:
    """The steady phase of a round had fewer than three answers for each connection, all of a closed load."""
    if least_rate_per_s(cell.load) is None or not cell.windows:
        return None
    each = min(window.steady.ok for window in cell.windows) / cell.load.connections
    if each >= CYCLES:
        return None
    return Doubt(
        kind="few-cycles",
        severity="shades",
        subject=cell.name,
        sentence=sentences.few_cycles(cell.name, each, cell.load.connections),
        advice=FEW_CYCLES_ADVICE,
        numbers={"answers_per_connection": each, "connections": cell.load.connections},
    )
