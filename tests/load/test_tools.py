"""Commands of wrk, wrk2 and ab: what they are asked, and the orders they refuse, with the sentences that say why."""

from __future__ import annotations

from typing import Any

import pytest

from webdyno.load import ab, wrk, wrk2
from webdyno.load.driver import DRIVERS, Driver, DriverCommand, Fault, Order
from webdyno.model.errors import UsageError
from webdyno.model.load import Load
from webdyno.model.workload import Expectation, Request

HELLO = Request(name="hello", path="/x?a=b", headers=[("Accept", "*/*")], expect=Expectation(body="Hello, World!"))


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (ab, wrk):
        monkeypatch.setattr(module, "program", lambda name, package: name)


def driver(name: str) -> Driver:
    return DRIVERS[name]()


def order_of(load: dict[str, Any] | None = None, **changes: Any) -> Order:
    asked = Load(**{"connections": 64, "duration_s": 2, "warmup_s": 0.5, "timeout_s": 5.0, **(load or {})})
    fields: dict[str, Any] = {"host": "127.0.0.1", "port": 8080, "requests": [HELLO], "load": asked, "cores": (1, 2)}
    return Order(**{**fields, **changes})


def argv(name: str, order: Order) -> list[str]:
    return driver(name).commands(order)[-1].argv


def test_wrk_gets_exact_seconds_threads_header_and_script() -> None:
    [warmup, steady] = driver("wrk").commands(order_of())
    assert (warmup.phase, steady.phase) == ("warmup", "steady")
    assert warmup.argv[warmup.argv.index("-d") + 1] == "1s"  # half a second of warm-up, rounded up
    script = steady.argv[steady.argv.index("-s") + 1]
    assert script.endswith("load/wrk.lua")
    assert steady.argv == [
        *("wrk", "--latency", "-t", "2", "-c", "64", "-d", "2s", "--timeout", "5s", "-s", script),
        *("-H", "Accept: */*", "--", "http://127.0.0.1:8080/x?a=b", "GET"),
    ]


def test_wrk2_gets_its_rate_and_all_that_wrk_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrk2, "_program", lambda: "wrk2")
    steady = argv("wrk2", order_of({"rate_per_s": 100, "max_connections": 64}))
    script = steady[steady.index("-s") + 1]
    assert script.endswith("load/wrk.lua")
    assert steady == [
        *("wrk2", "--latency", "-t", "2", "-c", "64", "-d", "2s", "-R", "100", "-s", script, "--timeout", "5s"),
        *("-H", "Accept: */*", "--", "http://127.0.0.1:8080/x?a=b", "GET"),
    ]


def test_wrk_sends_method_and_body() -> None:
    request = Request(name="post", method="POST", path="/", body="a=b")
    assert argv("wrk", order_of(requests=[request]))[-2:] == ["POST", "a=b"]


@pytest.mark.parametrize(
    ("connections", "cores", "threads"),
    [
        (64, (1, 2, 3), "2"),  # wrk would silently make 63 connections of 64 over 3 threads
        (1, (1, 2), "1"),
        (9, (1, 2, 3), "3"),
        (64, (), "1"),
    ],
)
def test_wrk_threads_divide_the_connections(connections: int, cores: tuple[int, ...], threads: str) -> None:
    asked = argv("wrk", order_of({"connections": connections}, cores=cores))
    assert asked[asked.index("-t") + 1] == threads


def test_wrk_closes_by_a_header() -> None:
    assert "Connection: close" in argv("wrk", order_of({"keep_alive": False}))


def test_ab_gets_time_before_count_because_its_order_matters() -> None:
    [warmup, steady] = driver("ab").commands(order_of())
    assert (warmup.phase, steady.phase) == ("warmup", "steady")
    assert warmup.argv[warmup.argv.index("-t") + 1] == "1"
    assert steady.argv == [
        *("ab", "-q", "-r", "-d", "-e", "/dev/stdout", "-c", "64", "-t", "2", "-n", "400000", "-s", "5", "-k"),
        *("-H", "Accept: */*", "http://127.0.0.1:8080/x?a=b"),
    ]


