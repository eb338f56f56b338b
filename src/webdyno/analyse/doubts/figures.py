"""Doubts about the figures themselves: a mean sold as a percentile, a phase of which only a part was counted, and
answers so few that the one under way at the end would have changed the rate.

Both were published: one suite stored its tool's mean as p99, another the last second of a ramp as the rate of the run.
"""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.doubts.row import Numbers
from webdyno.analyse.error_share import NOT_AN_ERROR
from webdyno.analyse.steps import at_once
from webdyno.analyse.table import Cell
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt

SAME = 0.001
UNITS = 100
"""Latencies of fewer units of what the driver can tell are equal by rounding alone."""
WHOLE = 0.8
"""Part of the phase that was asked for."""
FEW = 100
"""Answers of a window."""
UNCOUNTED = 0.02
"""Requests being served at the end, as a share of the answers."""
P99_IS_MEAN_ADVICE = "do not use its percentiles; the engine keeps every latency in a histogram"
PART_OF_PHASE_ADVICE = "look at the driver's log for why it stopped counting, and measure again"
FEW_ANSWERS_ADVICE = "measure for a hundred times as long as one answer takes (--duration)"


def p99_is_mean(cell: Cell) -> Doubt | None:
    """The driver gave a p99 that equals its mean to 0.1 % in every round.

    Only if the driver gave points instead of a histogram, and if the answers do not all take the time of one sleep.
    """
    given = [window for window in cell.windows if window.latency is None and window.points_ns.get("p99")]
    if not given or not all(_same(window, cell.workload.floor_ms * 1e6) for window in given):
        return None
    points = given[0].points_ns
    return Doubt(
        kind="p99-is-mean",
        severity="shades",
        subject=cell.name,
        sentence=f"the p99 of {cell.name} is its mean ({words.time_ns(points['p99'])}) in "
        f"{words.count(len(given), 'round')}: {given[0].run.trial.driver} reported a mean as a percentile",
        advice=P99_IS_MEAN_ADVICE,
        numbers={"p99_ns": points["p99"], "mean_ns": points["mean"]},
    )


def _same(window: Window, floor_ns: float) -> bool:
    p99, mean = window.points_ns["p99"], window.points_ns.get("mean")
    unit = (window.run.driver_can.resolution_ns if window.run.driver_can else None) or 1
    return mean is not None and abs(p99 - mean) <= SAME * mean and p99 >= UNITS * unit and floor_ns < p99 / 2


def part_of_phase(cell: Cell) -> Doubt | None:
    """The counted time covers less than 80 % of the requested steady phase, in any round.

    Silent for turns: a block gives its members as many turns as there is time for, and slow members longer ones.
    """
    asked = cell.load.duration_s
    if asked is None or cell.load.count is not None or not cell.windows:
        return None
    least = min((_counted_s(window) for window in cell.windows if window.turned is None), default=asked)
    if least >= WHOLE * asked:
        return None
    return Doubt(
        kind="part-of-phase",
        severity="voids",
        subject=cell.name,
        sentence=f"the figures of {cell.name} are of {least:.2g} s out of the {asked:.3g} s that were asked "
        "for: part of a run may be faster or slower than the whole, so it is not ranked",
        advice=PART_OF_PHASE_ADVICE,
        numbers={"seconds": least, "asked_s": asked},
    )


def _counted_s(window: Window) -> float:
    """Length of the steady phase, whatever part of it the figures are made from."""
    return sum(slice_.duration_ns for slice_ in window.run.slices if slice_.phase == "steady") / 1e9


def few_answers(cell: Cell) -> Doubt | None:
    """The requests in progress at the end of the window amount to 2 % or more of the answers, which no interval
    includes.

    For windows with less than 100 answers, or if answers wait and arrive in steps (see ``steps``). Each round may end
    at the same point of a step, and then the rate is too low by the same share in each. By Little's law the number in
    progress is the number that arrive in the time of one answer. A request that waits for a place is not lost, because
    another one has that place. Shades: the rate is a floor, by that much. Silent for turns: they end when no request is
    in flight.
    """
    windows = [window for window in cell.windows if window.turned is None]
    if cell.load.is_open or not windows:
        return None
    worst = max(windows, key=lambda window: _served(window, cell) / window.ok)
    served = _served(worst, cell)
    if served < UNCOUNTED * worst.ok or not (worst.ok < FEW or served > 1):
        return None
    return Doubt(
        kind="few-answers",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} gave {words.count(worst.ok, 'answer')} in {worst.seconds:.3g} s and was working "
        f"on {served:,} more at the end: only whole answers count, so its rate may be up to "
        f"{words.per_cent(served / worst.ok)} higher, whatever its interval says",
        advice=FEW_ANSWERS_ADVICE,
        numbers={"answers": worst.ok, "at_work": served, "seconds": worst.seconds},
    )


def room(numbers: Numbers) -> float:
    """The answers that were under way at the end, all of them counted."""
    return 1 + float(numbers["at_work"]) / float(numbers["answers"])


def _served(window: Window, cell: Cell) -> int:
    """Of the requests without an answer at the end, those that were being served; 0 too where the driver tells none."""
    return min(window.run.slices[-1].errors.get(NOT_AN_ERROR, 0), at_once(window, cell))
