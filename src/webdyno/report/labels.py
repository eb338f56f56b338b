"""Labels of a chart: where each name lies, so that none covers another, and none looks like a line of figures.

A line that ends before the right edge has its name beside its end, inside the plane: a leader across the rest of the
plane would be read as figures that were never measured. A long name is broken at a hyphen, for names often differ only
at their end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from webdyno.report.lettering import cut, width
from webdyno.report.marker import kind_of, marker
from webdyno.report.markup import Markup, element, join

Point = tuple[float, float]
Box = tuple[float, float, float, float]
LINE_HEIGHT = 13.0
SIZE = 12.0
"""Of the letters, as in the page's style."""
_MOST_LINES = 3
_FAR = 40.0
"""A name so far above or below its point is tied to it by a line."""
_NEAR = 24.0
"""An end this near to the right edge has its name in the margin."""
_STRIDE = 6.0
"""Between two boxes that keep names off a line."""


class Area(NamedTuple):
    """The plane in a picture, and the picture's width; names may reach over the plane's right end."""

    left: float
    right: float
    top: float
    bottom: float
    width: float


class End(NamedTuple):
    """A point with a name: where a line ends, or a dot; ``style`` None is grey."""

    at: Point
    name: str
    style: int | None


def box(centre: Point, wide: float, high: float) -> Box:
    """A box around a point."""
    return centre[0] - wide / 2, centre[1] - high / 2, centre[0] + wide / 2, centre[1] + high / 2


def along(points: Sequence[Point]) -> list[Box]:
    """Small boxes along a line, so that no name is put upon it."""
    boxes = [box(point, 9.0, 9.0) for point in points]
    for (x, y), (far_x, far_y) in pairwise(points):
        steps = int(max(abs(far_x - x), abs(far_y - y)) / _STRIDE)
        boxes += [box((x + (far_x - x) * n / steps, y + (far_y - y) * n / steps), 4.0, 4.0) for n in range(1, steps)]
    return boxes


def names(area: Area, ends: Sequence[End], drawn: Iterable[Box]) -> list[Markup]:
    """The names of lines: in the margin those that reach it, or that have no room beside their end."""
    margin = [end for end in ends if end.at[0] >= area.right - _NEAR]
    within, taken = area._replace(width=area.right + 6) if margin else area, list(drawn)
    inside: list[Markup] = []
    for end in ends:
        if end in margin:
            continue
        found = beside(within, end.at, end.name, taken)
        if found is None:
            margin.append(end)
        else:
            inside.append(_text(end.style, [end.name], *found))
    return [*_margin(area, margin), *inside]


def _margin(area: Area, ends: Sequence[End]) -> list[Markup]:
    """Names at the right, pushed apart. Each is tied to its end by a line, or has its marker where that is far off."""
    ends = sorted(ends, key=lambda end: end.at[1])
    drawn: list[Markup] = []
    for end, height in zip(ends, _heights(area, ends), strict=True):
        x, y = end.at
        path = f"M{x + 4:.1f} {y:.1f}L{area.right + 6:.1f} {y:.1f}L{area.right + 12:.1f} {height:.1f}"
        near = x >= area.right - _NEAR
        tied = element("path", class_=f"leader {kind_of(end.style)}", d=path)
        drawn.append(tied if near else marker((area.right + 8, height), end.style))
        lines = broken(end.name, area.width - area.right - 17)
        first = height + 4 - LINE_HEIGHT * (len(lines) - 1) / 2
        drawn.append(_text(end.style, lines, "start", area.right + 15, first))
    return drawn


def _heights(area: Area, ends: Sequence[End]) -> list[float]:
    """The middles of the names in the margin, from above."""
    ends = sorted(ends, key=lambda end: end.at[1])
    lines = [len(broken(end.name, area.width - area.right - 17)) for end in ends]
    return apart([end.at[1] for end in ends], lines, area.top, area.bottom + 4)


