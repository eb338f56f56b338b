"""The charts of one table: what is drawn of its Runs, and which contenders are drawn in colour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median_low

from webdyno.analyse.latency import Latency, together
from webdyno.analyse.table import Cell, Table
from webdyno.analyse.window import Window
from webdyno.model.verdict import Standing, Verdict
from webdyno.report import words
from webdyno.report.axis import Axis, logarithmic, nines, short, straight
from webdyno.report.markup import Markup
from webdyno.report.svg import STYLES, Dot, Frame, Point, Series, lines, scatter

_STEPS = (0.0, 0.15, 0.3, 0.5, 0.7, 0.85, 1.0, 1.15, 1.3, 1.5, 1.7, 1.85, 2.0, 2.15, 2.3, 2.5, 2.7, 2.85, 3.0, 3.3, 3.6)
_STEPS_RARE = (4.0, 4.3, 4.6, 5.0)
_RAREST = 5
"""Answers that must lie beyond a percentile for it to be drawn."""


def coloured(verdict: Verdict) -> dict[str, int]:
    """The contenders drawn in colour: the first ones, and the last for contrast."""
    names = [standing.contender for standing in words.served(verdict)]
    chosen = names if len(names) <= STYLES else [*names[: STYLES - 1], names[-1]]
    return {name: style for style, name in enumerate(chosen)}


def latency_chart(table: Table, styles: dict[str, int]) -> Markup | None:
    """Latency by percentile, all rounds together, the single rounds faintly; None without histograms."""
    series: list[Series] = []
    for cell in table.cells:
        rounds = [window.latency for window in cell.windows if window.latency is not None]
        whole = together(rounds)
        if whole is None:
            continue
        points = _percentiles(whole)
        series.append(
            Series(
                name=cell.name,
                points=points,
                style=styles.get(cell.name),
                faint=[_percentiles(each) for each in rounds] if cell.name in styles else (),
                hint=f"{cell.name}: p50 {words.time_ns(_at(whole, 0.5))}, p99 {words.time_ns(_at(whole, 0.99))}",
                marked=[point for point in points if point[0] in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)],
            )
        )
    if not series:
        return None
    heights = [y for one in series for part in (one.points, *one.faint) for _, y in part]
    reach = max(one.points[-1][0] for one in series)
    frame = Frame(nines(reach), _milliseconds(heights), 560, 330)
    return lines(frame, series, "Latency by percentile, one line for each contender")


def _percentiles(latency: Latency) -> list[Point]:
    """Points on the scale of nines, as far as enough answers lie beyond them."""
    most = math.log10(max(latency.count / _RAREST, 10))
    steps = [step for step in (*_STEPS, *_STEPS_RARE) if step <= most]
    values = latency.percentiles_ns([1 - 10.0**-step for step in steps])
    return [(step, value / 1e6) for step, value in zip(steps, values, strict=True)]


def _at(latency: Latency, share: float) -> float:
    return latency.percentiles_ns([share])[0]


def _milliseconds(values: Sequence[float]) -> Axis:
    return logarithmic("ms", [value for value in values if value > 0], lambda ms: f"{ms:g}")


def rate_chart(table: Table, styles: dict[str, int]) -> Markup | None:
    """Requests per second, Slice by Slice, warm-up included; None when no driver gave a series."""
    series: list[Series] = []
    for cell in table.cells:
        if not cell.windows or cell.name not in styles:
            continue
        middle = _middle_round(cell)
        series.append(
            Series(
                name=cell.name,
                points=_by_slice(middle),
                style=styles[cell.name],
                faint=[_by_slice(window) for window in cell.windows if window is not middle],
                hint=f"{cell.name}, round {middle.run.trial.round}: {words.rate(middle.rate_per_s)}",
                marked=_by_slice(middle) if len(_by_slice(middle)) <= 12 else (),
            )
        )
    if not any(len(one.points) > 2 for one in series):
        return None
    points = [point for one in series for part in (one.points, *one.faint) for point in part]
    first, last = min(x for x, _ in points), max(x for x, _ in points)
    x = straight("seconds of the steady phase", [last], lambda s: f"{s:g}")
    x = Axis(x.title, min(first, 0.0) - 0.05, last, tuple(tick for tick in x.ticks if tick[0] <= last))
    shade = (x.low, 0.0, "warm-up") if first < 0 else None
    y = straight("requests/s", [y for _, y in points], short)
    return lines(
        Frame(x, y, 1140, 290, shade=shade), series, "Requests per second over time, one line for each contender"
    )


def _middle_round(cell: Cell) -> Window:
    middle = median_low(window.rate_per_s for window in cell.windows)
    return next(window for window in cell.windows if window.rate_per_s == middle)


def _by_slice(window: Window) -> list[Point]:
    """Rate of each Slice at its middle, in seconds from the beginning of the steady phase."""
    slices = [slice_ for slice_ in window.run.slices if slice_.duration_ns > 0]
    before = sum(slice_.duration_ns for slice_ in slices if slice_.phase == "warmup")
    points: list[Point] = []
    passed = -before
    for slice_ in slices:
        points.append(((passed + slice_.duration_ns / 2) / 1e9, slice_.ok / slice_.duration_ns * 1e9))
        passed += slice_.duration_ns
    return points


def efficiency_chart(standings: Sequence[Standing], styles: dict[str, int]) -> Markup | None:
    """Requests per CPU second against peak memory: up and left is better; None with less than two to compare."""
    dots = [
        Dot(
            name=standing.contender,
            point=(standing.memory_peak.value / 2**20, 1e9 / standing.cpu_per_request.value),
            style=styles.get(standing.contender),
            hint=f"{standing.contender}: {words.size(standing.memory_peak)}, "
            f"{words.time_ns(standing.cpu_per_request)} per request",
        )
        for standing in standings
        if standing.memory_peak
        and standing.cpu_per_request
        and standing.memory_peak.value
        and standing.cpu_per_request.value
    ]
    if len(dots) < 2:
        return None
    x = logarithmic("peak memory, MiB", [dot.point[0] for dot in dots], lambda mib: f"{mib:g}")
    y = logarithmic("requests per CPU second", [dot.point[1] for dot in dots], short)
    frame = Frame(x, y, 560, 330, right=40.0, left=54.0)
    return scatter(frame, dots, "Requests per CPU second against peak memory, one point for each contender")
