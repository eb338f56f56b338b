"""The picture: whole, alone, safe, and nothing in it lies on anything else."""

from __future__ import annotations

import re
import struct
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, study
from tests.report.fonts import only
from tests.report.once import analysed
from tests.report.pictures import EVIL, doubt, estimate, picture, standing, verdict
from webdyno.model.errors import MachineError
from webdyno.report.lettering import cut, width, wrap
from webdyno.report.picture import PANELS, WIDTH, render_picture
from webdyno.report.png import png

SPACE = "{http://www.w3.org/2000/svg}"
MANY = [
    standing(f"framework-{at:03d}-{'on-a-server-with-a-long-name' * (at % 3)}", 9e4 * 0.97**at) for at in range(119)
]
PICTURES = {
    "study": lambda: render_picture(*study(), analysed(study()), dark=False),
    "many": lambda: picture(verdict(*MANY)),
    "failures only": lambda: picture(verdict(*[standing(f"server-{at}", None) for at in range(9)], winners=[])),
    "one": lambda: picture(verdict(standing("go"))),
    "one round": lambda: picture(verdict(standing("go", rate=estimate(1e4)))),
    "all tie": lambda: picture(verdict(*[standing(f"server-{at}", 1000 + at) for at in range(9)])),
    "nothing": picture,
    "hostile": lambda: picture(
        verdict(
            *[standing(EVIL + str(at), 10.0**at, letters="ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: 26 - at]) for at in range(8)],
            standing(EVIL, None, outcomes={EVIL: 2}),
            standing("void", 3e9, place=None, doubts=[doubt("dead-cell", "voids", EVIL)]),
            workload=EVIL * 3,
            sentence=EVIL * 9,
        ),
        title=EVIL * 4,
        machine=msgspec.structs.replace(FINGERPRINT, cpu_model=EVIL * 3, kernel=EVIL),
    ),
    "many tables": lambda: picture(*[verdict(*MANY[: 3 * at], workload=f"work-{at}") for at in range(1, 10)]),
}


@pytest.fixture(params=PICTURES, scope="module")
def drawn(request: pytest.FixtureRequest) -> str:
    return PICTURES[request.param]()


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right, bottom of every text."""
    found = []
    for text in ET.fromstring(svg).iter(f"{SPACE}text"):
        size, x, y = (float(text.attrib[key]) for key in ("font-size", "x", "y"))
        wide = width(text.text or "", size, bold="font-weight" in text.attrib)
        left = x - wide if text.get("text-anchor") == "end" else x
        found.append((left, y - 0.75 * size, left + wide, y + 0.2 * size))
    return found


def test_every_text_is_inside_and_clear_of_all_others(drawn: str) -> None:
    height = float(ET.fromstring(drawn).attrib["height"])
    for left, top, right, bottom in boxes(drawn):
        assert left >= 0
        assert right <= WIDTH
        assert top >= 0
        assert bottom <= height
    for one, other in combinations(boxes(drawn), 2):
        apart = one[2] <= other[0] + 0.1 or other[2] <= one[0] + 0.1 or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)


def test_no_text_lies_on_a_bar(drawn: str) -> None:
    bars = [bar for bar in ET.fromstring(drawn).iter(f"{SPACE}rect") if "rx" in bar.attrib]
    for bar in bars:
        left, top, wide = (float(bar.attrib[key]) for key in ("x", "y", "width"))
        beside = [box for box in boxes(drawn) if box[1] < top + 14 and box[3] > top]
        assert all(box[2] <= left or box[0] >= left + wide for box in beside)


def test_it_stands_alone(drawn: str) -> None:
    assert not re.search(r"var\(|url\(|href|class=|style=|<style|<script|<image|<!|&#", drawn.replace("&#x27;", "'"))
    colours = {node.get(key) for node in ET.fromstring(drawn).iter() for key in ("fill", "stroke")} - {None, "none"}
    assert all(re.fullmatch(r"#[0-9a-f]{6}", str(colour)) for colour in colours)
    root = ET.fromstring(drawn)
    assert root.attrib["font-family"] == "system-ui, sans-serif"
    assert {node.get("id") for node in root} >= set(root.attrib["aria-labelledby"].split())


def test_what_is_told_of_it_names_everybody_it_shows() -> None:
    svg = picture(verdict(standing("go", 2000.0), standing("a-very-long-name-" * 9, 1000.0, letters="B")))
    told = ET.fromstring(svg).findtext(f"{SPACE}desc") or ""
    assert "go 2,000 requests/s (95 % interval 1,900 to 2,100), tie A" in told
    assert "a-very-long-name-" * 9 in told


def test_it_says_the_answer_the_unit_the_machine_the_date_and_the_doubts() -> None:
    svg = picture(
        verdict(
            standing("go", doubts=[doubt("closes-connections", subject="go")]),
            standing("slow", 10.0, place=None, letters="", doubts=[doubt("dead-cell", "voids", "slow")]),
        ),
        doubts=[doubt("noisy-host")],
    )
    text = " ".join(node.text or "" for node in ET.fromstring(svg).iter(f"{SPACE}text"))
    for said in (
        "A study",
        "go served the most.",
        "requests/s",
        "Intel(R) Xeon(R) Platinum 8488C",
        "2026-11-20",
        "Doubts that void: dead-cell (slow).",
        "Doubts to keep in mind: noisy-host, closes-connections (go).",
        "void",
    ):
        assert said in text


def test_what_is_left_out_is_counted() -> None:
    text = picture(verdict(*MANY, *[standing(f"bad-{at}", None) for at in range(9)]))
    assert "and 95 more<" in text
    assert "bad-0 (build-failed)" in text
    assert "and 3 more<" in text
    assert f"{PANELS} of 9 tables of this study" in PICTURES["many tables"]()


def test_single_tables_are_shown_with_their_own_sentence() -> None:
    tables = [verdict(standing("go"), workload=f"work-{at}", sentence=f"sentence {at}") for at in range(3)]
    assert "take go" in picture(*tables)[-3000:] or "Take go" in picture(*tables)
    svg = picture(*tables, of=[2])
    assert "Sentence 1." in svg
    assert "work-1" in svg
    assert "work-0" not in svg
    assert "1 of 3 tables of this study" in svg


def test_bars_end_where_their_rates_are_and_the_dark_one_differs_in_its_colours_only() -> None:
    light, dark = (picture(verdict(standing("a", 1000.0), standing("b", 500.0)), dark=dark) for dark in (False, True))
    long, short = re.findall(r'<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)"', light)
    assert float(long) / float(short) == pytest.approx(2, abs=0.01)
    assert light != dark
    assert re.sub(r"#[0-9a-f]{6}", "", light) == re.sub(r"#[0-9a-f]{6}", "", dark)


@pytest.mark.parametrize(
    "text", ["", "short", "W" * 500, "many words of a sentence that is rather long " * 5, "漢字" * 90]
)
def test_lines_are_never_wider_than_asked(text: str) -> None:
    assert width(cut(text, 13, 90, bold=True), 13, bold=True) <= 90
    lines = wrap(text, 13, 200, 3)
    assert len(lines) <= 3
    assert all(width(line, 13) <= 200 for line in lines)
    assert lines == [] or "…" in lines[-1] or "".join(lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("rows", range(1, 6))
def test_names_and_letters_that_fit_are_not_cut(rows: int) -> None:
    names = ["go", "eventmachine", "node-single", "tornado-single", "gunicorn-gthread"][:rows]
    letters = ["AB", "AC", "CD", "BE", "ABCDE"][:rows]
    svg = picture(verdict(*[standing(name, 1e5, letters=each) for name, each in zip(names, letters, strict=True)]))
    assert "…" not in svg


def test_nothing_reaches_into_the_margin(drawn: str) -> None:
    assert all(round(left, 1) >= 32 and round(right, 1) <= WIDTH - 32 for left, _, right, _ in boxes(drawn))


def test_a_cut_name_keeps_both_its_ends() -> None:
    shown = [cut(f"flask-on-{'x' * 60}-{end}", 13, 150) for end in ("cpython", "pypy3.10")]
    assert shown[0].startswith("flask-on")
    assert shown[0].endswith("python")
    assert shown[0] != shown[1]


@pytest.fixture
def fonts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    return partial(only, monkeypatch, tmp_path)


def test_a_png_is_the_same_at_twice_the_size(drawn: str, fonts: Callable[..., None]) -> None:
    fonts(DejaVu_Sans=600)
    content = png(drawn)
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    root = ET.fromstring(drawn)
    assert struct.unpack(">II", content[16:24]) == (2 * WIDTH, 2 * int(root.attrib["height"]))


def test_without_resvg_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MachineError, match=r"-m uv pip install resvg-py==\d.*; --format svg needs nothing$"):
        png("<svg/>")


@pytest.mark.parametrize("there", [{}, {"Liberation_Serif": 600}, {"No_Such_Sans": 600, "Liberation_Serif": 600}])
def test_without_a_font_that_is_known_no_png_is_made(fonts: Callable[..., None], there: dict[str, int]) -> None:
    """Neither one without words, nor one in the face that resvg falls back to."""
    fonts(**there)
    with pytest.raises(MachineError, match="fonts-dejavu-core"):
        png(picture(verdict(standing("go"))))


def test_a_png_is_lettered_in_the_first_family_that_is_there(fonts: Callable[..., None]) -> None:
    svg = picture(verdict(standing("go")))
    fonts(Noto_Sans=600)
    alone = png(svg)
    fonts(Liberation_Serif=300, Noto_Sans=600, Verdana=700)
    assert png(svg) == alone
    fonts(Liberation_Serif=300, Verdana=700)
    assert png(svg) != alone


def test_rows_follow_each_other_at_one_distance() -> None:
    rows = [float(y) for y in re.findall(r'<rect x="[\d.]+" y="([\d.]+)"', picture(verdict(*MANY)))]
    assert {round(below - above, 1) for above, below in pairwise(rows)} == {22.0}