def _text(style: int | None, lines: Sequence[str], anchor: str, x: float, y: float) -> Markup:
    """One element for a name in two lines too: its text is the whole name, by which the page's script knows it."""
    x, y = round(x, 1), round(y, 1)
    further = [element("tspan", each, x=x, dy=LINE_HEIGHT) for each in lines[1:]]
    return element("text", lines[0], *further, class_=f"label {kind_of(style)}", x=x, y=y, text_anchor=anchor)


def broken(name: str, most: float) -> list[str]:
    """A name in one line, or in up to three, broken behind hyphens where it has any; what is longer still is cut."""
    lines: list[str] = []
    while width(name, SIZE) > most and len(lines) < _MOST_LINES - 1:
        fits = [at for at in range(1, len(name)) if width(name[:at], SIZE) <= most] or [1]
        at = ([at for at in fits if name[at - 1] == "-"] or fits)[-1]
        lines.append(name[:at])
        name = name[at:]
    return [*lines, cut(name, SIZE, most)]


def apart(wanted: Sequence[float], lines: Sequence[int], low: float, high: float) -> list[float]:
    """Heights near the ``wanted`` ones (ascending), so far apart as their ``lines`` need, within bounds as far as there
    is room.
    """
    halves = [LINE_HEIGHT * number / 2 for number in lines]
    placed: list[float] = []
    for at, height in enumerate(wanted):
        placed.append(max(height, placed[-1] + halves[at - 1] + halves[at]) if placed else max(height, low))
    limit = high
    for at in range(len(placed) - 1, -1, -1):
        placed[at] = min(placed[at], limit)
        limit = placed[at] - halves[at] - (halves[at - 1] if at else 0.0)
    return placed


def beside(area: Area, at: Point, name: str, taken: list[Box], *, far: bool = False) -> tuple[str, float, float] | None:
    """Where a name lies near its point and not on what is already there; None if there is no such place.

    ``far``: else at the right of the point, as far above or below as need be.
    """
    x, y = at
    wide = width(name, SIZE)
    tries = [("start", 9.0, 4.0), ("end", -9.0, 4.0), ("middle", 0.0, -9.0), ("middle", 0.0, 17.0)]
    tries += [("start", 9.0, 15.0), ("start", 9.0, -8.0), ("end", -9.0, 15.0), ("end", -9.0, -8.0)]
    tries += [("start", 9.0, 27.0), ("start", 9.0, -20.0), ("middle", 0.0, 29.0), ("middle", 0.0, -21.0)]
    if far:
        tries += [("start", 24.0, 4.0 + sign * 14.0 * lines) for lines in range(2, 20) for sign in (1, -1)]
    for anchor, dx, dy in tries:
        left = x + dx - (wide if anchor == "end" else wide / 2 if anchor == "middle" else 0)
        place = (left, y + dy - 10, left + wide, y + dy + 2)
        inside = place[0] >= area.left and place[2] <= area.width - 2
        inside = inside and place[1] >= area.top - 14 and place[3] <= area.bottom
        if inside and not any(_overlap(place, other) for other in taken):
            taken.append(place)
            return anchor, x + dx, y + dy
    return None


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def of_dot(area: Area, dot: End, taken: list[Box]) -> Markup | None:
    """The name of a point in a plane, tied to it by a line where it lies far off; a grey one without room has none."""
    found = beside(area, dot.at, dot.name, taken, far=dot.style is not None)
    if found is None and dot.style is None:
        return None
    x, y = dot.at
    anchor, tx, ty = found or ("start", x + 9, y + 4)
    text = _text(dot.style, [dot.name], anchor, tx, ty)
    if abs(ty - y) < _FAR:
        return text
    path = f"M{x:.1f} {y:.1f}L{tx - 3:.1f} {ty - 4:.1f}"
    return join(element("path", class_=f"leader {kind_of(dot.style)}", d=path), text)
