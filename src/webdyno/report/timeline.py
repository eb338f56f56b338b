"""The course of time in one table: rate, latency, errors, CPU and memory by the second, one panel above the other.

All panels share one time axis, whose zero is the start of the steady phase, so that a dip in one is seen above its
cause in another. The middle round of each contender stands out, the others stay faint. What was not measured by the
second is said in words: a line at zero would be a claim.

Contenders that took turns are drawn turn by turn, on the time that they shared (``placing``), and of all of them the
same round stands out. What a turn does not tell, latency above all, is not drawn: turns are bursts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from statistics import fmean, median, median_low

from webdyno.analyse.error_share import failed
from webdyno.analyse.latency import Latency, merge
from webdyno.analyse.table import Cell, Table
from webdyno.analyse.window import Window, cpu_ns
from webdyno.model.run import Run
from webdyno.model.sample import Reading, Slice
from webdyno.report import words
from webdyno.report.axis import Axis, course, short, straight
from webdyno.report.charts import milliseconds
from webdyno.report.labels import Point
from webdyno.report.markup import Markup, element, join
from webdyno.report.placing import Zeros, placed, since, zeros_of
from webdyno.report.svg import STYLES, Frame, Series, lines, room, thinned

_WIDTH = 1140.0
_MOST, _MOST_FAINT, _LEAST_FAINT = 300, 150, 24
"""Points of a line, and of a faint one; of more, every stretch keeps its lowest and highest."""
_ALL_FAINT = 2_500
"""Points of all faint lines of one contender in one kind of panel on one page; all tables and rounds share them."""
_BEYOND = 5
"""Answers of a second that must lie beyond a percentile for it to be drawn."""
_SHARES = (0.99, 0.9, 0.5)
_NEAR_S = 0.4
"""Looks at CPU nearer to each other than this say nothing."""
_LATE_NS = 50_000_000
"""A look at the start or end of a phase comes so much beside it at most."""
_KNOWN = 0.75
"""Part of the looks that must know what is shared between processes."""
_ERRORS, _LATENCY = "Errors/s", "Latency"
_RATES = "Correct answers. A rise at the start is warm-up, a dip that returns is often garbage collection or a restart."
_RATES_BY_TURN = (
    "Correct answers in each turn. A dip of all contenders at once comes from the machine, a dip of one is its own."
)
_ONLY_ALONE = "Only for contenders measured alone: a turn is too short to show it. "


@dataclass(frozen=True)
class Track:
    """One quantity over time: its title, what to look for, how it is read from a round, and how it is drawn."""

    title: str
    says: str
    points: Callable[[Window], list[Point]]
    axis: Callable[[Sequence[float]], Axis]
    height: float
    by_driver: bool
    """Told by the load tool, second by second; else looked up by webdyno itself."""


@dataclass(frozen=True)
class Panel:
    """A Track with what is drawn of it; ``lacks`` says why there is nothing."""

    track: Track
    series: Sequence[Series]
    lacks: str = ""


def timeline(table: Table, styles: dict[str, int], *, of: int = 1) -> Markup | None:
    """Every panel of a table, one ``of`` this many on the page; None when no round succeeded."""
    if not table.windows:
        return None
    rounds = max(len(cell.windows) for cell in table.cells)
    most = max(_LEAST_FAINT, min(_MOST_FAINT, _ALL_FAINT // (of * rounds)))
    zeros, shown = zeros_of(table.windows), _shown(table)
    tracks = (*_by_driver(table, styles, zeros), *_by_looks(table, styles))
    panels = [_panel(table, styles, track, shown, most) for track in tracks]
    drawn = [panel for panel in panels if not panel.lacks]
    lacking = [element("p", f"{panel.track.title}: {panel.lacks}", class_="says") for panel in panels if panel.lacks]
    if not drawn:
        return join(*lacking)
    x = _time(
        since(table.windows), [part for panel in drawn for one in panel.series for part in (one.points, *one.faint)]
    )
    right = max(room(panel.series) for panel in drawn)
    told = [_drawing(panel, x, right, last=panel is drawn[-1]) for panel in drawn]
    return join(element("div", *told, class_="scroll panels"), *lacking)


def _drawing(panel: Panel, x: Axis, right: float, *, last: bool) -> Markup:
    """One panel; only the last one names the time axis that all of them share."""
    track = panel.track
    heights = [y for one in panel.series for part in (one.points, *one.faint) for _, y in part]
    frame = Frame(
        x if last else replace(x, title=""),
        track.axis(heights),
        _WIDTH,
        track.height + (16 if last else 0),
        right=right,
        bottom=40.0 if last else 24.0,
        shade=(x.low, 0.0, "warm-up") if x.low < 0 else None,
        upright=True,
    )
    says = element("figcaption", element("b", track.title), f" {track.says}")
    return element("figure", says, lines(frame, panel.series, f"{track.title} over time, one line for each contender"))


def _time(title: str, parts: Sequence[Sequence[Point]]) -> Axis:
    """From the first point of any panel to the last."""
    low = min(points[0][0] for points in parts if points)
    high = max(points[-1][0] for points in parts if points)
    return course(title, min(low, 0.0), max(high, low + 0.1))


def _by_driver(table: Table, styles: dict[str, int], zeros: Zeros) -> Iterator[Track]:
    """What the load tool tells of each second, or turn."""
    turns = _has_turns(table)
    yield Track(
        "Requests/s",
        _RATES_BY_TURN if turns else _RATES,
        partial(_rates, zeros),
        lambda values: straight("requests/s", values, short),
        240.0,
        True,
    )
    share = _share(table, styles)
    yield Track(
        _LATENCY if _has_only_turns(table) else f"p{share * 100:g} latency",
        f"{_ONLY_ALONE if turns else ''}{share * 100:g} of 100 answers of each second took at most this long. A "
        "peak is a pause that the rate may hide.",
        lambda window: _latencies(window, share),
        milliseconds,
        190.0,
        True,
    )
    yield Track(
        _ERRORS,
        "Requests not answered correctly. Bursts have a cause at that moment; steady errors come from the load.",
        partial(_errors, zeros),
        lambda values: straight("errors/s", values, short, steps=3),
        150.0,
        True,
    )
    yield Track(
        "CPU",
        "Of the contender's whole process tree. A flat line at its number of cores means a server at its limit.",
        lambda window: _cores(window) if window.turned is None else _turn_cores(window, zeros),
        lambda values: straight("cores", values, lambda cores: f"{cores:g}", steps=4),
        160.0,
        False,
    )


def _by_looks(table: Table, styles: dict[str, int]) -> Iterator[Track]:
    """What webdyno saw of the contender's processes when it looked at them."""
    shared = _shared_known(table, styles)
    counted = "once" if shared else "in each of them"
    yield Track(
        "Memory",
        f"{_ONLY_ALONE if _has_turns(table) else ''}Pages that processes share count {counted}. A line that only rises "
        "is a leak or a cache.",
        _proportional if shared else _resident,
        lambda values: straight("MiB", values, short, steps=4),
        180.0,
        False,
    )


