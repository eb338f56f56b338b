"""Shares: what is doubtful of one of several drivers is said with its name, and nothing of one like the others."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import LOAD, SECOND
from tests.analyse.test_doubts import doubts, good
from webdyno.analyse.shares import asked_of, doubts_of, drift_ns, part_of, shares_in
from webdyno.model.load import Load
from webdyno.model.share import Offset, Share

HERE = Offset(ns=0, uncertainty_ns=20_000)


def share(number: int = 1, **changes: Any) -> Share:
    plain: dict[str, Any] = {
        "name": f"driver {number}",
        "connections": 16,
        "offered": 1000,
        "ok": 1000,
        "start_late_ns": 100_000,
        "before": HERE,
        "after": HERE,
        "threads": 1,
        "span_ns": SECOND,
        "idle_ns": SECOND // 2,
        "run_delay_ns": 0,
        "ended": "duration",
    }
    return Share(**(plain | changes))


def said(**changes: Any) -> list[str]:
    odd = share(4, **changes)
    return list(doubts_of(odd, [share(1), share(2), share(3), odd], LOAD))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"idle_ns": SECOND // 20}, "was busy 95 % of its time: it was saturated"),
        ({"run_delay_ns": SECOND // 10}, "had no core for 10 % of its time, so its times are not the server's"),
        ({"start_late_ns": 4_000_000}, "began 4.00 ms late (its clock is known to 20.0 µs)"),
        ({"before": Offset(ns=9, uncertainty_ns=2_000_000)}, "began 100 µs late (its clock is known to 2.00 ms)"),
        ({"offered": 500}, "gave 14 % of the requests, and its share is 25 %"),
        ({"ended": "abandoned"}, "ended by itself (abandoned), and the others continued"),
    ],
)
def test_what_is_odd_about_one_driver_is_said(changes: dict[str, Any], sentence: str) -> None:
    assert said(**changes) == [sentence]


@pytest.mark.parametrize(
    "changes",
    [{}, {"offered": 900}, {"idle_ns": None}, {"run_delay_ns": None}, {"start_late_ns": None}, {"after": None}],
)
def test_one_like_the_others_and_what_is_unknown_raise_no_doubt(changes: dict[str, Any]) -> None:
    assert said(**changes) == []


def test_a_share_is_of_the_connections_or_of_the_schedule() -> None:
    both = [share(connections=3, offered=1), share(connections=1, offered=3)]
    rate = Load(connections=4, max_connections=4, rate_per_s=10.0, duration_s=1.0)
    assert [asked_of(each, both, LOAD) for each in both] == [0.75, 0.25]
    assert [asked_of(each, both, rate) for each in both] == [0.5, 0.5]
    assert [part_of(each, both) for each in both] == [0.25, 0.75]
    assert part_of(share(offered=0), [share(offered=0)]) is None


def test_a_clock_that_moved_during_the_load_is_known_by_how_much() -> None:
    assert drift_ns(share(before=Offset(ns=7, uncertainty_ns=1), after=Offset(ns=9, uncertainty_ns=1))) == 2
    assert drift_ns(share(after=None)) is None


def test_shares_are_read_from_a_last_word_and_nonsense_is_none() -> None:
    both = [share(1), share(2)]
    assert shares_in({"drivers": msgspec.to_builtins(both)}) == both
    assert [shares_in(summary) for summary in ({}, {"drivers": 7}, {"drivers": [{"name": 1}]})] == [[], [], []]


def test_a_table_doubts_a_cell_with_one_uneven_driver_and_no_other() -> None:
    even = {"drivers": msgspec.to_builtins([share(1), share(2)])}
    uneven = {"drivers": msgspec.to_builtins([share(1), share(2, start_late_ns=5_000_000)])}
    assert "uneven-drivers" not in doubts(good(summary=even))
    found = doubts(good(summary=uneven))["uneven-drivers"]
    assert "driver 2 began 5.00 ms late" in found.sentence
    assert found.numbers["findings"] == 3


def test_a_host_with_another_processor_than_the_first_is_doubted() -> None:
    assert said(processor="Xeon") == ["has another processor than driver 1: Xeon, not unknown"]
    assert said() == []
