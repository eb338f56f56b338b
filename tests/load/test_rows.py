"""Rows: seconds, outcomes and latencies of a log, and how many connections still answered at its end."""

from __future__ import annotations

import pytest

from webdyno.histogram import decode
from webdyno.load.rows import OK, Rows

SECOND = 1_000_000_000


def rows_of(*requests: tuple[float, float, str]) -> Rows:
    """Start and length in seconds, outcome."""
    rows = Rows()
    for start, length, outcome in requests:
        timed = outcome != "socket"
        rows.add(5 * SECOND + round(start * 1e9), round(length * 1e9), outcome, timed=timed, bytes_in=10)
    return rows


def test_a_request_belongs_to_the_second_in_which_it_ended() -> None:
    rows = rows_of((0, 0.9, OK), (0.9, 0.2, OK), (1.5, 0.1, "wrong-status"), (1.6, 0.1, "socket"))
    first, second = rows.slices("steady", 2 * SECOND, offset_ns=None, sized=True)
    assert (first.offered, first.ok, first.errors, first.bytes_in) == (1, 1, {}, 10)
    assert (second.offered, second.ok, second.errors) == (3, 1, {"wrong-status": 1, "socket": 1})
    assert (first.start_ns, second.index) == (None, 1)


def test_every_latency_is_in_the_histogram_of_its_second() -> None:
    rows = rows_of((0, 0.1, OK), (0.1, 0.3, "wrong-status"), (0.4, 0.2, "socket"))
    [slice_] = rows.slices("steady", SECOND, offset_ns=None, sized=False)
    histogram = decode(slice_.latency_hdr or "")
    assert histogram.count == 2  # how long it took to fail is no latency
    assert histogram.max == pytest.approx(0.3e9, rel=1e-3)
    assert slice_.bytes_in is None


def test_the_last_second_may_be_shorter() -> None:
    found = rows_of((0, 1.2, OK)).slices("steady", 1_250_000_000, offset_ns=7, sized=False)
    assert [slice_.duration_ns for slice_ in found] == [SECOND, 250_000_000]
    assert [slice_.start_ns for slice_ in found] == [5 * SECOND + 7, 6 * SECOND + 7]


def test_in_flight_at_the_end_is_unfinished_and_begun_after_it_is_nothing() -> None:
    [slice_] = rows_of((0, 0.5, OK), (0.6, 0.5, OK), (1.1, 0.1, OK)).slices(
        "steady", SECOND, offset_ns=None, sized=False
    )
    assert (slice_.offered, slice_.ok, slice_.errors) == (2, 1, {"unfinished": 1})
    assert decode(slice_.latency_hdr or "").count == 1


def test_no_request_at_all_is_a_second_of_nothing() -> None:
    [slice_] = Rows().slices("steady", SECOND, offset_ns=None, sized=False)
    assert (slice_.offered, slice_.latency_hdr) == (0, None)
    assert Rows().alive(SECOND) == 0


@pytest.mark.parametrize(
    ("requests", "alive"),
    [
        ([(n / 10, 0.1, OK) for n in range(10)] * 2, 2),  # two at a time, one after the other, to the end
        ([(n / 10, 0.1, OK) for n in range(10)] + [(0, 0.1, OK)], 1),  # the second answered once
        ([(0, 0.1, OK), (0, 0.1, OK)], 0),  # both fell silent at once
        ([(0, 0.6, OK), (0, 0.6, OK)], 2),  # slow: the second requests are still under way
    ],
)
def test_connections_that_answer_at_the_end_are_counted(requests: list[tuple[float, float, str]], alive: int) -> None:
    assert rows_of(*requests).alive(SECOND) == alive
