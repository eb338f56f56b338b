"""Charts as plain SVG, drawn here: no library, no script, readable in print and without colours.

A series that matters has a colour, a dash and a marker of its own, and its name at its right end; the others stay
grey, for context. Colours come from the page's variables, so that light and dark differ in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webdyno.report.axis import Axis
from webdyno.report.markup import Markup, element, join

Point = tuple[float, float]
STYLES = 6
"""Series that can be told apart by colour, dash and marker."""
_LINE_HEIGHT = 14.0


@dataclass(frozen=True)
class Series:
    """One line; ``style`` None is context, in grey. ``faint`` are its single rounds."""

    name: str
    points: Sequence[Point]
    style: int | None = None
    faint: Sequence[Sequence[Point]] = ()
    hint: str = ""
    marked: Sequence[Point] = ()


@dataclass(frozen=True)
class Frame:
    """A plane of two axes within a picture."""

    x: Axis
    y: Axis
    width: float
    height: float
    left: float = 54.0
    right: float = 132.0
    top: float = 26.0
    bottom: float = 40.0
    shade: tuple[float, float, str] | None = None
    """From, to and name of a stretch of the x axis."""

    def place(self, point: Point) -> Point:
        """Position of a point in the picture."""
        across, up = self.width - self.left - self.right, self.height - self.top - self.bottom
        return self.left + self.x.at(point[0]) * across, self.height - self.bottom - self.y.at(point[1]) * up


def lines(frame: Frame, series: Sequence[Series], label: str) -> Markup:
    """A chart of lines: context first, then single rounds, then what matters, on top."""
    ordered = sorted(series, key=lambda one: (one.style is not None, -(one.style or 0)))
    faint = [_path(frame, part, one, "faint") for one in ordered for part in one.faint if one.style is not None]
    return _picture(
        frame,
        label,
        _shade(frame),
        _grid(frame),
        *faint,
        *[_path(frame, one.points, one, "line") for one in ordered],
        *[_marker(frame.place(point), one.style) for one in ordered if one.style is not None for point in one.marked],
        *_labels(frame, [one for one in series if one.style is not None and one.points]),
    )


@dataclass(frozen=True)
class Dot:
    """One contender in a plane."""

    name: str
    point: Point
    style: int | None = None
    hint: str = ""


def scatter(frame: Frame, dots: Sequence[Dot], label: str) -> Markup:
    """Points with their names beside them, moved out of each other's way."""
    taken = [_box(frame.place(dot.point), 8.0, 8.0) for dot in dots]
    drawn: list[Markup] = []
    for dot in dots:
        x, y = frame.place(dot.point)
        drawn.append(_marker((x, y), dot.style, dot.hint))
        anchor, tx, ty = _free(frame, x, y, dot.name, taken)
        kind = f"label s{dot.style}" if dot.style is not None else "label grey"
        drawn.append(element("text", dot.name, class_=kind, x=round(tx, 1), y=round(ty, 1), text_anchor=anchor))
    return _picture(frame, label, _grid(frame, both=True), *drawn)


Box = tuple[float, float, float, float]


def _box(centre: Point, width: float, height: float) -> Box:
    return centre[0] - width / 2, centre[1] - height / 2, centre[0] + width / 2, centre[1] + height / 2


def _free(frame: Frame, x: float, y: float, name: str, taken: list[Box]) -> tuple[str, float, float]:
    """Where a name does not lie on what is already there; the last place tried if there is none."""
    width = 6.4 * len(name)
    tries = [("start", 9.0, 4.0), ("end", -9.0, 4.0), ("middle", 0.0, -9.0), ("middle", 0.0, 17.0)]
    tries += [("start", 9.0, 15.0), ("start", 9.0, -8.0), ("end", -9.0, 15.0), ("end", -9.0, -8.0)]
    tries += [("start", 9.0, 27.0), ("start", 9.0, -20.0)]
    for anchor, dx, dy in tries:
        left = x + dx - (width if anchor == "end" else width / 2 if anchor == "middle" else 0)
        box = (left, y + dy - 10, left + width, y + dy + 2)
        inside = box[0] >= 2 and box[2] <= frame.width - 2
        if inside and not any(_overlap(box, other) for other in taken):
            break
    taken.append(box)
    return anchor, x + dx, y + dy


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _picture(frame: Frame, label: str, *parts: Markup) -> Markup:
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {frame.width:g} {frame.height:g}",
        role="img",
        aria_label=label,
        class_="chart wide" if frame.width > 800 else "chart",
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
    drawn.append(element("text", frame.y.title, class_="tick", x=2, y=top - 12))
    drawn.append(
        element("text", frame.x.title, class_="tick", x=(left + right) / 2, y=frame.height - 5, text_anchor="middle")
    )
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
        element("text", name, class_="tick", x=round(x, 1) + 4, y=frame.top + 12),
    )


def _path(frame: Frame, points: Sequence[Point], series: Series, kind: str) -> Markup:
    if not points:
        return Markup("")
    placed = " L".join(f"{x:.1f} {y:.1f}" for x, y in (frame.place(point) for point in points))
    style = "grey" if series.style is None else f"s{series.style}"
    hint = element("title", series.hint or series.name)
    return element("path", hint, class_=f"{kind} {style}", d=f"M{placed}")


_SHAPES = (
    "M{x} {y}m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
    "M{x} {y}m-3.3-3.3h6.6v6.6h-6.6z",
    "M{x} {y}m0-4.2l4 7.2h-8z",
    "M{x} {y}m0-4.4l4.4 4.4l-4.4 4.4l-4.4-4.4z",
    "M{x} {y}m0 4.2l-4-7.2h8z",
    "M{x} {y}m-3.2-3.2l6.4 6.4m0-6.4l-6.4 6.4",
)
"""Circle, square, triangle up, diamond, triangle down, cross."""


def _marker(place: Point, style: int | None, hint: str = "") -> Markup:
    x, y = f"{place[0]:.1f}", f"{place[1]:.1f}"
    kind = "grey" if style is None else f"s{style}"
    return element(
        "path",
        element("title", hint) if hint else None,
        class_=f"marker {kind}",
        d=_SHAPES[style or 0].format(x=x, y=y),
    )


def _labels(frame: Frame, series: Sequence[Series]) -> list[Markup]:
    """Names at the right ends, pushed apart so that none covers another."""
    ends = sorted(((frame.place(one.points[-1]), one) for one in series), key=lambda end: end[0][1])
    heights = _apart([end[0][1] for end in ends], frame.top, frame.height - frame.bottom + 4)
    right = frame.width - frame.right
    drawn: list[Markup] = []
    for ((x, y), one), height in zip(ends, heights, strict=True):
        drawn.append(
            element(
                "path",
                class_=f"leader s{one.style}",
                d=f"M{x + 4:.1f} {y:.1f}L{right + 6:.1f} {y:.1f}L{right + 12:.1f} {height:.1f}",
            )
        )
        drawn.append(element("text", one.name, class_=f"label s{one.style}", x=right + 15, y=round(height + 4, 1)))
    return drawn


def _apart(wanted: Sequence[float], low: float, high: float) -> list[float]:
    """Heights near the ``wanted`` ones (ascending), a line apart, within bounds as far as there is room."""
    placed: list[float] = []
    for height in wanted:
        placed.append(max(height, placed[-1] + _LINE_HEIGHT) if placed else max(height, low))
    limit = high
    for at in range(len(placed) - 1, -1, -1):
        placed[at] = min(placed[at], limit)
        limit = placed[at] - _LINE_HEIGHT
    return placed
