"""Steps: the part of a window's answers that comes at one moment, below which its count says nothing.

A handler that waits gives its answers in batches, as many at once as are served at once. Whether the window ends just
before or just after a batch is chance where rounds begin at different points of it, and a bias where all begin at the
same; so a rate is known to one batch and no better, however alike the rounds are. A handler that computes gives one
answer after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from webdyno.analyse.blocks import least_variances, level_variances
from webdyno.analyse.estimate import Cells, Fit, fit
from webdyno.analyse.table import Cell, Table
from webdyno.analyse.window import WAITS, Window, used_of_own


def steps_of(cells: Iterable[Cell]) -> dict[tuple[str, int], float]:
    """By contender and round, the part of the rate that came in one step. A turn ends when all have their answer."""
    return {
        (cell.name, window.run.trial.round): at_once(window, cell) / window.ok
        for cell in cells
        for window in cell.windows
        if window.turned is None
    }


def fit_figure(
    table: Table, of: Callable[[Window], float | None], *, trimmed: bool = False, rate: bool = False
) -> Fit | None:
    """One figure of a table, fitted; a ``rate`` with what is known of it."""
    return fit(table.figures(of), trimmed=trimmed, met=table.met, **(known_of(table) if rate else {}))


def known_of(table: Table) -> dict[str, Cells]:
    """Of the rates of a table, as ``fit`` asks: they are known to one step of their answers and no better, nor better
    than turns show; and what a contender usually loses to the hypervisor is not known for sure."""
    windows = table.windows
    return {
        "steps": steps_of(table.cells),
        "least": least_variances(windows),
        "more": level_variances(windows),
    }


def at_once(window: Window, cell: Cell) -> int:
    """Answers that may come at one moment: by Little's law as many as come in the time that one takes.

    That time is the workload's own waiting, where it says it; else, of a contender that waits, what its first answer
    took, when there was no queue. Behind a service they come one by one, and at an open pace as they are asked. A load
    that begins with its window and ends by a count ends with its last answer, so there is no step that it could cut: 0.
    """
    if _is_whole(window):
        return 0
    if cell.load.is_open or cell.workload.service:
        return 1
    taken_s = cell.workload.service_floor_ms / 1e3 or _waited_s(window)
    return max(1, min(cell.load.connections, round(window.rate_per_s * taken_s)))


def _is_whole(window: Window) -> bool:
    asked = window.run.trial.asked
    return asked.count is not None and not asked.warmup_s


def _waited_s(window: Window) -> float:
    used, probe = used_of_own(window), window.run.probe
    if used is None or used >= WAITS or probe is None or probe.first_answer_ns is None:
        return 0.0
    return probe.first_answer_ns / 1e9
