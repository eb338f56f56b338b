"""The course of time as a chart: correct answers per second, of the Trial in flight or of two cells over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median_low

from webdyno.analyse.table import Cell
from webdyno.analyse.window import Window
from webdyno.report import words
from webdyno.report.axis import Axis, short, straight
from webdyno.report.labels import Point
from webdyno.report.markup import Markup
from webdyno.report.placing import placed, since, zeros_of
from webdyno.report.svg import STYLES, Frame, Series, lines, room

_MARKED = 60
"""Points up to which each is marked."""


def course(
    series: Sequence[Series],
    label: str,
    height: float,
    at_least_s: float = 0.0,
    title: str = "seconds of the steady phase",
) -> Markup | None:
    """Rates over seconds from the start of the steady phase, or what ``title`` says; None with less than three points
    in every series: a tool of one figure for each phase has two, and no course.
    """
    if not any(len(one.points) > 2 for one in series):
        return None
    points = [point for one in series for part in (one.points, *one.faint) for point in part]
    first, last = min(x for x, _ in points), max(at_least_s, *(x for x, _ in points))
    x = straight(title, [last], lambda s: f"{s:g}")
    x = Axis(x.title, min(first, 0.0), last, tuple(tick for tick in x.ticks if tick[0] <= last))
    shade = (x.low, 0.0, "warm-up") if first < 0 else None
    frame = Frame(
        x,
        straight("requests/s", [y for _, y in points], short),
        1140,
        height,
        right=max(84.0, room(series)),
        shade=shade,
    )
    return lines(frame, series, label)


def of_two(cells: Mapping[str, Cell]) -> Markup | None:
    """The middle round of each cell by its name, the other rounds faintly."""
    series = []
    for style, (name, cell) in enumerate(cells.items()):
        if cell.windows:
            middle = median_low(window.rate_per_s for window in cell.windows)
            drawn = next(window for window in cell.windows if window.rate_per_s == middle)
            points = _by_slice(drawn)
            faint = [_by_slice(window) for window in cell.windows if window is not drawn]
            hint = f"{name}, round {drawn.run.trial.round}: {words.rate(drawn.rate_per_s)}"
            series.append(Series(name, points, style, faint, hint, _marks(points)))
    title = since([window for cell in cells.values() for window in cell.windows], "its first turn")
    return course(series, "Requests per second over time, base and head", 290, title=title)


def of_one(warmup: Sequence[float], steady: Sequence[float], hint: str, left_out: int = 0) -> Markup | None:
    """Rates Slice by Slice, as they come: each stands at its end, a second after the one before; ``left_out`` of the
    steady ones are not given any more.
    """
    rates = [*warmup, *steady]
    points = [(float(at + 1 - len(warmup) + left_out), rate) for at, rate in enumerate(rates)]
    series = [Series(words.rate(rates[-1]), points, 0, (), hint, _marks(points))] if rates else []
    return course(series, "Requests per second of the trial in flight", 220, at_least_s=5.0)


def of_block(names: Sequence[str], turns: Mapping[str, Sequence[Point]]) -> Markup | None:
    """Rates of the turns of a block so far, in seconds from its first; in the order of ``names``, which keep their
    colours.
    """
    series = [
        Series(
            name, turns[name], style if style < STYLES else None, (), f"{name}: {words.rate(turns[name][-1][1])}", ()
        )
        for style, name in enumerate(names)
        if turns.get(name)
    ]
    title = "seconds from the first turn of the block"
    return course(series, "Requests per second of the block in flight, by turn", 260, at_least_s=5.0, title=title)


def _marks(points: Sequence[Point]) -> Sequence[Point]:
    return points if len(points) <= _MARKED else points[-1:]


def _by_slice(window: Window) -> list[Point]:
    """Rate of each Slice at its middle; in turns, of each turn."""
    return [(at, slice_.ok / slice_.duration_ns * 1e9) for at, slice_ in placed(window.run, zeros_of([window]))]
