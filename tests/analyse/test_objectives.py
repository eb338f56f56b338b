"""Objectives: what is missed is said with what it was, from due where there is a schedule; who stops, misses."""

from __future__ import annotations

from typing import Any

import pytest

from webdyno.analyse.objectives import Course, missed
from webdyno.analyse.unanswered import silence
from webdyno.commands.slo import objectives
from webdyno.histogram import encode
from webdyno.model.load import Load
from webdyno.model.sample import Slice

SECOND = 1_000_000_000
MS = 1_000_000
CLOSED: dict[str, Any] = {
    "duration_ns": 2 * SECOND,
    "offered": 1010,
    "ok": 1000,
    "errors": {"timeout": 2, "unfinished": 8},
    "latency_ns": {"p50": 1_000_000, "p99": 40_000_000, "p99.9": 60_000_000, "max": 60_000_000},
}
OPEN = {**CLOSED, "response_ns": {"p50": 1_000_000, "p99": 900_000_000, "p99.9": 950_000_000}}
LOOPING = Load(connections=4, duration_s=4.0, warmup_s=0.0)
AT_A_RATE = Load(connections=4, max_connections=400, rate_per_s=200.0, duration_s=4.0, warmup_s=0.0)


def second(index: int, ok: int, *, phase: Any = "steady", quick_ns: int = MS, **fields: Any) -> Slice:
    """A second with so many correct answers, the first byte of each after ``quick_ns``."""
    given = {"errors": {}, "bytes_in": 100 * ok, "ttfb_hdr": encode({quick_ns: ok}) if ok else None} | fields
    return Slice(
        phase=phase,
        index=index,
        start_ns=index * SECOND,
        duration_ns=given.pop("duration_ns", SECOND),
        offered=ok + sum(given["errors"].values()),
        ok=ok,
        **given,
    )


def left(*ages_ns: int) -> dict[str, Any]:
    """What the last second says of requests that were under way at its end."""
    counted = {age: ages_ns.count(age) for age in set(ages_ns)}
    return {"errors": {"unfinished": len(ages_ns)}, "unfinished_hdr": encode(counted)}


def course(slices: list[Slice], load: Load) -> Course:
    """A load of these seconds; every percentile is that of quick answers."""
    kinds = {kind for slice_ in slices for kind in slice_.errors}
    errors = {kind: sum(slice_.errors.get(kind, 0) for slice_ in slices) for kind in kinds}
    quick = dict.fromkeys(("p50", "p90", "p99", "p99.9", "max", "mean"), MS)
    summary = {
        "duration_ns": sum(slice_.duration_ns for slice_ in slices),
        "offered": sum(slice_.offered for slice_ in slices),
        "ok": sum(slice_.ok for slice_ in slices),
        "errors": errors,
        "latency_ns": quick,
        "response_ns": quick,
    }
    return Course(summary, slices, load)


@pytest.mark.parametrize(
    ("expected", "slo", "summary"),
    [
        ([], "p99<50ms, errors<0.5%, rate>400", CLOSED),
        (["p99.9<50ms: missed, it was 60.0 ms"], "p99.9<50ms", CLOSED),
        (["p99<50ms: missed, it was 900 ms"], "p99<50ms", OPEN),  # from due: the stall is not hidden
        (["errors<0.1%: missed, it was 0.20 %"], "errors<0.1%", CLOSED),
        (["rate>1000: missed, it was 500/s"], "rate>1000", CLOSED),
        (["p50<1ms: missed, nothing was answered"], "p50<1ms", {**CLOSED, "latency_ns": None}),
        (
            ["p50 < 900us: missed, it was 1.00 ms", "rate > 600: missed, it was 500/s"],
            "p50 < 900us, rate > 600",
            CLOSED,
        ),
        ([], "", CLOSED),
    ],
)
def test_what_is_missed_is_said(expected: list[str], slo: str, summary: dict[str, Any]) -> None:
    assert missed(objectives(slo), Course(summary, [], LOOPING)) == expected


