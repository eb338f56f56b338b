"""The page of the largest study stays small, and its reader finds the way."""

from __future__ import annotations

import functools
import re

import pytest

from tests.report.many import LEVELS, analysed, many
from tests.report.test_html import parsed
from webdyno.analyse import latency, window
from webdyno.report import timeline
from webdyno.report.html import render_html
from webdyno.report.svg import STYLES

pytestmark = pytest.mark.slow  # the page they share takes many seconds
MOST_BYTES = 3_000_000


@pytest.fixture(scope="module")
def large() -> str:
    """Like histograms are added once, and no warm-up is looked for: what is asked here is the size of the page."""
    merge = functools.cache(latency.merge)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window, "merge", lambda blobs: merge(tuple(blobs)))
        patch.setattr(window, "steady_slices", lambda run: [part for part in run.slices if part.phase == "steady"])
        patch.setattr(timeline, "merge", lambda blobs: merge(tuple(blobs)))
        return render_html(*many(), analysed())


def test_a_hundred_contenders_at_five_loads_in_ten_rounds_stay_under_three_megabytes(large: str) -> None:
    assert len(large.encode()) < MOST_BYTES


def test_it_has_contents_and_all_tables_but_the_first_are_closed(large: str) -> None:
    checker = parsed(large)
    for at in range(1, len(LEVELS) + 1):
        assert ("href", f"#table-{at}") in checker.attributes
        assert ("id", f"table-{at}") in checker.attributes
    assert re.findall(r'<details class="table"( open="open")?>', large) == [' open="open"', "", "", "", ""]


def test_the_loads_are_told_together(large: str) -> None:
    assert "1, 16, 64, 256 and 1,024 connections, keep-alive, closed loop" in large


def test_only_as_many_lines_are_coloured_as_can_be_told_apart(large: str) -> None:
    for chart in re.findall(r"<svg.*?</svg>", large, re.S):
        assert len(re.findall(r'class="line s\d"', chart)) <= STYLES
        assert len(re.findall(r'class="faint', chart)) <= STYLES


def test_every_round_of_a_coloured_contender_is_drawn_and_of_a_grey_one_none(large: str) -> None:
    (curves, *_) = re.findall(r'<svg[^>]*aria-label="Latency by percentile.*?</svg>', large, re.S)
    faint = re.findall(r'class="faint s\d" d="([^"]*)"', curves)
    assert [path.count("M") for path in faint] == [10] * STYLES
    assert 'class="faint grey"' not in curves
    assert curves.count('class="line grey"') == 100 - STYLES
