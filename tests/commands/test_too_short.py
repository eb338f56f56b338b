"""What loads are too short for: as `plan` and `run` say it before anything is measured, and `load` of what it saw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import LOAD, plan, run
from tests.commands.test_load import kinds, recorded
from webdyno.commands import call
from webdyno.commands import run as run_command
from webdyno.design.blocks import Room
from webdyno.histogram import encode
from webdyno.session.engine import Loaded
from webdyno.session.load_doubts import doubts
from webdyno.session.study import Intent

SHORT = "a window of 3 s is shorter than the time-out of 4 s: a request that hangs in one is not counted as an error"
FEW = "10,000 connections for 3 s: a contender that serves less than 10,000/s answers each of them less than 3 times"
STUDY = """title      = "Short"
question   = "Too short for what?"
contenders = ["waitress"]
workloads  = ["hello"]
shows      = ["errors"]

[[loads]]
connections = [10000]
duration_s  = 3
timeout_s   = 4
"""


def test_plan_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "short.toml"
    study.write_text(STUDY, encoding="utf-8")
    assert call(["plan", str(study)]) == 0
    told = capsys.readouterr().out
    assert SHORT in told
    assert FEW in told
    assert call(["plan", str(study), "-d", "30s"]) == 0
    told = capsys.readouterr().out
    assert "shorter than" not in told
    assert "a contender that serves less" not in told


def test_run_says_it_before_it_builds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = plan(
        [run(load=msgspec.structs.replace(LOAD, connections=10_000, duration_s=3.0, timeout_s=4.0))], shows=["errors"]
    )
    run_command._announce(Intent(made, tmp_path, {"engine": "0.1.0"}, set(), Room(memory_bytes=None)))
    told = capsys.readouterr().err
    assert SHORT in told
    assert FEW in told


def of_length(loaded: Loaded, **changes: Any) -> Loaded:
    load = msgspec.structs.replace(loaded.order.load, count=None, duration_s=2.0, **changes)
    return Loaded(msgspec.structs.replace(loaded.order, load=load), loaded.slices, loaded.summary)


def test_a_window_in_which_a_client_has_few_answers_says_so() -> None:
    ok = recorded("ok")
    answers = ok.summary["ok"]
    enough, few = (of_length(ok, connections=answers // each) for each in (3, 2))
    assert "few-cycles" not in kinds(enough)
    assert "few-cycles" in kinds(few)
    assert any(f"each of {answers // 2:,} connections 2.0 times" in doubt for doubt in doubts(few))


def test_requests_that_hang_in_a_window_shorter_than_their_time_out_are_said_to_be_in_no_count_of_errors() -> None:
    ok = recorded("ok")
    last = msgspec.structs.replace(ok.slices[-1], unfinished_hdr=encode({2_000_000_000: ok.summary["ok"] // 10}))
    left = Loaded(ok.order, [*ok.slices[:-1], last], ok.summary)
    assert "short-window" in kinds(of_length(left, timeout_s=5.0))
    assert "short-window" not in kinds(of_length(left, timeout_s=2.0))  # it would have been counted
    assert "short-window" not in kinds(of_length(ok, timeout_s=5.0))