def _panel(table: Table, styles: dict[str, int], track: Track, shown: int | None, most: int) -> Panel:
    cells = _failing(table, styles) if track.title == _ERRORS else [cell for cell in table.cells if cell.name in styles]
    series = [_series(cell, styles.get(cell.name), track, shown, most) for cell in cells if cell.windows]
    series = [one for one in series if one.points]
    if any(len(one.points) > 2 for one in series):
        return Panel(track, series)
    return Panel(track, [], _why_not(table, track))


def _failing(table: Table, styles: dict[str, int]) -> list[Cell]:
    """Those with errors, the worst first, as many as there are colours: mostly not the ones that lead."""
    worst = sorted(table.cells, key=lambda cell: (-cell.error_ratio, cell.name not in styles))
    return [cell for cell in worst if cell.error_ratio][:STYLES]


def _why_not(table: Table, track: Track) -> str:
    """Why a panel is empty."""
    can = next((window.run.driver_can for window in table.windows if window.run.driver_can), None)
    if track.by_driver and can is not None and not can.series:
        return f"not known by the second: {table.driver} gives one figure for the whole phase."
    if track.title == _ERRORS and not any(cell.error_ratio for cell in table.cells):
        return f"none in the {'turns' if _has_turns(table) else 'steady phase'} of any round."
    if _has_only_turns(table) and track.title == _LATENCY:
        return (
            "not shown turn by turn, because a turn is a burst; percentiles are of a window that each contender had to "
            "itself after the turns."
        )
    if _has_only_turns(table) and track.points in (_proportional, _resident):
        return "not sampled in turns; its peak is in the table."
    if track.title.endswith("latency") and not any(s.latency_hdr for w in table.windows for s in w.run.slices):
        return f"not known by the second; {table.driver} gives no histogram."
    if not track.by_driver and not any(track.points(window) for window in table.windows):
        return "not measured."
    return "too few seconds, or too few answers in each, to show a course."


def _series(cell: Cell, style: int | None, track: Track, shown: int | None, most: int) -> Series:
    """The round that is ``shown``, or the middle one, and the others with this many points at ``most``."""
    middle = next((each for each in cell.windows if each.run.trial.round == shown), None) or _middle_round(cell)
    points = thinned(track.points(middle), _MOST)
    others = [track.points(window) for window in cell.windows if window is not middle]
    return Series(
        name=cell.name,
        points=points,
        style=style,
        faint=[thinned(points, most) for points in others],
        hint=f"{cell.name}, round {middle.run.trial.round}: {words.rate(middle.rate_per_s)}",
        marked=points if len(points) <= 12 else (),
        named=True,
    )


def _has_turns(table: Table) -> bool:
    return any(window.turned is not None for window in table.windows)


def _has_only_turns(table: Table) -> bool:
    return all(window.turned is not None for window in table.windows)


