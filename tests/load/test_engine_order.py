"""Orders of schema 3: each key of it in the form of the protocol, and none where an older schema will do."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from webdyno.load.driver import Order, Tls, Way
from webdyno.load.engine_order import engine_order
from webdyno.model.load import Load, Stage
from webdyno.model.workload import Request

CLOSED = Load(connections=4, duration_s=1, warmup_s=0)
OPEN = Load(connections=4, rate_per_s=10, max_connections=8, duration_s=1, warmup_s=0)
change = msgspec.structs.replace


def order_of(load: Load = CLOSED, **changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"host": "h", "port": 80, "requests": [Request(name="a", path="/")], "cores": ()}
    return engine_order(Order(load=load, **{**fields, **changes}))


@pytest.mark.parametrize(
    ("load", "way", "keys"),
    [
        (change(CLOSED, pipeline=8), Way(), {"pipeline": 8}),
        (change(CLOSED, http="2"), Way(), {"http": "2"}),
        (change(CLOSED, http="2", streams=10), Way(), {"http": "2", "streams": 10}),
        (change(OPEN, drain_s=0.5), Way(), {"drain_ns": 500_000_000}),
        (change(CLOSED, warmup_s=2.0, opening_s=1.5), Way(), {"warmup_ns": 2_000_000_000, "opening_ns": 1_500_000_000}),
        (CLOSED, Way(sources=("127.0.0.2", "127.0.0.3")), {"sources": ["127.0.0.2", "127.0.0.3"]}),
        (CLOSED, Way(linger="reset"), {"linger": "reset"}),
        (CLOSED, Way(backend="io_uring"), {"backend": "io_uring"}),
        (CLOSED, Way(unix="/run/x.sock"), {"target": {"host": "h", "port": 80, "unix": "/run/x.sock"}}),
        (
            CLOSED,
            Way(tls=Tls(verify=False)),
            {"tls": {"verify": False, "roots_pem": None, "server_name": None, "resume": True}},
        ),
    ],
)
def test_a_key_of_schema_3_makes_an_order_of_schema_3(load: Load, way: Way, keys: dict[str, Any]) -> None:
    written = order_of(load, way=way)
    assert written["schema"] == 3
    assert {key: written[key] for key in keys} == keys
    older = order_of(CLOSED if not load.is_open else OPEN)
    assert written.keys() - older.keys() <= keys.keys()


def test_a_template_is_said_of_each_request_and_its_seed_of_the_order() -> None:
    written = order_of(way=Way(template=True, template_seed=7))
    assert (written["schema"], written["seed"], written["requests"][0]["template"]) == (3, 7, True)


def test_what_older_schemas_know_is_written_in_them() -> None:
    assert (order_of(CLOSED)["schema"], order_of(OPEN)["schema"]) == (1, 2)
    assert "template" not in order_of()["requests"][0]


def test_stages_of_a_rate_are_schema_2_and_stages_of_connections_schema_3() -> None:
    stage = Stage(duration_s=1, first=10, last=100)
    rising = order_of(Load(connections=4, max_connections=9, rate_stages=(stage,), duration_s=1))
    assert (rising["schema"], rising["pace"]) == (
        2,
        {
            "kind": "stages",
            "stages": [{"duration_ns": 1_000_000_000, "rate_per_s_from": 10.0, "rate_per_s_to": 100.0}],
            "connections": 4,
            "max_connections": 9,
        },
    )
    crowd = order_of(Load(connections=100, connection_stages=(stage,), duration_s=1))
    assert (crowd["schema"], crowd["pace"]) == (
        3,
        {
            "kind": "closed-stages",
            "stages": [{"duration_ns": 1_000_000_000, "connections_from": 10, "connections_to": 100}],
        },
    )


def test_a_burst_is_its_size_and_how_often() -> None:
    pace = order_of(Load(connections=4, max_connections=9, burst_size=100, burst_every_s=0.05, duration_s=1))["pace"]
    assert pace == {"kind": "burst", "size": 100, "every_ns": 50_000_000, "connections": 4, "max_connections": 9}


def test_the_wait_for_a_connection_is_that_for_an_answer_unless_told() -> None:
    assert order_of()["connect_timeout_ns"] == 5_000_000_000
    assert order_of(connect_timeout_s=0.5)["connect_timeout_ns"] == 500_000_000


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"burst_size": 3}, "burst_size and burst_every_s need each other"),
        ({"rate_per_s": 3, "burst_size": 3, "burst_every_s": 1, "max_connections": 9}, "exclude each other"),
        ({"burst_size": 3, "burst_every_s": 1, "max_connections": 9, "poisson": True}, "poisson needs rate_per_s"),
    ],
)
def test_a_load_of_two_minds_is_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Load(connections=4, **fields)


@pytest.mark.parametrize(
    ("load", "due", "label"),
    [
        (CLOSED, None, "4 connections, keep-alive"),
        (change(OPEN, duration_s=3), 30.0, "10/s over 4 to 8 connections, keep-alive"),
        (change(OPEN, rate_per_s=None, burst_size=5, burst_every_s=0.1), 50.0, "5 each 0.1 s over 4 to 8 connections"),
        (
            change(OPEN, rate_per_s=None, rate_stages=(Stage(duration_s=2, first=0, last=10),), duration_s=2),
            10.0,
            "0-10/s over 4 to 8 connections",
        ),
        (change(OPEN, duration_s=None, count=5), None, "10/s over"),
        (change(CLOSED, http="2", streams=3), None, "4 connections, keep-alive, HTTP/2, 3 streams"),
    ],
)
def test_a_load_says_what_comes_due_and_what_it_is(load: Load, due: float | None, label: str) -> None:
    assert load.due == due
    assert load.label.startswith(label)