def test_ab_counts_exactly() -> None:
    asked = argv("ab", order_of({"duration_s": None, "count": 1000}))
    assert "-t" not in asked
    assert asked[asked.index("-n") + 1] == "1000"


def test_ab_closes_without_its_keep_alive_flag() -> None:
    assert "-k" not in argv("ab", order_of({"keep_alive": False}))


@pytest.mark.parametrize(
    ("request_", "flags"),
    [
        (Request(name="any", path="/"), ["-l"]),  # no fixed length: any will do
        (Request(name="fixed", path="/", expect=Expectation(body_length=3)), []),
        (Request(name="head", path="/", method="HEAD", expect=Expectation(body="Hello")), ["-l", "-i"]),
        (Request(name="delete", path="/", method="DELETE"), ["-l", "-m", "DELETE"]),
    ],
)
def test_ab_flags_follow_the_request(request_: Request, flags: list[str]) -> None:
    asked = argv("ab", order_of(requests=[request_]))
    assert asked[asked.index("-k") + 1 : -1] == flags


@pytest.mark.parametrize("name", ["wrk", "ab"])
def test_ipv6_literal_is_bracketed(name: str) -> None:
    asked = argv(name, order_of(host="::1"))
    assert "http://[::1]:8080/x?a=b" in asked


@pytest.mark.parametrize("name", ["wrk", "ab"])
def test_no_warm_up_is_no_command(name: str) -> None:
    assert [command.phase for command in driver(name).commands(order_of({"warmup_s": 0}))] == ["steady"]


STATUS = Request(name="gone", path="/", expect=Expectation(statuses=[200, 404]))
MOVED = Request(name="moved", path="/", expect=Expectation(statuses=[301]))
POST = Request(name="post", path="/", method="POST", body="a=b")
TWICE = Request(name="twice", path="/", headers=[("Cookie", "a"), ("cookie", "b")])
LONG = Request(name="long", path="/", method="POST", body="x" * 100_001)
COUNT = {"duration_s": None, "count": 5}


