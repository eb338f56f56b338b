"""The engine's order, key by key as the protocol writes it, and its lines, right and wrong."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest

from webdyno.load import engine
from webdyno.load.driver import DriverCommand, Fault, Order, PhaseEdge, Rested, Summary
from webdyno.load.engine import Engine
from webdyno.model.errors import UsageError
from webdyno.model.load import Load
from webdyno.model.sample import Slice
from webdyno.model.workload import Expectation, Request

HELLO = Request(name="hello", path="/", headers=[("Accept", "*/*")], expect=Expectation(body="Hello, World!"))
LOAD = Load(connections=64, duration_s=2.0, warmup_s=0.5, timeout_s=5.0)


def order_of(**changes: Any) -> Order:
    fields: dict[str, Any] = {"host": "127.0.0.1", "port": 8080, "requests": [HELLO], "load": LOAD, "cores": (1,)}
    return Order(**{**fields, **changes})


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "program", lambda: "/bin/webdyno-engine")


def sent(**changes: Any) -> Any:
    [command] = Engine().commands(order_of(**changes))
    assert command.stdin is not None
    return json.loads(command.stdin)


def said(*lines: dict[str, Any] | str) -> list[Any]:
    command = DriverCommand(phase=None, argv=[], order=order_of())
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return list(Engine().read(command, texts))


STARTED = {"event": "started", "schema": 1, "engine": "0.1.0", "at_ns": 1, "threads": 1, "connections": 64}
SLICE = {
    "event": "slice",
    "phase": "steady",
    "index": 0,
    "start_ns": 5,
    "duration_ns": 10,
    "offered": 3,
    "ok": 2,
    "errors": {"wrong-body": 1, "timeout": 0},
    "bytes_in": 1,
    "bytes_out": 2,
    "connections_opened": 3,
    "closes_announced": 4,
    "closes_silent": 5,
    "stale_retries": 6,
    "http10_answers": 7,
    "in_flight": 8,
    "latency_hdr": None,
    "connect_hdr": None,
    "cpu_user_ns": 9,
    "cpu_system_ns": 10,
}
SUMMARY = {"event": "summary", "ended": "duration", "duration_ns": 10, "offered": 3, "ok": 2, "errors": {"timeout": 1}}


def test_order_is_exactly_what_the_protocol_shows() -> None:
    digest = hashlib.sha256(b"Hello, World!").hexdigest()
    assert sent() == {
        "schema": 1,
        "target": {"host": "127.0.0.1", "port": 8080},
        "requests": [
            {
                "name": "hello",
                "method": "GET",
                "path": "/",
                "headers": [["Accept", "*/*"]],
                "body_base64": None,
                "weight": 1,
                "expect": {
                    "statuses": [200],
                    "body_sha256": digest,
                    "body_length": 13,
                    "body_contains": None,
                    "content_type": None,
                },
            }
        ],
        "pace": {"kind": "closed", "connections": 64},
        "duration_ns": 2_000_000_000,
        "count": None,
        "warmup_ns": 500_000_000,
        "timeout_ns": 5_000_000_000,
        "connect_timeout_ns": 5_000_000_000,
        "keep_alive": True,
        "http": "1.1",
        "threads": 1,
        "cpus": [1],
        "slice_ns": 1_000_000_000,
    }


def test_example_of_the_protocol_document_has_the_keys_we_send() -> None:
    document = Path(__file__).parents[2] / "docs/reference/engine-protocol.md"
    example = document.read_text().split("```json\n")[1].split("```")[0]
    shown = json.loads(example)
    ours = sent()
    assert ours.keys() == shown.keys()
    assert ours["requests"][0].keys() == shown["requests"][0].keys()
    assert ours["requests"][0]["expect"].keys() == shown["requests"][0]["expect"].keys()


def test_body_travels_as_base64_and_its_length_counts_bytes_not_letters() -> None:
    request = Request(name="post", method="POST", path="/", body="ü", expect=Expectation(body="ü"))
    [ours] = sent(requests=[request])["requests"]
    assert ours["body_base64"] == "w7w="
    assert ours["expect"]["body_length"] == 2


def test_weighted_requests_all_go_into_one_order() -> None:
    others = [Request(name="a", path="/a", weight=3), Request(name="b", path="/b")]
    assert [(request["name"], request["weight"]) for request in sent(requests=others)["requests"]] == [
        ("a", 3),
        ("b", 1),
    ]


@pytest.mark.parametrize(
    ("connections", "cores", "threads"),
    [
        (64, (2, 3), 2),
        (1, (2, 3), 1),  # a thread without a connection would only burn its core
        (64, (), 1),  # not pinned
    ],
)
def test_threads_are_the_cores_but_never_more_than_connections(
    connections: int, cores: tuple[int, ...], threads: int
) -> None:
    ours = sent(load=Load(connections=connections, duration_s=1), cores=cores)
    assert (ours["threads"], ours["cpus"]) == (threads, list(cores))


def test_count_goes_instead_of_a_duration() -> None:
    ours = sent(load=Load(connections=1, count=10))
    assert (ours["count"], ours["duration_ns"]) == (10, None)


@pytest.mark.parametrize(
    ("load", "pace"),
    [
        (
            Load(connections=4, rate_per_s=1000, max_connections=9, duration_s=1),
            {"kind": "constant", "rate_per_s": 1000, "connections": 4, "max_connections": 9},
        ),
        (
            Load(connections=4, rate_per_s=2.5, poisson=True, seed=7, max_connections=9, duration_s=1),
            {"kind": "poisson", "rate_per_s": 2.5, "seed": 7, "connections": 4, "max_connections": 9},
        ),
    ],
)
def test_open_load_is_an_order_of_schema_2(load: Load, pace: dict[str, Any]) -> None:
    ours = sent(load=load)
    assert (ours["schema"], ours["pace"]) == (2, pace)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"max_connections": 9}, "need rate_per_s: without it the load is closed"),
        ({"seed": 1}, "need rate_per_s"),
        ({"poisson": True}, "need rate_per_s"),
        ({"rate_per_s": 0.0, "max_connections": 9}, "rate_per_s must be above 0"),
        ({"rate_per_s": 1.0}, "max_connections must be at least connections, which is 4"),
        ({"rate_per_s": 1.0, "max_connections": 3}, "max_connections must be at least connections"),
        ({"rate_per_s": 1.0, "max_connections": 4, "poisson": True}, "poisson needs a seed"),
        ({"rate_per_s": 1.0, "max_connections": 4, "seed": 1}, "poisson needs a seed, and nothing else does"),
    ],
)
def test_load_that_is_neither_closed_nor_open_is_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Load(connections=4, duration_s=1, **fields)


def test_open_load_is_never_called_by_the_name_of_a_closed_one() -> None:
    even = Load(connections=4, rate_per_s=1000.0, max_connections=9)
    random = Load(connections=4, rate_per_s=1000.0, max_connections=9, poisson=True, seed=7, keep_alive=False)
    assert Load(connections=4).label == "4 connections, keep-alive"
    assert even.label == "1000/s over 4 to 9 connections, keep-alive"
    assert random.label == "1000/s Poisson (seed 7) over 4 to 9 connections, close"


def test_slice_takes_all_clocks_of_a_newer_engine_and_lacks_them_from_an_older() -> None:
    clocks = {
        "response_hdr": "r",
        "lag_hdr": "l",
        "ttfb_hdr": "t",
        "censored": 1,
        "censored_above_ns": 5,
        "unfinished_hdr": "u",
    }
    [newer, _] = said(SLICE | clocks, SUMMARY)
    [older, _] = said(SLICE, SUMMARY)
    assert {key: getattr(newer, key) for key in clocks} == clocks
    assert {getattr(older, key) for key in clocks} == {None}


def test_json_value_that_was_never_verified_is_refused() -> None:
    request = Request(name="json", path="/", expect=Expectation(json_equals="{}"))
    with pytest.raises(UsageError, match="request 'json' expects a JSON value, which cannot be compared under load"):
        Engine().commands(order_of(requests=[request]))


def test_json_value_whose_bytes_were_seen_is_checked_by_them() -> None:
    request = Request(name="json", path="/", expect=Expectation(json_equals="{}", body_sha256="ab", body_length=2))
    [ours] = sent(requests=[request])["requests"]
    assert ours["expect"]["body_sha256"] == "ab"


def test_events_come_out_as_their_lines_go_in() -> None:
    order = DriverCommand(phase=None, argv=[], order=order_of())
    taken = []

    def lines() -> Any:
        for line in (STARTED, {"event": "phase", "phase": "steady", "at_ns": 3}, SLICE):
            taken.append(line["event"])
            yield json.dumps(line)

    events = Engine().read(order, lines())
    assert next(events) == PhaseEdge("steady", 3)
    assert taken == ["started", "phase"]


def test_turns_have_a_phase_of_their_own_and_keys_that_other_slices_lack() -> None:
    ready = {"event": "ready", "at_ns": 2, "connections": 64}
    turn = SLICE | {"phase": "turn", "turn": 4, "drained_ns": 812, "reopened": 3, "latency_hdr": None}
    edge = {"event": "phase", "phase": "turn", "at_ns": 3}
    [rested, begun, event, plain, _] = said(STARTED | {"schema": 4}, ready, edge, turn, SLICE, SUMMARY)
    assert rested == Rested(connections=64)
    assert begun == PhaseEdge("turn", 3)
    assert (event.phase, event.turn, event.drained_ns, event.reopened) == ("turn", 4, 812, 3)
    assert (plain.turn, plain.drained_ns, plain.reopened) == (None, None, None)


def test_slice_keeps_every_count_and_leaves_zero_errors_out() -> None:
    [event, _] = said(SLICE, SUMMARY)
    assert isinstance(event, Slice)
    assert event.errors == {"wrong-body": 1}
    assert (event.stale_retries, event.http10_answers, event.cpu_system_ns) == (6, 7, 10)


def test_summary_is_kept_as_it_came_with_what_the_engine_said_of_itself() -> None:
    [event] = said(STARTED, SUMMARY | {"connections_unanswered": 2})
    assert isinstance(event, Summary)
    assert event.fields["connections_unanswered"] == 2
    assert event.fields["started"]["engine"] == "0.1.0"


def test_keys_of_a_newer_engine_are_let_pass() -> None:
    [event, _] = said(SLICE | {"new_in_the_next_version": 1}, SUMMARY)
    assert isinstance(event, Slice)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ({key: value for key, value in SLICE.items() if key != "ok"}, "not of its protocol"),
        (SLICE | {"ok": "2"}, "not of its protocol"),
        ({"event": "surprise"}, "not of its protocol"),
        ("thread 'main' panicked", "not of its protocol"),
        (SLICE | {"ok": 3}, "slice 0 of webdyno-engine does not add up: 3 offered, 3 ok, 1 errors"),
        (SUMMARY | {"ok": 9}, "the summary of webdyno-engine does not add up"),
        (STARTED | {"schema": 6}, "webdyno-engine speaks schema 6, this webdyno speaks 1, 2, 3, 4, 5"),
    ],
)
def test_line_that_cannot_be_believed_is_a_fault_and_ends_it(line: dict[str, Any] | str, sentence: str) -> None:
    [event] = said(line, SUMMARY)
    assert isinstance(event, Fault)
    assert sentence in event.message


@pytest.mark.parametrize(
    ("told", "idle", "delay"),
    [
        ({}, None, None),
        ({"idle_ns": None, "run_delay_ns": None}, None, None),
        ({"idle_ns": 7, "run_delay_ns": 0}, 7, 0),
    ],
)
def test_how_the_engine_spent_its_time_is_known_where_it_says_so(
    told: dict[str, int | None], idle: int | None, delay: int | None
) -> None:
    slice_ = said(STARTED, SLICE | told)[0]
    assert isinstance(slice_, Slice)
    assert (slice_.idle_ns, slice_.run_delay_ns) == (idle, delay)


def test_fault_names_the_key_and_the_exit_code() -> None:
    [event] = said({"event": "fault", "exit": 2, "key": "pace.connections", "message": "must be at least 1"})
    assert event == Fault("pace.connections: must be at least 1", 2)


def test_fault_without_a_key_is_its_sentence_alone() -> None:
    assert said({"event": "fault", "exit": 3, "key": None, "message": "no such host"}) == [Fault("no such host", 3)]


@pytest.mark.parametrize(("lines", "last"), [([], "none"), ([STARTED], '{"event": "started"')])
def test_engine_that_dies_is_a_fault_with_its_last_line(lines: list[dict[str, Any]], last: str) -> None:
    event = said(*lines)[-1]
    assert isinstance(event, Fault)
    assert f"webdyno-engine ended without a summary; its last line: {last}" in event.message


def test_version_is_that_of_the_package_the_engine_came_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", {"webdyno-engine": "0.1.0"}.__getitem__)
    assert Engine().version(lambda argv: "") == "0.1.0"


def test_version_of_an_engine_without_a_package_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    assert Engine().version(lambda argv: "") == "unknown"
