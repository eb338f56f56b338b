"""The charts of one table: which contenders are drawn in colour, latency by percentile, and speed against memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

from webdyno.analyse.latency import PERCENTILES, Latency, merge, together
from webdyno.analyse.steady import steady_slices
from webdyno.analyse.table import Table
from webdyno.analyse.window import Window
from webdyno.model.curve import Percentiles
from webdyno.model.verdict import Standing, Verdict
from webdyno.report import words
from webdyno.report.axis import Axis, logarithmic, nines, short
from webdyno.report.labels import Point
from webdyno.report.markup import Markup
from webdyno.report.svg import STYLES, Dot, Frame, Series, lines, room, scatter

_STEPS = (0.0, 0.15, 0.3, 0.5, 0.7, 0.85, 1.0, 1.15, 1.3, 1.5, 1.7, 1.85, 2.0, 2.15, 2.3, 2.5, 2.7, 2.85, 3.0, 3.3, 3.6)
_STEPS_RARE = (4.0, 4.3, 4.6, 5.0)
_PARTS = {**{name: 100 * share for name, share in PERCENTILES.items()}, "latency_max": 100.0}
_CROWDED = (98.0, 99.0)
"""Beside 100, on a straight axis, their texts would touch."""
_RAREST = 5
"""Answers that must lie beyond a percentile for it to be drawn."""


def palettes(orders: Sequence[Sequence[str]]) -> list[dict[str, int]]:
    """For each chart's contenders, best first, those drawn in colour: the first ones, and the last for contrast.

    A contender keeps its colour from chart to chart, as far as the colours of one chart are not taken.
    """
    known: dict[str, int] = {}
    found: list[dict[str, int]] = []
    for names in orders:
        chosen = list(names) if len(names) <= STYLES else [*names[: STYLES - 1], names[-1]]
        styles: dict[str, int] = {}
        for name in chosen:
            if name in known and known[name] not in styles.values():
                styles[name] = known[name]
        free = [style for style in range(STYLES) if style not in styles.values()]
        for name in chosen:
            if name not in styles:
                styles[name] = known[name] = free.pop(0)
        found.append({name: styles[name] for name in chosen})
    return found


def ordered(verdict: Verdict) -> list[str]:
    """The contenders of a table that may be drawn in colour, best first."""
    names = [standing.contender for standing in verdict.standings if standing.place is not None]
    return names or [standing.contender for standing in words.served(verdict)]


def latency_chart(table: Table, styles: dict[str, int]) -> Markup | None:
    """Latency by percentile, all rounds together, the single rounds faintly; None without histograms."""
    series: list[Series] = []
    for cell in table.cells:
        rounds = [latency for window in cell.windows if (latency := _latency(window)) is not None]
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
    frame = Frame(nines(reach), milliseconds(heights), 560, 330, right=room(series))
    return lines(frame, series, "Latency by percentile, one line for each contender")


def served_chart(rows: Sequence[Percentiles], styles: dict[str, int], about: str) -> Markup | None:
    """The time within which parts of the requests were served, a line for each contender; None without two points."""
    series = []
    for row in rows:
        known = [
            (_PARTS[measure], cell.value / 1e6) for measure, cell in zip(row.measures, row.cells, strict=True) if cell
        ]
        if len(known) > 1:
            series.append(Series(row.contender, known, styles.get(row.contender), marked=known))
    if not series:
        return None
    heights = [y for one in series for _, y in one.points]
    ticks = tuple((value, f"{value:g}") for value in _PARTS.values() if value not in _CROWDED)
    x = Axis("% of the requests", 50.0, 100.0, ticks)
    label = f"Time within which a percentage of the requests was served, one line for each contender: {about}"
    return lines(Frame(x, milliseconds(heights), 560, 330, right=room(series), upright=True), series, label)


def _latency(window: Window) -> Latency | None:
    """Of one round; at an open pace from due, as the percentiles of the ranking are."""
    if not window.run.trial.load.is_open:
        return window.latency
    return merge(part.response_hdr for part in steady_slices(window.run) if part.response_hdr) or window.latency


def _percentiles(latency: Latency) -> list[Point]:
    """Points on the scale of nines, as far as enough answers lie beyond them."""
    most = math.log10(max(latency.count / _RAREST, 10))
    steps = [step for step in (*_STEPS, *_STEPS_RARE) if step <= most]
    values = latency.percentiles_ns([1 - 10.0**-step for step in steps])
    return [(step, value / 1e6) for step, value in zip(steps, values, strict=True)]


def _at(latency: Latency, share: float) -> float:
    return latency.percentiles_ns([share])[0]


def milliseconds(values: Sequence[float]) -> Axis:
    """A logarithmic axis of latencies."""
    return logarithmic("ms", [value for value in values if value > 0], lambda ms: f"{ms:,g}")


def speed_chart(standings: Sequence[Standing], styles: dict[str, int]) -> Markup | None:
    """Requests per second against peak memory: up and left is better; None with less than two to compare."""
    dots = [
        Dot(
            name=standing.contender,
            point=(standing.memory_peak.value / 2**20, standing.rate.value),
            style=styles.get(standing.contender),
            hint=f"{standing.contender}: {words.plain(standing.rate)} requests/s, {words.size(standing.memory_peak)}",
        )
        for standing in standings
        if standing.memory_peak and standing.rate and standing.memory_peak.value and standing.rate.value
    ]
    if len(dots) < 2:
        return None
    x = logarithmic("peak memory, MiB", [dot.point[0] for dot in dots], lambda mib: f"{mib:g}")
    y = logarithmic("requests/s", [dot.point[1] for dot in dots], short)
    frame = Frame(x, y, 560, 330, right=40.0, left=54.0)
    return scatter(frame, dots, "Requests per second against peak memory, one point for each contender")