def test_looping_clients_of_a_server_that_hangs_miss_every_objective() -> None:
    hung = [second(0, 500), second(1, 0), second(2, 0), second(3, 0, **left(*[3600 * MS] * 4))]
    said = missed(objectives("p99<50ms, errors<1%"), course(hung, LOOPING))
    assert said == [
        "p99<50ms: missed, the clients spent 90 % of the time in requests that had no answer at the end",
        "missed, no request was answered in the last 3.00 s, while 4 requests waited",
    ]
    assert missed([], course(hung, LOOPING)) == []


def test_one_client_of_four_that_hangs_is_a_quarter_of_the_time_whatever_the_others_were_answered() -> None:
    hung = [second(0, 9000), second(1, 9000, **left(2 * SECOND, MS, MS, MS))]
    assert missed(objectives("p99<50ms"), course(hung, LOOPING)) == [
        "p99<50ms: missed, the clients spent 25 % of the time in requests that had no answer at the end"
    ]
    assert missed(objectives("p50<50ms, errors<0.1%"), course(hung, LOOPING)) == []


def test_at_a_rate_requests_that_waited_for_longer_than_the_objective_are_errors() -> None:
    ages = [5 * MS * number for number in range(1, 301)]
    hung = [second(0, 200), second(1, 200), second(2, 100), second(3, 0, **left(*ages))]
    assert missed(objectives("p99<50ms, errors<1%"), course(hung, AT_A_RATE)) == [
        "errors<1%: missed, it was 37 % with 290 requests that had no answer after 50.0 ms",
        "missed, no request was answered in the last 1.00 s, while 300 requests waited",
    ]


def test_without_a_latency_a_request_may_wait_for_a_second_or_as_long_as_the_slowest_answer() -> None:
    ages = [800 * MS, 1500 * MS]
    half_hung = course([second(0, 100), second(1, 100, **left(*ages))], AT_A_RATE)
    assert missed(objectives("errors<0.1%"), half_hung) == [
        "errors<0.1%: missed, it was 0.50 % with 1 request that had no answer after 1.00 s"
    ]
    slow = dict(half_hung.summary) | {"latency_ns": {"max": 2 * SECOND}}
    assert missed(objectives("errors<0.1%"), Course(slow, half_hung.slices, AT_A_RATE)) == []


def test_a_rate_of_which_a_part_was_never_sent_misses_every_objective() -> None:
    shed = course([second(0, 80, errors={"shed": 20})], AT_A_RATE)
    assert missed(objectives("p50<50ms"), shed) == [
        "missed, 20 % were never sent, because every connection was waiting",
    ]


@pytest.mark.parametrize(
    "slices",
    [
        [second(0, 100), second(1, 100, **left(MS, MS))],
        # a second was nearly over when it hung: too short to tell
        [second(0, 100), second(1, 1, **left(990 * MS))],
        [second(0, 100), second(1, 0, duration_ns=SECOND // 2, **left(SECOND // 2))],
        # handlers that take five seconds answer in step
        [second(0, 4, quick_ns=5 * SECOND), second(1, 0), second(2, 0, **left(2 * SECOND))],
        # nothing was due: a rate of one in ten seconds, its next request a moment old
        [second(0, 1), second(1, 0), second(2, 0), second(3, 0, **left(MS))],
        [second(0, 1), second(1, 0), second(2, 0)],
        # a long body is on its way
        [second(0, 1), second(1, 0, bytes_in=9000), second(2, 0, bytes_in=9000, **left(3 * SECOND))],
        # wrong answers are answers
        [second(0, 1), second(1, 0, errors={"wrong-status": 9}, bytes_in=0)],
        # a driver that tells nothing of bytes
        [second(0, 1), second(1, 0, bytes_in=None, errors={"timeout": 3})],
        [],
    ],
)
def test_nobody_is_called_silent_who_is_only_slow_or_was_not_asked(slices: list[Slice]) -> None:
    assert silence(slices) is None


def test_a_server_that_only_times_out_or_refuses_at_the_end_is_silent() -> None:
    found = silence([second(0, 100), second(1, 0, errors={"timeout": 3}), second(2, 0, errors={"connect-refused": 4})])
    assert found is not None
    assert found.sentence == "no request was answered in the last 2.00 s, while 7 requests waited"
