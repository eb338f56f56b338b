"""Lines as they are written: short, and true to a tenth of a unit; names that are cut, thinned courses."""

from __future__ import annotations

import re

import numpy as np

from tests.report.drawn import wide
from webdyno.report.axis import Axis
from webdyno.report.labels import Point
from webdyno.report.svg import Frame, Series, lines, room, thinned

FRAME = Frame(Axis("x", 0.0, 100.0, ()), Axis("y", -50.0, 50.0, ()), 560, 330)


def drawn(points: list[Point]) -> str:
    svg = wide(lines(FRAME, [Series("go", points, style=0)], "a chart"))
    (path,) = re.findall(r'class="line s0" d="([^"]*)"', svg)
    return str(path)


def read(path: str) -> list[tuple[float, float]]:
    """Positions of a path of one absolute move and relative lines, as a browser finds them."""
    head, tail = re.fullmatch(r"M([^l]*)l(.*)", path).groups()  # type: ignore[union-attr]
    numbers = [float(text) for text in re.findall(r"-?(?:\d+\.\d+|\.\d+|\d+)", f"{head} {tail}")]
    places = [(numbers[0], numbers[1])]
    for dx, dy in zip(numbers[2::2], numbers[3::2], strict=True):
        places.append((places[-1][0] + dx, places[-1][1] + dy))
    return places


def test_relative_steps_end_where_the_points_are_and_errors_do_not_add_up() -> None:
    rng = np.random.default_rng(1)
    points = [(float(x), float(y)) for x, y in zip(np.linspace(0, 100, 500), rng.normal(0, 20, 500), strict=True)]
    found = read(drawn(points))
    assert len(found) == len(points)
    for (x, y), point in zip(found, points, strict=True):
        wanted = FRAME.place(point)
        assert abs(x - wanted[0]) < 0.0501
        assert abs(y - wanted[1]) < 0.0501


def test_a_level_stretch_is_its_two_ends() -> None:
    points = [(float(x), 10.0 if x < 40 else 20.0) for x in range(100)]
    places = read(drawn(points))
    assert len(places) == 4
    assert places[0][1] == places[1][1]
    assert places[2][1] == places[3][1]


def test_single_rounds_of_one_contender_are_one_path() -> None:
    points = [(0.0, 1.0), (50.0, 2.0), (100.0, 3.0)]
    svg = wide(lines(FRAME, [Series("go", points, style=0, faint=[points, points, points])], "a chart"))
    (faint,) = re.findall(r'class="faint s0" d="([^"]*)"', svg)
    assert faint.count("M") == 3


def test_a_thinned_course_keeps_every_hiccup_its_order_and_its_bound() -> None:
    points = [(float(at), 100.0) for at in range(10_000)]
    points[4_321], points[7_000] = (4321.0, 3.0), (7000.0, 900.0)
    kept = thinned(points, 300)
    assert len(kept) <= 300
    assert kept == sorted(kept)
    assert {(4321.0, 3.0), (7000.0, 900.0)} <= set(kept)
    assert thinned(points[:300], 300) == points[:300]


def labels_of(svg: str) -> list[str]:
    return [re.sub("<[^>]*>", "|", inside) for inside in re.findall(r'<text[^>]*class="label[^>]*>(.*?)</text>', svg)]


def test_a_long_name_has_more_lines_and_one_beyond_all_reason_keeps_both_its_ends() -> None:
    points = [(0.0, 1.0), (100.0, 3.0)]
    short, long = Series("go", points, style=0), Series("flask-uwsgi-gevent-processes-db", points, style=1)
    assert room([short]) < room([short, long]) < 200
    assert room([Series(long.name, points)]) == room([])  # grey, and not named
    svg = wide(lines(Frame(FRAME.x, FRAME.y, 560, 330, right=room([long])), [long], "a chart"))
    assert labels_of(svg) == ["flask-uwsgi-gevent-|processes-db|"]
    endless = Series(f"flask-{'x' * 80}-db", points, style=1)
    (label,) = labels_of(wide(lines(Frame(FRAME.x, FRAME.y, 560, 330, right=room([endless])), [endless], "a chart")))
    assert label.startswith("flask-|xx")
    assert label.count("|") == 4
    assert label.endswith("-db|")
    assert f"<title>{endless.name}</title>" in lines(FRAME, [endless], "a chart")


def test_the_name_of_what_was_measured_at_one_level_stands_beside_its_point_and_no_line_leads_to_it() -> None:
    ends, stops = Series("go", [(0.0, 1.0), (100.0, 1.0)], style=0), Series("node", [(50.0, 2.0)], style=1)
    svg = wide(lines(FRAME, [ends, stops], "a chart"))
    assert re.findall(r'class="(leader [^"]*)"', svg) == ["leader s0"]
    (x, y) = FRAME.place((50.0, 2.0))
    (left, below) = re.findall(r'class="label s1" x="([^"]*)" y="([^"]*)"', svg)[0]
    assert abs(float(left) - x) < 30
    assert abs(float(below) - y) < 40


def test_a_name_without_room_beside_its_end_stands_in_the_margin_with_its_marker() -> None:
    many = [Series(f"server-{at}", [(50.0, 0.2 * at)], style=at % 6) for at in range(30)]
    svg = wide(lines(FRAME, many, "a chart"))
    assert len(labels_of(svg)) == 30
    assert 'class="leader' not in svg
    aside = FRAME.width - FRAME.right + 8
    assert f'd="M{aside:.1f} ' in svg
