"""``webdyno report`` on a folder that an older webdyno wrote: what is said of it today, from what was measured then.

``schema-1-quickstart.sqlite.gz`` holds real Runs (three contenders of the quickstart, three rounds, two cores) in the
words of schema 1: no service, no first answer, no race, no warm-up of a contender's own.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from webdyno.commands.report import report

GOLDEN = Path(__file__).parents[1] / "golden" / "store"


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A folder as it lay there then."""
    packed = (GOLDEN / "schema-1-quickstart.sqlite.gz").read_bytes()
    (tmp_path / "results.sqlite").write_bytes(gzip.decompress(packed))
    return tmp_path


def schema(folder: Path) -> int:
    database = sqlite3.connect(folder / "results.sqlite")
    (number,) = database.execute("PRAGMA user_version").fetchone()
    database.close()
    return int(number)


def told(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    assert report(folder, json=True) == 0
    return json.loads(capsys.readouterr().out)


def test_it_gets_todays_verdicts_and_stays_as_it_is(older: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (older / "results.sqlite").read_bytes()
    assert schema(older) == 1
    made = told(older, capsys)
    [verdict] = made["analysis"]["verdicts"]
    names = {standing["contender"] for standing in verdict["standings"]}
    assert names == {"go", "waitress", "gunicorn-sync"}
    assert verdict["winners"][0] == "go"
    assert verdict["standings"][-1]["contender"] == "gunicorn-sync"
    assert (older / "results.sqlite").read_bytes() == before


def test_what_was_not_thought_of_then_is_told_now(older: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Limits, warm-ups and most doubts came after schema 1; all they need was written down then."""
    [verdict] = told(older, capsys)["analysis"]["verdicts"]
    by_name = {standing["contender"]: standing for standing in verdict["standings"]}
    for standing in by_name.values():
        for key in ("rate", "p50", "p99", "cpu_per_request", "memory_peak", "ratio_to_best"):
            estimate = standing[key]
            assert estimate["rounds"] == 3
            assert estimate["low"] <= estimate["value"] <= estimate["high"]
        assert {limit["kind"] for limit in standing["limits"]} & {"cpu", "closing", "generator"}
        assert standing["warm_up"]["cold_start"]["rounds"] == 3
        assert standing["warm_up"]["first_answer"] is None  # nobody looked at it then
    assert "closes-connections" in {doubt["kind"] for doubt in by_name["gunicorn-sync"]["doubts"]}


@pytest.mark.parametrize(("form", "shows"), [("terminal", "gunicorn-sync"), ("html", "<!doctype html>"), ("md", "| ")])
def test_every_form_of_the_report_can_be_made_of_it(
    older: Path, capsys: pytest.CaptureFixture[str], form: Any, shows: str
) -> None:
    assert report(older, format_=form) == 0
    assert shows in capsys.readouterr().out


def test_two_runs_of_old_are_too_few_to_tell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(GOLDEN / "schema-1.sqlite", tmp_path / "results.sqlite")
    [verdict] = told(tmp_path, capsys)["analysis"]["verdicts"]
    [standing] = verdict["standings"]
    assert (standing["rounds_ok"], standing["rounds_failed"]) == (1, 1)
    assert verdict["sentence"].startswith("no contender served this in a way that can be compared")
    assert standing["rate"]["low"] is None
