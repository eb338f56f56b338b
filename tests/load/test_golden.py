"""Recorded outputs of each tool and the events they mean.

tests/golden/DRIVER/NAME.txt is what the tool said, NAME.order.json what it had been asked, NAME.json what we read
from it. A missing NAME.json is written (and the test fails once, so that somebody looks at it);
WEBDYNO_GOLDEN=rewrite writes them all.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from webdyno.histogram import decode, merge
from webdyno.load.driver import DRIVERS, DriverCommand, Event, Fault, Order, Summary
from webdyno.model.sample import ERROR_KINDS, Slice

GOLDEN = Path(__file__).parent.parent / "golden"
SILENCED = [
    f"h2load/{case}"
    for case in ("silent-close", "silent-close.timed", "until-close.timed", "reset.timed", "refused.timed", "silence")
]
"""Runs in which h2load lost connections: all but the first of them it calls without error."""
LAST_WORDS = {
    "wrk": "Connection refused",
    "wrk2": "Connection refused",
    "ab": "The timeout specified has expired",
    "h2load": "it gives up a connection that is closed unannounced",
}
RECORDED = sorted(path for driver in DRIVERS for path in (GOLDEN / driver).glob("*.txt"))


def read(recorded: Path) -> list[Event]:
    order = msgspec.json.decode(recorded.with_suffix(".order.json").read_bytes(), type=Order)
    name = recorded.parent.name
    command = DriverCommand(phase=None if name in ("engine", "jmeter") else "steady", argv=[name], order=order)
    return list(DRIVERS[name]().read(command, recorded.read_text().splitlines()))


def plain(events: list[Event]) -> list[dict[str, Any]]:
    return [{type(event).__name__: msgspec.to_builtins(event)} for event in events]


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_output_means_these_events(recorded: Path) -> None:
    found = plain(read(recorded))
    expected = recorded.with_suffix(".json")
    if os.environ.get("WEBDYNO_GOLDEN") == "rewrite" or not expected.exists():
        missing = not expected.exists()
        expected.write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")
        if missing and os.environ.get("WEBDYNO_GOLDEN") != "rewrite":
            pytest.fail(f"{expected.name} was missing and has been written: look at it, then run again")
    assert found == whole(msgspec.json.decode(expected.read_bytes()))


@pytest.mark.parametrize(("recorded", "bytes_per_s"), [("ab/timed", 2354.91 * 2**10), ("wrk/ok", 3.30 * 2**20)])
def test_the_bytes_of_a_second_are_the_transfer_rate_the_tool_prints(recorded: str, bytes_per_s: float) -> None:
    [found] = [event for event in read(GOLDEN / f"{recorded}.txt") if isinstance(event, Slice)]
    assert found.bytes_in is not None
    assert found.bytes_in / found.duration_ns * 1e9 == pytest.approx(bytes_per_s, rel=0.002)


def whole(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events as they were written, with what a Slice has gained since: a driver that says no more means None by it."""
    return [
        {kind: msgspec.to_builtins(msgspec.convert(fields, Slice)) if kind == "Slice" else fields}
        for event in events
        for kind, fields in event.items()
    ]


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_offered_request_is_in_exactly_one_bin_that_the_driver_can_tell(recorded: Path) -> None:
    can = DRIVERS[recorded.parent.name]().can
    for event in read(recorded):
        if isinstance(event, Slice):
            assert event.offered == event.ok + sum(event.errors.values())
            assert event.ok >= 0
            assert set(event.errors) <= set(can.error_kinds) <= set(ERROR_KINDS)
            assert 0 not in event.errors.values()


