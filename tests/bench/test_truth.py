"""How claims are held against books, and how the truth of an open pace follows from them."""

from __future__ import annotations

import pytest

from bench.closed_truth import Row
from bench.open_truth import RATE, Schedule, error_of, in_order, in_turn, judge_counts, percentile
from bench.peers import Said
from bench.reference import Books

MS = 1_000_000


def row(right: int | None, wrong: int | None, said: Said | None, *, ended: bool = True, slack: int = 0) -> Row:
    return Row("any", "any", right, wrong, said, ended, slack)


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        (row(2000, 0, Said(2000, {})), "exact"),
        (row(1980, 20, Said(1980, {"timeout": 20})), "exact"),
        (row(2000, 0, Said(2000, {"read": 1999})), "1999 false errors"),
        (row(0, 2000, Said(2000, {})), "claims 2000 correct answers too many, hides 2000 errors"),
        (row(2000, 0, Said(1000, {"failed": 1000})), "1000 correct answers missing, 1000 false errors"),
        (row(2000, 0, None), "no result"),
        (row(2000, 0, None, ended=False), "did not end within 12 s; no result"),
        (row(52200, 0, Said(52187, {}), slack=16), "right (to 16 in flight)"),
        (row(1584, 16, Said(1584, {}), slack=16), "hides 16 errors"),  # silence is never in flight
        (row(None, None, Said(0, {"connect-refused": 9})), "exact"),
        (row(None, None, Said(0, {})), "refused connections are hidden"),
    ],
)
def test_a_verdict_names_every_difference(case: Row, verdict: str) -> None:
    assert case.verdict == verdict


def books(**changes: object) -> Books:
    fields: dict[str, object] = {"began_ns": 0, "connections": 1, "requests": 0, "right": 0, "broken": 0, "silent": 0}
    return Books(**{**fields, "delays_ns": [], "answered_ns": [], **changes})  # type: ignore[arg-type]


def test_answers_belong_to_due_times_in_their_order() -> None:
    schedule = Schedule(start_ns=5 * MS, seconds=1)
    answered = [due - 0 + 2 * MS for due in schedule.due()]
    late = books(answered_ns=list(reversed(answered)))
    assert in_order(late, schedule)[:-2] == [2 * MS] * (RATE - 2)
    assert in_order(late, schedule)[-1] == 1 * MS, "what comes after the end has waited until the end"


def test_an_answer_that_never_came_has_waited_until_the_end() -> None:
    assert in_order(books(), Schedule(0, 1))[0] == 1000 * MS


def test_behind_a_server_at_twice_its_capacity_each_waits_a_millisecond_longer() -> None:
    schedule = Schedule(0, 1)
    waited = in_turn(books(delays_ns=[2 * MS] * 500), schedule)
    assert waited[:3] == [2 * MS, 3 * MS, 4 * MS]
    assert waited[498] == 500 * MS
    assert waited[-1] == 1 * MS, "the last came in the last millisecond and is not served any more"


def test_the_tolerance_is_one_per_cent_or_fifty_microseconds() -> None:
    assert error_of(100_040_000, 100_000_000) == (True, "+40 us")
    assert error_of(101_000_000, 100_000_000) == (True, "+1.0 %")
    assert error_of(102_000_000, 100_000_000) == (False, "+2.0 %")
    assert error_of(40_000, 0) == (True, "+40 us")
    assert error_of(60_000, 0)[0] is False


def test_percentiles_are_those_of_hdrhistogram() -> None:
    values = list(range(1, 1001))
    assert [percentile(values, p) for p in (50, 99.9, 100)] == [500, 999, 1000]
    assert percentile([7], 50) == 7


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ({"offered": 10, "ok": 10, "errors": {}, "server_right": 10}, "exact"),
        ({"offered": 10, "ok": 8, "errors": {"unfinished": 2}, "server_right": 9}, "exact"),
        (
            {"offered": 10, "ok": 8, "errors": {"timeout": 2}, "server_right": 9},
            "missed: 1 answers are not booked as ok",
        ),
        ({"offered": 9, "ok": 9, "errors": {}, "server_right": 9}, "missed: 10 requests were due"),
    ],
)
def test_every_due_request_has_one_outcome(counts: dict[str, object], verdict: str) -> None:
    assert judge_counts(counts, 10) == verdict