@pytest.mark.parametrize(
    ("name", "order", "sentence"),
    [
        (
            "wrk",
            order_of(requests=[HELLO, HELLO]),
            "wrk sends one kind of request, this workload has 2: use --driver engine",
        ),
        (
            "ab",
            order_of(requests=[HELLO, HELLO]),
            "ab sends one kind of request, this workload has 2: use --driver engine",
        ),
        (
            "wrk",
            order_of(COUNT),
            "wrk runs for a time, not for a number of requests: give a duration, or use --driver engine",
        ),
        (
            "wrk",
            order_of({"duration_s": 1.5}),
            "wrk counts whole seconds, the duration is 1.5 s: give 2 s or use --driver engine",
        ),
        (
            "ab",
            order_of({"duration_s": 0.5}),
            "ab counts whole seconds, the duration is 0.5 s: give 1 s or use --driver engine",
        ),
        (
            "wrk",
            order_of({"timeout_s": 0.2}),
            "wrk counts whole seconds, the timeout is 0.2 s: give 1 s or use --driver engine",
        ),
        (
            "ab",
            order_of({"timeout_s": 0.2}),
            "ab counts whole seconds, the timeout is 0.2 s: give 1 s or use --driver engine",
        ),
        ("wrk", order_of({"http": "1.0"}), "wrk speaks HTTP/1.1 only, not 1.0: use --driver engine"),
        ("ab", order_of({"http": "2"}), "ab speaks HTTP/1.0 only, not 2: use --driver engine"),
        (
            "wrk",
            order_of(requests=[STATUS]),
            "wrk counts only answers below 400 as right, request 'gone' expects 404: use --driver engine",
        ),
        (
            "ab",
            order_of(requests=[MOVED]),
            "ab counts only answers of 2xx as right, request 'moved' expects 301: use --driver engine",
        ),
        (
            "wrk",
            order_of(requests=[TWICE]),
            "wrk sends a header once, request 'twice' repeats one: use --driver engine",
        ),
        (
            "wrk",
            order_of(requests=[LONG]),
            "wrk takes a body of at most 100000 bytes without NUL, that of request 'long' is not: use --driver engine",
        ),
        (
            "ab",
            order_of(requests=[POST]),
            "ab takes a body only from a file, request 'post' has one: use --driver wrk or engine",
        ),
        ("ab", order_of({"connections": 20_001}), "ab opens at most 20000 connections, not 20001: use --driver engine"),
        (
            "wrk",
            order_of({"opening_s": 0.5}),
            "wrk supports only one request at a time on a fixed number of plain connections, opened at once: "
            "use --driver engine",
        ),
        ("wrk", order_of({"drivers": 2}), "wrk cannot share a load: leave --drivers out, or use --driver engine"),
        ("ab", order_of(COUNT), "ab cannot send 5 requests over 64 connections: give at least as many requests"),
    ],
)
def test_what_a_tool_cannot_do_truly_is_refused(name: str, order: Order, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        driver(name).commands(order)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("name", "printed", "version"),
    [
        ("wrk", "wrk 4.2.0 [epoll] Copyright (C) 2012 Will Glozer\nUsage: ...", "4.2.0"),
        ("wrk", "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer", "debian/4.1.0-3+b2"),
        ("wrk", "", "unknown"),
        ("ab", "This is ApacheBench, Version 2.3 <$Revision$>\nCopyright", "2.3"),
        ("ab", "This is ApacheBench, Version 2.3 <$Revision: 1923142 $>", "2.3 (revision 1923142)"),
        ("ab", "?", "unknown"),
    ],
)
def test_version_as_the_tool_prints_it(name: str, printed: str, version: str) -> None:
    assert driver(name).version(lambda argv: printed) == version


def test_ab_whose_yardstick_was_wrong_says_that_it_cannot_tell() -> None:
    lines = [
        "Document Length:        3 bytes",
        "Time taken for tests:   1.000 seconds",
        "Complete requests:      1000",
        "Failed requests:        999",
        "   (Connect: 0, Receive: 0, Length: 999, Exceptions: 0)",
        "Total transferred:      102000 bytes",
    ]
    [event] = driver("ab").read(DriverCommand(phase="steady", argv=[], order=order_of()), lines)
    assert isinstance(event, Fault)
    assert event.message == (
        "ab compares lengths with the first answer, and that had 3 bytes instead of 13: "
        "how many answers were correct is unknown; use --driver engine"
    )


@pytest.mark.parametrize(
    ("name", "lines", "words"),
    [
        ("wrk", [], "wrk ended without a result: it said nothing"),
        ("wrk", ['{"webdyno":1,"duration_us":'], "wrk's last line cannot be read"),
        ("ab", ["ab: invalid URL", "Usage: ab"], "ab ended without a result: ab: invalid URL; Usage: ab"),
    ],
)
def test_a_tool_without_a_result_is_a_fault(name: str, lines: list[str], words: str) -> None:
    [event] = driver(name).read(DriverCommand(phase="steady", argv=[], order=order_of()), lines)
    assert isinstance(event, Fault)
    assert event.message.startswith(words)


@pytest.mark.parametrize("driver", ["wrk", "ab", "h2load", "oha", "jmeter"])
def test_a_rate_is_refused_by_tools_that_are_driven_at_a_closed_pace(driver: str) -> None:
    load = Load(connections=4, rate_per_s=100, max_connections=8, duration_s=1)
    order = Order(host="127.0.0.1", port=80, requests=[Request(name="a", path="/")], load=load, cores=())
    with pytest.raises(UsageError) as caught:
        DRIVERS[driver]().commands(order)
    assert str(caught.value) == f"{driver} supports only a closed pace, and this load has a rate: use --driver engine"
