"""WarmUp: cold start, first answer and time to the steady state of every contender in a table.

The cold start belongs to a server's start, so it has an interval over rounds like every other figure. Where a Run
settles is known to one Slice only; of that the middle round is told, and from six rounds on the interval that any
distribution allows, where all of them settled.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median

import msgspec

from webdyno.analyse.middle import middle
from webdyno.analyse.steady import Course, course
from webdyno.analyse.steps import fit_figure
from webdyno.analyse.table import Cell, Table
from webdyno.analyse.window import Window
from webdyno.model.estimate import Estimate
from webdyno.model.warmup import WarmUp


def warm_ups(table: Table) -> dict[str, WarmUp]:
    """By contender; without those that no round succeeded of."""
    cold = fit_figure(table, _ready_ns)
    first = fit_figure(table, _first_answer_ns)
    return {
        cell.name: _of(
            [course(window.run) for window in cell.windows],
            cold_start=cold.estimate(cell.name, "ns") if cold and cell.name in cold.names else None,
            first_answer=first.estimate(cell.name, "ns") if first and cell.name in first.names else None,
        )
        for cell in table.cells
        if cell.windows
    }


def unsettled(cell: Cell) -> tuple[int, int]:
    """Rounds that never settled, of those whose course could be read."""
    courses = _read(cell)
    return sum(not each.settled for each in courses), len(courses)


def too_short_s(cell: Cell) -> int | None:
    """Whole seconds, warm-up included, that were not enough: until the last level of the rounds that never settled.

    The middle of these rounds; the length of the load where it had none. None: all rounds settled.
    """
    late = [each.levels_ns for each in _read(cell) if not each.settled and each.levels_ns is not None]
    return math.ceil(median(late) / 1e9) if late else None


def _read(cell: Cell) -> list[Course]:
    return [each for window in cell.windows if (each := course(window.run)).read]


def _of(courses: list[Course], **figures: Estimate | None) -> WarmUp:
    read = [each for each in courses if each.read]
    never = sum(not each.settled for each in read)
    return WarmUp(
        settled=_middle((each.settled_ns for each in read), never),
        to_95=_middle((each.to_95_ns for each in read), never),
        read=len(read),
        unsettled=never,
        **figures,
    )


def _middle(values: Iterable[int | None], never: int) -> Estimate | None:
    """No interval where a round never settled: its time is not known, only that it is longer than all of its load."""
    known = [float(value) for value in values if value is not None]
    if not known:
        return None
    found = middle(known, "ns")
    return msgspec.structs.replace(found, low=None, high=None) if never else found


def _ready_ns(window: Window) -> float | None:
    return window.run.probe.ready_ns if window.run.probe and not window.run.reused else None


def _first_answer_ns(window: Window) -> float | None:
    return window.run.probe.first_answer_ns if window.run.probe and not window.run.reused else None