@pytest.mark.parametrize(
    ("recorded", "ok", "errors"),
    [
        # what the odd server really did: the 50th request of each 50 went wrong
        ("engine/ok", 1000, {}),
        ("engine/error", 0, {"wrong-status": 1000}),
        ("engine/errors-some", 980, {"wrong-status": 20}),
        ("engine/silent-close", 1000, {}),
        ("engine/announced-close", 1000, {}),
        ("engine/until-close", 1000, {}),
        ("engine/reset", 1000, {}),  # reset before a byte of answer on a used connection: sent once more
        ("engine/reset.close", 980, {"reset": 20}),
        ("engine/truncated", 980, {"truncated": 20}),
        ("engine/silence", 995, {"timeout": 5}),
        ("engine/wrong-body", 0, {"wrong-body": 1000}),
        ("engine/open", 1000, {}),
        # four connections of which each is taken out of use by a silence: what came due after that was never sent
        ("engine/open-silence", 796, {"shed": 200, "unfinished": 4}),
        ("ab/ok", 1000, {}),
        ("ab/error", 0, {"wrong-status": 1000}),
        ("ab/errors-some", 980, {"wrong-status": 20}),
        ("ab/announced-close", 1000, {}),
        ("ab/until-close", 1000, {}),
        ("ab/reset", 980, {"socket": 20}),
        ("ab/reset.close", 980, {"socket": 20}),
        ("ab/truncated", 980, {"wrong-body": 20}),
        ("ab/any-length", 1000, {}),  # -l: ab takes any length for right, its Can says so
        ("ab/empty", 0, {"socket": 1000}),
        ("ab/refused", 0, {"socket": 1000}),
        ("ab/head", 1000, {}),
        ("ab/ipv6", 1000, {}),
        ("wrk2/ok", 401, {}),  # it ends with the answer after the end
        ("wrk2/error", 0, {"wrong-status": 401}),
        ("wrk2/errors-some", 393, {"wrong-status": 8}),
        ("wrk2/silent-close", 4, {}),  # all four connections given up after their first answer: its Can says so
        ("wrk2/reset", 401, {"socket": 8}),
        ("wrk2/truncated", 401, {"socket": 8}),
        ("wrk2/silence", 350, {}),
        ("wrk2/slow", 4, {}),
        ("wrk2/empty", 0, {}),
        ("h2load/ok", 300, {}),
        ("h2load/error", 0, {"wrong-status": 300}),
        ("h2load/errors-some", 294, {"wrong-status": 6}),
        ("h2load/announced-close", 300, {}),
        ("h2load/ok.close", 300, {}),
        ("h2load/post", 300, {}),
        ("h2load/slow", 4, {"unfinished": 4}),
        ("oha/ok", 1000, {}),
        ("oha/errors-some", 980, {"wrong-status": 20}),
        ("oha/until-close", 1000, {}),
        ("oha/reset", 980, {"socket": 20}),
        ("oha/truncated", 980, {"socket": 20}),
        ("oha/silence", 995, {"timeout": 5}),
        ("oha/refused", 0, {"connect-refused": 1000}),
        ("jmeter/ok", 300, {}),
        ("jmeter/errors-some", 294, {"wrong-status": 6}),
        ("jmeter/wrong-body", 0, {"wrong-body": 300}),
        ("jmeter/until-close", 300, {}),
        ("jmeter/reset.close", 294, {"reset": 6}),
        ("jmeter/truncated", 294, {"truncated": 6}),
        ("jmeter/silence", 299, {"timeout": 1}),
        ("jmeter/empty", 0, {"socket": 300}),
        ("jmeter/refused", 0, {"connect-refused": 300}),
    ],
)
def test_counts_agree_with_what_the_server_did(recorded: str, ok: int, errors: dict[str, int]) -> None:
    slices = [event for event in read(GOLDEN / f"{recorded}.txt") if isinstance(event, Slice)]
    counted = Counter[str]()
    for slice_ in slices:
        counted.update(slice_.errors)
    assert (sum(slice_.ok for slice_ in slices), counted) == (ok, errors)


@pytest.mark.parametrize("recorded", ["ok", "errors-some", "wrong-body", "silence", "timed", "open", "open-silence"])
def test_histograms_of_the_real_engine_say_what_its_summary_says(recorded: str) -> None:
    events = read(GOLDEN / "engine" / f"{recorded}.txt")
    slices = [event for event in events if isinstance(event, Slice) and event.phase == "steady"]
    for slice_ in slices:
        timed = slice_.ok + sum(slice_.errors.get(kind, 0) for kind in ("wrong-status", "wrong-body", "timeout"))
        assert decode(slice_.latency_hdr or "").count == timed
    merged = merge(slice_.latency_hdr or "" for slice_ in slices)
    summary = events[-1]
    assert isinstance(summary, Summary)
    assert merged is not None
    for point in ("p50", "p75", "p90", "p99", "p99.9"):
        assert merged.percentile(float(point[1:])) == summary.fields["latency_ns"][point], point
    assert merged.mean == pytest.approx(summary.fields["latency_ns"]["mean"], rel=1e-3)


@pytest.mark.parametrize("recorded", ["open", "open-silence"])
def test_response_times_hold_every_request_and_say_how_many_are_only_bounds(recorded: str) -> None:
    events = read(GOLDEN / "engine" / f"{recorded}.txt")
    slices = [event for event in events if isinstance(event, Slice)]
    summary = events[-1]
    assert isinstance(summary, Summary)
    merged = merge(slice_.response_hdr or "" for slice_ in slices)
    lag = merge(slice_.lag_hdr or "" for slice_ in slices)
    assert merged is not None
    assert lag is not None
    assert merged.count == summary.fields["offered"]
    assert lag.count == summary.fields["offered"] - summary.fields["errors"]["shed"]
    assert sum(slice_.censored or 0 for slice_ in slices) == summary.fields["offered"] - summary.fields["ok"]
    for point in ("p50", "p90", "p99"):
        assert merged.percentile(float(point[1:])) == summary.fields["response_ns"][point], point


@pytest.mark.parametrize("recorded", ["wrk/refused", "wrk2/refused", "ab/silence", "ab/slow", *SILENCED])
def test_a_tool_that_gives_up_is_a_fault_with_its_last_words(recorded: str) -> None:
    [event] = read(GOLDEN / f"{recorded}.txt")
    assert isinstance(event, Fault)
    assert LAST_WORDS[recorded.partition("/")[0]] in event.message


def test_nothing_that_was_recorded_names_the_machine_it_was_recorded_on() -> None:
    for recorded in RECORDED:
        assert "/home" not in recorded.read_text()
        assert "/work" not in recorded.read_text()
