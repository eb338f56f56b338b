"""Connections served, of how many: a column where some were not, in every form of the report, and none elsewhere."""

from __future__ import annotations

import csv
import io
import json
import re
from functools import cache

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, LOAD, plan, run
from tests.report.test_html import parsed
from tests.report.test_terminal import rendered
from webdyno.analyse import analyse
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis, Standing
from webdyno.report.csv import render_csv
from webdyno.report.html import render_html
from webdyno.report.json import render_json
from webdyno.report.markdown import render_markdown

TITLE = "connections served"
Told = tuple[Plan, Fingerprint, list[Run]]


@cache
def told(worst: int) -> tuple[Told, Analysis]:
    """go and node; node left that many of 10,000 connections without an answer in one of its rounds."""
    load = msgspec.structs.replace(LOAD, connections=10_000)
    fast = [run("go", rate=50_000 + at, round_=at, load=load) for at in (1, 2, 3)]
    slow = [
        run("node", rate=20_000 + at, round_=at, load=load, summary={"connections_unanswered": left})
        for at, left in enumerate((0, worst, worst // 2), 1)
    ]
    runs = [*fast, *slow]
    made = plan(runs)
    return (made, FINGERPRINT, runs), analyse(made, FINGERPRINT, runs)


def node(analysis: Analysis) -> Standing:
    return next(each for each in analysis.verdicts[0].standings if each.contender == "node")


def test_the_round_with_the_fewest_counts() -> None:
    standing = node(told(5_357)[1])
    assert (standing.connections, standing.connections_served) == (10_000, 4_643)


def test_what_the_driver_does_not_tell_is_unknown() -> None:
    runs = [run("go", round_=at, summary={}) for at in (1, 2, 3)]
    standing = analyse(plan(runs), FINGERPRINT, runs).verdicts[0].standings[0]
    assert (standing.connections, standing.connections_served) == (64, None)


def test_of_connections_that_a_rate_opens_as_it_needs_them_none_is_missing() -> None:
    load = msgspec.structs.replace(LOAD, rate_per_s=1_000.0, max_connections=640)
    runs = [run("go", rate=1_000, round_=at, load=load) for at in (1, 2, 3)]
    standing = analyse(plan(runs), FINGERPRINT, runs).verdicts[0].standings[0]
    assert (standing.connections, standing.connections_served) == (None, None)


def test_terminal_and_markdown_have_the_column_where_some_were_not_served() -> None:
    study, analysis = told(5_357)
    text = rendered(study, 160)
    assert TITLE in text
    assert "4,643 of 10,000" in text
    written = render_markdown(*study, analysis)
    (row,) = [line for line in written.splitlines() if line.startswith("|") and "| node |" in line and "4,643" in line]
    assert "| 0 % | 4,643 of 10,000 |" in row
    assert "| errors | connections served | doubts |" in written


def test_html_has_it_with_its_meaning_and_can_sort_by_it() -> None:
    study, analysis = told(5_357)
    checker = parsed(render_html(*study, analysis))
    assert "4,643 of 10,000" in checker.text
    assert ("data-key", "served") in checker.attributes
    assert ("data-value", "4643") in checker.attributes


@pytest.mark.parametrize("render", [render_html, render_markdown])
def test_where_all_were_served_there_is_no_such_column(render: object) -> None:
    study, analysis = told(0)
    page = re.sub("<style>.*?</style>", "", render(*study, analysis), flags=re.S)  # type: ignore[operator]
    assert TITLE not in page
    assert TITLE not in rendered(study, 160)


def test_csv_and_json_always_have_the_figure() -> None:
    study, analysis = told(5_357)
    rows = {row["contender"]: row for row in csv.DictReader(io.StringIO(render_csv(*study, analysis)))}
    assert (rows["node"]["connections"], rows["node"]["connections_served"]) == ("10000", "4643")
    assert rows["go"]["connections_served"] == "10000"
    found = json.loads(render_json(*study, analysis))["analysis"]["verdicts"][0]["standings"]
    assert [each["connections_served"] for each in found if each["contender"] == "node"] == [4_643]