def _shown(table: Table) -> int | None:
    """Where contenders took turns, the round to be drawn of all of them, the median of those that most have: what
    they met in it, they met together. None: nobody took turns.
    """
    if not _has_turns(table):
        return None
    logs: dict[int, list[float]] = {}
    for window in table.windows:
        logs.setdefault(window.run.trial.round, []).append(math.log(window.rate_per_s))
    most = max(map(len, logs.values()))
    speeds = {round_: fmean(each) for round_, each in logs.items() if len(each) == most}
    middle = median_low(speeds.values())
    return next(round_ for round_, speed in speeds.items() if speed == middle)


def _middle_round(cell: Cell) -> Window:
    middle = median_low(window.rate_per_s for window in cell.windows)
    return next(window for window in cell.windows if window.rate_per_s == middle)


def _rates(zeros: Zeros, window: Window) -> list[Point]:
    return [(at, slice_.ok / slice_.duration_ns * 1e9) for at, slice_ in placed(window.run, zeros)]


def _errors(zeros: Zeros, window: Window) -> list[Point]:
    return [(at, failed(slice_.errors) / slice_.duration_ns * 1e9) for at, slice_ in placed(window.run, zeros)]


def _latencies(window: Window, share: float) -> list[Point]:
    """One percentile of each Slice in ms, from due at an open pace; seconds with too few answers are left out.

    Nothing in turns, whatever their Slices hold.
    """
    if window.turned is not None:
        return []
    told = ((at, _latency(window.run, slice_)) for at, slice_ in placed(window.run, {}))
    return [
        (at, latency.percentiles_ns([share])[0] / 1e6)
        for at, latency in told
        if latency is not None and latency.count * (1 - share) >= _BEYOND
    ]


def _latency(run: Run, slice_: Slice) -> Latency | None:
    text = (run.trial.load.is_open and slice_.response_hdr) or slice_.latency_hdr
    return merge([text]) if text else None


def _share(table: Table, styles: dict[str, int]) -> float:
    """The rarest percentile that a second of most contenders has answers enough for."""
    typical = [
        median(slice_.ok for slice_ in window.run.slices if not slice_.is_stretch)
        for cell in table.cells
        if cell.name in styles
        for window in cell.windows[:1]
        if window.turned is None
    ]
    answers = median(typical) if typical else 0
    return next((share for share in _SHARES if answers * (1 - share) >= _BEYOND), _SHARES[-1])


def _looks(window: Window) -> list[tuple[float, Reading]]:
    """What was seen of the contender's processes under load, with the seconds from the start of the steady phase."""
    run = window.run
    if window.turned is not None:  # looks at the window after the turns: two, and no course
        return []
    begins = [slice_.start_ns for slice_ in run.slices if slice_.phase == "steady" and slice_.start_ns is not None]
    zero = run.steady_start_ns if run.steady_start_ns is not None else next(iter(begins), None)
    if zero is None:
        return []
    first = zero - run.trial.asked.warmup_s * 1e9 - _LATE_NS
    last = float("inf") if run.steady_end_ns is None else run.steady_end_ns + _LATE_NS
    return [
        ((look.at_ns - zero) / 1e9, look)
        for look in run.readings
        if look.role == "contender" and first <= look.at_ns <= last
    ]


def _cores(window: Window) -> list[Point]:
    """Cores' worth of CPU between two looks, at the middle of that time."""
    kept: list[tuple[float, int]] = []
    for at, look in _looks(window):
        used = cpu_ns(look)
        if used is not None and (not kept or at - kept[-1][0] >= _NEAR_S):
            kept.append((at, used))
    return [((at + later) / 2, (more - less) / 1e9 / (later - at)) for (at, less), (later, more) in pairwise(kept)]


def _turn_cores(window: Window, zeros: Zeros) -> list[Point]:
    """Cores' worth of CPU that each turn took."""
    told = ((at, turn.contender_cpu_ns, turn.duration_ns) for at, turn in placed(window.run, zeros))
    return [(at, used_ns / duration_ns) for at, used_ns, duration_ns in told if used_ns is not None]


def _shared_known(table: Table, styles: dict[str, int]) -> bool:
    """Whether proportional memory is known of everyone drawn: two kinds of memory in one panel compare nothing."""
    drawn = [window for cell in table.cells if cell.name in styles for window in cell.windows]
    looks = [[look for _, look in _looks(window)] for window in drawn]
    return all(sum(look.pss_bytes is not None for look in each) >= _KNOWN * len(each) for each in looks)


def _proportional(window: Window) -> list[Point]:
    """MiB at each look, shared pages counted once."""
    return [(at, look.pss_bytes / 2**20) for at, look in _looks(window) if look.pss_bytes is not None]


def _resident(window: Window) -> list[Point]:
    """MiB at each look, shared pages counted in every process that has them."""
    return [(at, look.rss_bytes / 2**20) for at, look in _looks(window) if look.rss_bytes is not None]
