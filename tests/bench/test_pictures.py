"""The pictures of docs/honest-numbers.md: files on white that say what they show, and the ones that lie there."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from bench.trust import pictures
from webdyno.model.race import Race

DOCS = Path(__file__).parents[2] / "docs" / "honest"
MADE = {"intervals.svg": pictures.intervals(), "race.svg": pictures.raced()}


@pytest.mark.parametrize("name", MADE)
def test_they_are_the_ones_in_the_docs_on_white_with_a_title(name: str) -> None:
    assert MADE[name] == (DOCS / name).read_text("utf-8"), "run: python -m bench.trust pictures"
    title, ground = ET.fromstring(MADE[name])[:2]
    assert title.text
    assert ground.attrib["fill"] == "#ffffff"


def test_counting_seconds_calls_equals_different_and_counting_starts_hardly_ever() -> None:
    seconds, starts = map(int, re.findall(r"(\d+) of 60 call", MADE["intervals.svg"]))
    assert seconds > 15
    assert starts <= 6


def test_a_race_leaves_out_more_than_it_runs_and_its_intervals_hold_the_truth() -> None:
    text = MADE["race.svg"]
    ran = int(re.findall(r"the (\d+) runs it did", text)[0])
    assert text.count(f'fill="{pictures.RIGHT}"') == ran
    assert text.count('fill="#ffffff" stroke') == Race().most_rounds * pictures.FIELD - ran
    assert text.count(f'stroke="{pictures.WRONG}"') <= 1
