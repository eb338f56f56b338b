"""Several drivers: a load shared out exactly, what they say merged exactly, and clocks compared."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from webdyno.histogram import decode, encode, merge
from webdyno.load.clocks import Exchange, offset
from webdyno.load.engine import Engine
from webdyno.load.merging import Merging, merged_slice, merged_summary
from webdyno.load.order import Order, PhaseEdge, Summary
from webdyno.load.several import WATCH_NS, dealt, orders, shared_command, split
from webdyno.model.load import Load, Stage
from webdyno.model.sample import Route, Slice
from webdyno.model.workload import Request

CLOSED = Load(connections=64, duration_s=2.0)


def slice_of(index: int = 0, **fields: Any) -> Slice:
    counts = dict.fromkeys(("bytes_in", "bytes_out", "connections_opened", "closes_announced", "closes_silent"), 1)
    counts |= dict.fromkeys(("stale_retries", "http10_answers", "in_flight", "censored", "idle_ns", "run_delay_ns"), 1)
    plain = {"phase": "steady", "index": index, "start_ns": 0, "duration_ns": 10, "offered": 1, "ok": 1, "errors": {}}
    return Slice(**(plain | counts | fields))


def test_what_is_dealt_is_all_there_and_nobody_has_two_more_than_another() -> None:
    for number in range(50):
        for drivers in range(1, 9):
            parts = [dealt(number, drivers, index) for index in range(drivers)]
            assert sum(parts) == number
            assert max(parts) - min(parts) <= 1


@pytest.mark.parametrize(
    "load",
    [
        CLOSED,
        Load(connections=7, count=1001),
        Load(connections=9, max_connections=31, rate_per_s=1234.5, duration_s=2.0),
        Load(connections=9, max_connections=9, rate_per_s=10.0, poisson=True, seed=7, duration_s=2.0),
        Load(connections=5, max_connections=50, burst_size=7, burst_every_s=0.01, duration_s=2.0),
        Load(connections=5, max_connections=50, rate_stages=(Stage(duration_s=2.0, first=1, last=9),), duration_s=2.0),
    ],
    ids=lambda load: load.pace,
)
@pytest.mark.parametrize("drivers", [2, 3, 5])
def test_the_parts_of_a_load_are_the_load(load: Load, drivers: int) -> None:
    parts = split(load, drivers)
    assert sum(part.connections for part in parts) == load.connections
    assert [part.connections for part in parts] >= [1] * drivers
    if load.max_connections is not None:
        assert sum(part.max_connections or 0 for part in parts) == load.max_connections
    if load.count is not None:
        assert sum(part.count or 0 for part in parts) == load.count
    own = {"connections": load.connections, "max_connections": load.max_connections, "count": load.count}
    assert {repr(msgspec.structs.replace(part, **own)) for part in parts} == {repr(load)}


def test_what_is_not_enough_for_all_is_refused() -> None:
    with pytest.raises(ValueError, match="from 1 to connections"):
        split(CLOSED, 65)
    with pytest.raises(ValueError, match="and count"):
        split(Load(connections=8, count=3), 4)
    with pytest.raises(ValueError, match="no pairs"):
        crowd = (Stage(duration_s=2.0, first=1, last=64),)
        split(msgspec.structs.replace(CLOSED, connection_stages=crowd), 2)


def test_each_driver_has_cores_of_its_own_as_far_as_there_are_any() -> None:
    def cores(drivers: int, *there: int) -> list[tuple[int, ...]]:
        load = msgspec.structs.replace(CLOSED, drivers=drivers)
        order = Order(host="h", port=1, requests=[Request(name="r", path="/")], load=load, cores=there)
        return [part.cores for part in orders(order)]

    assert cores(2, 1, 3, 5) == [(1, 5), (3,)]
    assert cores(3, 1, 3) == [(1,), (3,), (1,)]
    assert cores(2) == [(), ()]


def test_the_order_says_which_part_it_is_when_it_begins_and_that_we_will_be_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("webdyno.load.several.program", lambda: "engine")
    order = Order(host="h", port=1, requests=[Request(name="r", path="/")], load=CLOSED, cores=())
    stdin = shared_command(order, 1, 4, 77).stdin or b""
    assert stdin.endswith(b"}\n")
    assert stdin.count(b"\n") == 1
    said = msgspec.json.decode(stdin)
    assert (said["schema"], said["part"], said["start_at_ns"]) == (5, {"index": 1, "of": 4}, 77)
    assert said["watch_ns"] == WATCH_NS <= 2_500_000_000


def test_a_merged_slice_is_the_sum_and_its_histogram_that_of_all_values() -> None:
    drawn = random.Random(7)
    values = [[int(drawn.lognormvariate(12, 2)) for _ in range(500)] for _ in range(3)]
    hdr = [encode({value: own.count(value) for value in own}) for own in values]
    route = Route(name="a", offered=2, ok=1, errors={"reset": 1}, bytes_in=5)
    parts = [
        slice_of(start_ns=100 + n, duration_ns=10, offered=n + 2, ok=n + 1, errors={"reset": 1}, latency_hdr=hdr[n])
        for n in range(3)
    ]
    parts = [
        msgspec.structs.replace(part, routes=[route, route], censored_above_ns=9 - n) for n, part in enumerate(parts)
    ]
    whole = merged_slice(parts)
    assert (whole.offered, whole.ok, whole.errors, whole.bytes_in) == (9, 6, {"reset": 3}, 3)
    assert (whole.start_ns, whole.duration_ns, whole.censored_above_ns) == (100, 12, 7)
    assert [(part.offered, part.errors) for part in whole.routes] == [(6, {"reset": 3})] * 2
    everything = [value for own in values for value in own]
    assert (
        decode(whole.latency_hdr or "").counts()
        == decode(encode({v: everything.count(v) for v in everything})).counts()
    )
    unknown = merged_slice([parts[0], msgspec.structs.replace(parts[1], idle_ns=None)])
    assert (unknown.idle_ns, unknown.run_delay_ns) == (None, 2)


def test_slices_come_when_all_have_told_theirs_by_our_clock_and_in_order() -> None:
    merging = Merging([1000, -5])
    assert list(merging.tell(0, PhaseEdge("steady", 1100))) == [PhaseEdge("steady", 100)]
    assert not list(merging.tell(1, PhaseEdge("steady", 95)))
    assert not list(merging.tell(0, slice_of(0, start_ns=1100)))
    assert not list(merging.tell(0, slice_of(1, start_ns=1110)))
    (first,) = merging.tell(1, slice_of(0, start_ns=95))
    assert isinstance(first, Slice)
    assert (first.index, first.start_ns, first.duration_ns, first.offered) == (0, 100, 10, 2)
    assert not list(merging.tell(0, PhaseEdge("ended", 1120)))
    assert not list(merging.tell(0, Summary({})))
    assert not list(merging.tell(1, PhaseEdge("ended", 104)))
    alone, ended = merging.tell(1, Summary({}))  # it ended with its first slice
    assert isinstance(alone, Slice)
    assert (alone.index, alone.offered) == (1, 1)
    assert ended == PhaseEdge("ended", 120)


def summary(**fields: Any) -> dict[str, Any]:
    told = slice_of(latency_hdr=encode({1_000_000: 9, 5_000_000: 1}), response_hdr=encode({1_000_000: 10}))
    plain = {name: value for name, value in msgspec.structs.asdict(told).items() if name not in ("phase", "index")}
    points = {"connections_peak": 4, "connections_asked": 4, "connections_unanswered": 0, "sends_late": 0}
    return (
        plain
        | points
        | {
            "ended": "duration",
            "errors": {"reset": 1, "shed": 0},
            "statuses": {"200": 9},
            "routes": [],
            "threads": [{"cpu_share": 0.5}],
            "start_late_ns": 5,
            "drained_ns": 0,
            "first_error": None,
            "first_answer": None,
            "answers_per_connection": {"min": 2, "p50": 3, "max": 4},
            "started": {"wait": "sleep", "threads": 1, "connections": 4, "max_connections": 4},
        }
        | fields
    )


def test_the_last_words_become_one() -> None:
    parts = [summary(), summary(errors={"reset": 2, "shed": 3}, statuses={"200": 1, "500": 7}, start_late_ns=9)]
    parts[1] |= {"first_error": "late", "answers_per_connection": {"min": 1, "p50": 2, "max": 3}}
    parts[1]["latency_hdr"] = encode({9_000_000: 90})
    told = merged_summary(parts, [slice_of(start_ns=100, duration_ns=50), slice_of(1, start_ns=150, duration_ns=30)])
    assert (told["offered"], told["connections_asked"], told["duration_ns"], told["start_ns"]) == (2, 8, 80, 100)
    assert told["errors"] == {"reset": 3, "shed": 3}
    assert told["statuses"] == {"200": 10, "500": 7}
    assert (told["first_error"], told["start_late_ns"], len(told["threads"])) == ("late", 9, 2)
    assert told["answers_per_connection"] == {"min": 1, "max": 4}
    assert (told["started"]["threads"], told["started"]["wait"]) == (2, "sleep")
    times = merge([parts[0]["latency_hdr"], parts[1]["latency_hdr"]])
    assert times is not None
    assert (told["latency_ns"]["p50"], told["latency_ns"]["min"]) == (times.percentile(50), times.min)
    assert told["latency_ns"]["p50"] > 8_000_000, "of all, not the middle of two medians"


def test_who_ended_otherwise_is_the_end_of_all() -> None:
    ends = [["duration", "abandoned"], ["interrupted", "duration"], ["count", "count"]]
    told = [merged_summary([summary(ended=end) for end in both], [])["ended"] for both in ends]
    assert told == ["abandoned", "interrupted", "count"]


def test_points_that_the_unanswered_could_move_are_told_as_the_engine_tells_them() -> None:
    counted = {1000: 90, 5000: 9, 3000: 1}
    hdr = {"response_hdr": encode(counted), "censored": 1, "censored_above_ns": 3000}
    told = merged_summary([summary(**hdr)], [])
    assert told["response_ns"]["at_least"] == ["p99.9", "max"]


def test_the_shortest_exchange_says_how_a_clock_stands_and_how_well_that_is_known() -> None:
    far = 3_600_000_000_000
    exchanges = [Exchange(0, far + 900, 1000), Exchange(5000, far + 5030, 5100), Exchange(9000, far + 9500, 9600)]
    found = offset(exchanges)
    assert (found.ns, found.uncertainty_ns) == (far - 20, 50)
    assert abs(found.ns - far) <= found.uncertainty_ns
    # Of one machine: what is told lies between.
    here = offset([Exchange(100, 101, 121)])
    assert (here.ns, here.uncertainty_ns) == (0, 11)


def test_the_engine_of_this_schema_is_understood() -> None:
    started = b'{"event": "started", "schema": 5}'
    fault = b'{"event": "fault", "exit": 3, "message": "no"}'
    command = Order(host="h", port=1, requests=[], load=CLOSED, cores=())
    events = list(Engine().read(command, [started.decode(), fault.decode()]))  # type: ignore[arg-type]
    assert [type(event).__name__ for event in events] == ["Fault"]
