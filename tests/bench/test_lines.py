"""The page of the speed table, from figures that are given."""

from __future__ import annotations

from typing import Any

from bench import machine
from bench.cases import CASES, Case
from bench.paired import Window
from bench.speed import cost_us, lines

PLAIN = Case("plain", 64, "cross", 1.4)


def test_a_cost_is_per_request_or_per_megabyte() -> None:
    assert cost_us(Window(200_000_000, 100_000, 100), PLAIN) == 1.0
    assert cost_us(Window(200_000_000, 100_000, 100), PLAIN._replace(body=2_000_000)) == 0.5


def test_a_window_with_hardly_an_answer_has_no_cost() -> None:
    assert cost_us(Window(200_000_000, 100_000, 19), PLAIN) is None


def test_names_of_cases_are_told_apart() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def test_a_row_shows_goal_and_verdict_and_what_failed_stands_below() -> None:
    cost = {"median": 4.0, "low": 3.9, "high": 4.1, "rounds": 9}
    against = {"median": 1.5, "low": 1.45, "high": 1.6, "rounds": 9}
    row: dict[str, Any] = {"tool": "ours", "unit": "us/request", "cost": cost, "cost_q25": 3.9, "busy": 0.5}
    row |= {"wrk_divided_by_it": against, "goal": 1.4, "verdict": "met"}
    page = lines([{"case": "plain", "rows": [row], "failed": ["plain: hey broke"]}])
    assert " ".join(page[2].split()) == "plain ours 4.00 us/request 50 % 1.50 1.45 to 1.60 9 1.40 met"
    assert "plain: hey broke" in page


def test_the_machine_is_described_with_its_load() -> None:
    text = " ".join(machine.lines(machine.Watch().seen()))
    assert "kernel" in text
    assert "one-minute load" in text
