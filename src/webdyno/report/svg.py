"""Charts as plain SVG, drawn here: no library, no script, readable in print and without colours.

A series that matters has a colour, a dash and a marker of its own, and its name at its right end; the others stay
grey, for context. Colours come from the page's variables, so that light and dark differ in one place. Paths are written
in steps of a tenth of a unit from point to point, which is what keeps a page with thousands of rounds small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from webdyno.report import labels
from webdyno.report.axis import Axis
from webdyno.report.labels import Point
from webdyno.report.lettering import width
from webdyno.report.marker import kind_of, marker
from webdyno.report.markup import Markup, element, join

STYLES = 6
"""Series that can be distinguished by colour, dash and marker."""
_LETTER = 6.7
"""Width of a letter at an axis, rather too much than too little."""
_ROOM = (70.0, 190.0)
"""Least and most width kept free for the names at the right."""
_NARROW, _HIGHEST_NARROW, _ROOM_NARROW, _POINTS_NARROW = 340.0, 300.0, 118.0, 60
"""On a telephone: width, height, room for names, and points of a line."""
_TICK_NARROW = 38.0
"""Between two ticks of its time axis."""


@dataclass(frozen=True)
class Series:
    """One line; ``style`` None is context, in grey. ``faint`` are its single rounds, ``band`` x, low and high of its
    interval. ``named``: its name stands at its end though it is grey.
    """

    name: str
    points: Sequence[Point]
    style: int | None = None
    faint: Sequence[Sequence[Point]] = ()
    hint: str = ""
    marked: Sequence[Point] = ()
    band: Sequence[tuple[float, float, float]] = ()
    named: bool = False


def room(series: Iterable[Series], most: float = _ROOM[1]) -> float:
    """The width at the right that the names of ``series`` need, within reason: longer ones have two lines."""
    named = [one.name for one in series if one.style is not None or one.named]
    longest = max((width(name, labels.SIZE) for name in named), default=0.0)
    return max(_ROOM[0], min(most, 20 + longest))


@dataclass(frozen=True)
class Frame:
    """A plane of two axes within a picture."""

    x: Axis
    y: Axis
    width: float
    height: float
    left: float = 54.0
    right: float = 132.0
    top: float = 30.0
    bottom: float = 40.0
    shade: tuple[float, float, str] | None = None
    """From, to and name of a stretch of the x axis."""
    upright: bool = False
    """Grid lines for the x axis too."""

    def narrow(self, right: float) -> Frame:
        """The same plane for a telephone, with ``right`` for names; ticks without room go."""
        small = replace(self, width=_NARROW, height=min(self.height, _HIGHEST_NARROW), left=44.0, right=right)
        kept: list[tuple[float, str]] = []
        for value, text in self.x.ticks:
            needed = max(_TICK_NARROW, _LETTER * len(text))
            if not kept or small.place((value, self.y.low))[0] - small.place((kept[-1][0], self.y.low))[0] >= needed:
                kept.append((value, text))
        return replace(small, x=replace(self.x, title=self.x.title.partition(";")[0], ticks=tuple(kept)))

    @property
    def area(self) -> labels.Area:
        """The plane in the picture."""
        right, bottom = self.width - self.right, self.height - self.bottom
        return labels.Area(self.left, right, self.top, bottom, self.width)

    def place(self, point: Point) -> Point:
        """Position of a point in the picture."""
        across, up = self.width - self.left - self.right, self.height - self.top - self.bottom
        return self.left + self.x.at(point[0]) * across, self.height - self.bottom - self.y.at(point[1]) * up


def lines(frame: Frame, series: Sequence[Series], label: str) -> Markup:
    """A chart of lines, and the same once more for a narrow screen, with fewer points and without single rounds."""
    few = [replace(one, points=thinned(one.points, _POINTS_NARROW), faint=()) for one in series]
    small = frame.narrow(room(few, most=_ROOM_NARROW))
    return join(_lines(frame, series, label), _lines(small, few, label, narrow=True))


def _lines(frame: Frame, series: Sequence[Series], label: str, *, narrow: bool = False) -> Markup:
    """Context first, then single rounds, then what matters, on top."""
    ordered = sorted(series, key=lambda one: (one.style is not None, -(one.style or 0)))
    return _picture(
        frame,
        label,
        _shade(frame),
        _grid(frame, both=frame.upright),
        *[_band(frame, one) for one in ordered if one.style is not None and one.band],
        *[_path(frame, one.faint, one.style, "faint") for one in ordered if one.faint],
        *[_path(frame, [one.points], one.style, "line", one.hint or one.name) for one in ordered],
        *[marker(frame.place(point), one.style) for one in ordered if one.style is not None for point in one.marked],
        *_names(frame, series),
        narrow=narrow,
    )


def _names(frame: Frame, series: Sequence[Series]) -> list[Markup]:
    """Of those in colour, and of the grey ones that are named."""
    named = [one for one in series if (one.style is not None or one.named) and one.points]
    ends = [labels.End(frame.place(one.points[-1]), one.name, one.style) for one in named]
    drawn = [each for one in named for each in labels.along([frame.place(point) for point in one.points])]
    return labels.names(frame.area, ends, drawn)


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """At most this many points, so that no peak is lost: the lowest and the highest of every stretch stay."""
    if len(points) <= most:
        return list(points)
    stretches = max(1, most // 2)
    kept: list[Point] = []
    for at in range(stretches):
        stretch = points[at * len(points) // stretches : (at + 1) * len(points) // stretches]
        ends = {min(stretch, key=lambda point: point[1]), max(stretch, key=lambda point: point[1])}
        kept += sorted(ends)
    return kept


@dataclass(frozen=True)
class Dot:
    """One contender in a plane."""

    name: str
    point: Point
    style: int | None = None
    hint: str = ""


def scatter(frame: Frame, dots: Sequence[Dot], label: str) -> Markup:
    """Points with their names beside them, and the same once more for a narrow screen."""
    return join(_scatter(frame, dots, label), _scatter(frame.narrow(16.0), dots, label, narrow=True))


def _scatter(frame: Frame, dots: Sequence[Dot], label: str, *, narrow: bool = False) -> Markup:
    """Names are moved out of each other's way.

    The coloured ones come first and may cover grey points; a grey one without room has no name.
    """
    coloured = [dot for dot in dots if dot.style is not None]
    grey = [dot for dot in dots if dot.style is None]
    taken = [labels.box(frame.place(dot.point), 9.0, 9.0) for dot in coloured]
    first = [_name(frame, dot, taken) for dot in coloured]
    taken += [labels.box(frame.place(dot.point), 9.0, 9.0) for dot in grey]
    names = [_name(frame, dot, taken) for dot in grey]
    left_out = sum(name is None for name in names)
    note = f"{left_out} grey {'name' if left_out == 1 else 'names'} left out: no room" if left_out else ""
    return _picture(
        frame,
        label,
        _grid(frame, both=True),
        *[marker(frame.place(dot.point), dot.style, dot.hint) for dot in (*grey, *reversed(coloured))],
        *names,
        *first,
        element("text", note, class_="tick", x=frame.width - 4, y=frame.top - 17, text_anchor="end") if note else None,
        narrow=narrow,
    )


def _name(frame: Frame, dot: Dot, taken: list[labels.Box]) -> Markup | None:
    return labels.of_dot(frame.area, labels.End(frame.place(dot.point), dot.name, dot.style), taken)


def _picture(frame: Frame, label: str, *parts: Markup | None, narrow: bool) -> Markup:
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {frame.width:g} {frame.height:g}",
        role="img",
        aria_label=f"Narrow: {label}" if narrow else label,
        class_="chart narrow" if narrow else "chart wide" if frame.width > 800 else "chart",
    )


def _grid(frame: Frame, *, both: bool = False) -> Markup:
    """Axis lines, ticks and titles."""
    left, right = frame.left, frame.width - frame.right
    top, bottom = frame.top, frame.height - frame.bottom
    drawn: list[Markup] = []
    for value, text in frame.y.ticks:
        y = round(frame.place((frame.x.low, value))[1], 1)
        drawn.append(element("line", class_="grid", x1=left, x2=right, y1=y, y2=y))
        drawn.append(element("text", text, class_="tick", x=left - 7, y=y + 4, text_anchor="end"))
    for value, text in frame.x.ticks:
        x = round(frame.place((value, frame.y.low))[0], 1)
        drawn.append(
            element("line", class_="grid" if both else "axis", x1=x, x2=x, y1=top if both else bottom, y2=bottom + 4)
        )
        drawn.append(element("text", text, class_="tick", x=x, y=bottom + 18, text_anchor="middle"))
    drawn.append(element("line", class_="axis", x1=left, x2=right, y1=bottom, y2=bottom))
    drawn.append(element("text", frame.y.title, class_="tick", x=2, y=top - 17))
    if frame.x.title:
        middle = (left + right) / 2
        drawn.append(element("text", frame.x.title, class_="tick", x=middle, y=frame.height - 5, text_anchor="middle"))
    return join(*drawn)


def _shade(frame: Frame) -> Markup:
    if frame.shade is None:
        return Markup("")
    start, end, name = frame.shade
    x, _ = frame.place((start, frame.y.low))
    far, _ = frame.place((end, frame.y.low))
    height = frame.height - frame.top - frame.bottom
    return join(
        element("rect", class_="shade", x=round(x, 1), y=frame.top, width=round(far - x, 1), height=height),
        element("text", name, class_="tick", x=round(x, 1) + 4, y=frame.top - 4),
    )


def _path(
    frame: Frame, parts: Iterable[Sequence[Point]], style: int | None, kind: str, hint: str = ""
) -> Markup | None:
    """Lines of one series in one path."""
    drawn = "".join(_steps(frame, points) for points in parts)
    if not drawn:
        return None
    title = element("title", hint) if hint else None
    return element("path", title, class_=f"{kind} {kind_of(style)}", d=drawn)


def _steps(frame: Frame, points: Sequence[Point]) -> str:
    """``M54 103.2l9.5-3.2 9.5 4``: rounded first and subtracted then, so that errors do not add up.

    Points inside a level stretch are left out: they change no pixel.
    """
    tenths = [(round(x * 10), round(y * 10)) for x, y in (frame.place(point) for point in points)]
    kept = [
        point
        for at, point in enumerate(tenths)
        if at in (0, len(tenths) - 1) or not tenths[at - 1][1] == point[1] == tenths[at + 1][1]
    ]
    if len(kept) < 2:
        return ""
    moves = [_pair(x - before_x, y - before_y) for (before_x, before_y), (x, y) in pairwise(kept)]
    line = "".join(move if at == 0 or move.startswith("-") else f" {move}" for at, move in enumerate(moves))
    return f"M{_pair(*kept[0])}l{line}"


def _pair(x: int, y: int) -> str:
    """Two numbers of tenths, as short as SVG allows: ``9.5-3``."""
    one, other = _tenth(x), _tenth(y)
    return f"{one}{other}" if other.startswith("-") else f"{one} {other}"


def _tenth(tenths: int) -> str:
    """``95`` is ``9.5``, ``-4`` is ``-.4``."""
    whole, part = divmod(abs(tenths), 10)
    text = f"{whole or ''}.{part}" if part else f"{whole}"
    return f"-{text}" if tenths < 0 else text


def _band(frame: Frame, series: Series) -> Markup:
    """The interval of a line as a stretch of its colour."""
    above = [frame.place((x, high)) for x, _, high in series.band]
    below = [frame.place((x, low)) for x, low, _ in reversed(series.band)]
    corners = " ".join(f"{x:.1f} {y:.1f}" for x, y in above + below)
    return element("path", class_=f"band {kind_of(series.style)}", d=f"M{corners}z")
