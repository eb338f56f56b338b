"""Commands of h2load, oha and JMeter: what they are asked, what they refuse, and outputs no recording can hold."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from webdyno.histogram import decode
from webdyno.load import h2load, jmeter, oha
from webdyno.load.driver import DRIVERS, Driver, DriverCommand, Event, Fault, Order
from webdyno.load.jmeter_plan import media_type_pattern
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.load import Load
from webdyno.model.sample import Slice
from webdyno.model.workload import Expectation, Request

HELLO = Request(name="hello", path="/x?a=b", headers=[("Accept", "*/*")], expect=Expectation(body="Hello, World!"))
POST = Request(name="post", path="/", method="POST", body="a=b")


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (h2load, jmeter, oha):
        monkeypatch.setattr(module, "program", lambda name, package, by="": name)


def driver(name: str) -> Driver:
    return DRIVERS[name]()


def order_of(load: dict[str, Any] | None = None, **changes: Any) -> Order:
    asked = Load(**{"connections": 64, "duration_s": 1.5, "warmup_s": 0.5, "timeout_s": 5.0, **(load or {})})
    fields: dict[str, Any] = {"host": "::1", "port": 8080, "requests": [HELLO], "load": asked, "cores": (1, 2)}
    return Order(**{**fields, **changes})


def steady(name: str, order: Order) -> DriverCommand:
    return driver(name).commands(order)[-1]


def test_h2load_gets_fractions_of_seconds_and_a_log() -> None:
    [warmup, command] = driver("h2load").commands(order_of())
    assert (warmup.phase, command.phase, command.results) == ("warmup", "steady", "requests.tsv")
    assert warmup.argv[warmup.argv.index("-D") + 1] == "500ms"
    assert command.argv == [
        *("h2load", "--h1", "-t", "2", "-c", "64", "-D", "1500ms", "--log-file=requests.tsv"),
        *("-H", ":method: GET", "-H", "Accept: */*", "http://[::1]:8080/x?a=b"),
    ]


def test_oha_gets_no_compression_and_no_redirects() -> None:
    [_, command] = driver("oha").commands(order_of())
    assert command.argv == [
        *("oha", "--no-tui", "--no-color", "--output-format", "json", "-c", "64", "-z", "1500ms", "-t", "5000ms"),
        *("--connect-timeout", "5000ms", "--worker-threads", "2", "--disable-compression", "-r", "0", "-m", "GET"),
        *("-H", "Accept: */*", "http://[::1]:8080/x?a=b"),
    ]


@pytest.mark.parametrize(("name", "flag"), [("h2load", "-d"), ("oha", "-D")])
def test_body_travels_in_a_file(name: str, flag: str) -> None:
    command = steady(name, order_of(requests=[POST]))
    assert command.argv[command.argv.index(flag) + 1] == "body"
    assert command.files == {"body": b"a=b"}


@pytest.mark.parametrize("name", ["h2load", "oha"])
def test_post_without_a_body_says_its_length(name: str) -> None:
    request = Request(name="post", path="/", method="POST")
    assert "Content-Length: 0" in steady(name, order_of(requests=[request])).argv


@pytest.mark.parametrize("name", ["h2load", "oha"])
def test_count_goes_instead_of_a_duration(name: str) -> None:
    asked = steady(name, order_of({"duration_s": None, "count": 640, "keep_alive": False})).argv
    assert asked[asked.index("-n") + 1] == "640"
    assert "Connection: close" in asked or "--disable-keepalive" in asked


def plan_of(order: Order) -> ET.Element:
    command = steady("jmeter", order)
    assert (command.phase, command.results) == (None, "requests.csv")
    return ET.fromstring(command.files["plan.jmx"])


def values(plan: ET.Element, name: str) -> list[str | None]:
    return [prop.text for prop in plan.iter() if prop.get("name") == name]


def test_jmeter_plan_holds_clock_warm_up_and_steady_phase_one_after_the_other() -> None:
    plan = plan_of(order_of())
    groups = [(part.tag, part.get("testname")) for part in plan.iter() if part.tag.endswith("ThreadGroup")]
    assert groups == [("SetupThreadGroup", "clock"), ("ThreadGroup", "warmup"), ("ThreadGroup", "steady")]
    assert values(plan, "TestPlan.serialize_threadgroups") == ["true"]
    assert values(plan, "ThreadGroup.num_threads") == ["1", "64", "64"]
    assert values(plan, "ThreadGroup.duration") == [None, "1", "2"]  # rounded up; the log is cut at 1.5 s
    assert values(plan, "HTTPSampler.domain") == ["[::1]", "[::1]"]
    assert values(plan, "HTTPSampler.use_keepalive") == ["true", "true"]


def test_jmeter_deals_a_count_out_over_its_threads() -> None:
    plan = plan_of(order_of({"duration_s": None, "count": 640, "warmup_s": 0, "keep_alive": False}))
    assert values(plan, "LoopController.loops") == ["1", "10"]
    assert values(plan, "HTTPSampler.use_keepalive") == ["false"]


def test_jmeter_checks_body_length_and_media_type() -> None:
    expect = Expectation(body="ü <b>", body_contains="<b>", body_length=6, content_type="text/html")
    plan = plan_of(order_of({"warmup_s": 0}, requests=[Request(name="all", path="/", expect=expect)]))
    assert values(plan, "0") == ["ü <b>", "<b>", media_type_pattern("text/html")]
    assert values(plan, "Assertion.test_type") == ["8", "16", "1"]
    assert values(plan, "SizeAssertion.size") == ["6"]


@pytest.mark.parametrize(
    ("header", "right"),
    [
        ("HTTP/1.1 200 OK\nContent-Type: text/html\nServer: x\n", True),
        ("HTTP/1.1 200 OK\ncontent-type:text/html; charset=utf-8\n", True),
        ("HTTP/1.1 200 OK\nContent-Type: text/htmlx\n", False),
        ("HTTP/1.1 200 OK\nX-Content-Type: text/html\n", False),
    ],
)
def test_media_type_is_compared_without_its_parameters(header: str, right: bool) -> None:
    assert bool(re.fullmatch(media_type_pattern("text/html"), header)) is right


SHA = Request(name="sha", path="/", expect=Expectation(body_sha256="ab" * 32))
COUNT = {"duration_s": None, "count": 5}


@pytest.mark.parametrize(
    ("name", "order", "sentence"),
    [
        ("h2load", order_of({"http": "1.0"}), "h2load is asked to speak HTTP/1.1 here, not 1.0: use --driver engine"),
        ("oha", order_of({"http": "1.0"}), "oha is asked to speak HTTP/1.1 here, not 1.0: use --driver engine"),
        ("jmeter", order_of({"http": "2"}), "jmeter speaks HTTP/1.1 only, not 2: use --driver engine"),
        ("h2load", order_of({"keep_alive": False}), "h2load never ends a run for a time whose connections close"),
        ("h2load", order_of(COUNT), "h2load cannot send 5 requests over 64 connections"),
        ("jmeter", order_of(COUNT), "5 over 64 connections is not: give 64 or use --driver engine"),
        ("h2load", order_of(requests=[Request(name="head", path="/", method="HEAD")]), "answer to HEAD"),
        (
            "h2load",
            order_of(requests=[Request(name="host", path="/", headers=[("Host", "a")])]),
            "h2load sends no Host but its own and no empty header, request 'host' has 'Host'",
        ),
        (
            "oha",
            order_of(requests=[Request(name="twice", path="/", headers=[("X", "a"), ("x", "b")])]),
            "oha sends a header once, request 'twice' repeats one",
        ),
        ("jmeter", order_of(requests=[SHA]), "for request 'sha' only its SHA-256 is known"),
        ("jmeter", order_of(requests=[Request(name="var", path="/${x}")]), "request 'var' has some"),
        ("jmeter", order_of(requests=[Request(name="cr", path="/", method="POST", body="a\r\n")]), "'cr' has some"),
        *(
            (name, order_of(requests=[HELLO, HELLO]), "sends one kind of request")
            for name in ("h2load", "oha", "jmeter")
        ),
    ],
)
def test_what_a_tool_cannot_do_truly_is_refused(name: str, order: Order, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        driver(name).commands(order)
    assert sentence in str(caught.value)
    assert "--driver engine" in str(caught.value) or "give" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "printed", "version"),
    [
        ("h2load", "h2load nghttp2/1.52.0\n", "1.52.0"),
        ("oha", "oha 1.16.0\n", "1.16.0"),
        ("jmeter", "|_| \\_\\ 5.6.3\n\nCopyright (c) 1999-2024 The Apache Software Foundation\n", "5.6.3"),
        *((name, "?", "unknown") for name in ("h2load", "oha", "jmeter")),
    ],
)
def test_version_as_the_tool_prints_it(name: str, printed: str, version: str) -> None:
    assert driver(name).version(lambda argv: printed) == version


def test_jmeter_of_debian_is_refused_before_it_fails() -> None:
    printed = "Copyright (c) 1998-2015 The Apache Software Foundation\nVersion 2.13.19691222\n"
    with pytest.raises(MachineError, match=r"jmeter 2.13.19691222 is too old, .* JMeter 5 is not installed: unpack"):
        driver("jmeter").version(lambda argv: printed)


def said(name: str, *lines: str, phase: Any = "steady", **changes: Any) -> list[Event]:
    command = DriverCommand(phase=phase, argv=[], order=order_of(**changes))
    return list(driver(name).read(command, lines))


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("h2load", "[ERROR] no"),
        ("oha", '{"summary": {'),
        ("jmeter", "Error in NonGUIDriver"),
        ("jmeter", "timeStamp,a"),
    ],
)
def test_a_tool_without_a_result_is_a_fault(name: str, last: str) -> None:
    [event] = said(name, "hello", last)
    assert isinstance(event, Fault)
    assert event.message.startswith(f"{name} ended without a result: ")


REPORT = "requests: 2 total, 4 started, 2 done, 2 succeeded, 0 failed, 0 errored, 0 timeout"
TWO = ["1000000\t200\t900000", "1000000\t404\t900000"]


def test_h2load_that_lost_one_connection_of_two_is_not_believed() -> None:
    [event] = said("h2load", REPORT, *TWO, load={"connections": 3})
    assert isinstance(event, Fault)
    assert event.message.startswith("on 1 of 3 connections nothing came back to h2load at the end; it gives up")


def test_a_warm_up_of_h2load_too_short_for_an_answer_is_no_fault() -> None:
    silent = REPORT.replace("2 done", "0 done")
    [slice_, _] = said("h2load", silent, phase="warmup", load={"connections": 4})
    assert isinstance(slice_, Slice)
    assert slice_.errors == {"unfinished": 4}


def test_h2load_judges_a_status_by_the_workload_and_counts_what_was_in_flight() -> None:
    first, last, _ = said("h2load", REPORT, *TWO, load={"connections": 2})
    assert isinstance(first, Slice)
    assert isinstance(last, Slice)
    assert (first.ok, first.errors, last.errors) == (1, {"wrong-status": 1}, {"unfinished": 2})


def test_h2load_whose_log_is_cut_is_not_believed() -> None:
    [event] = said("h2load", REPORT, TWO[0])
    assert isinstance(event, Fault)
    assert event.message.startswith("h2load counted 2 answers and logged 1")


def test_jmeter_without_its_clock_says_no_instants() -> None:
    log = [
        "timeStamp,elapsed,label,responseCode,responseMessage,success,bytes,Connect",
        "5000,3,steady,200,OK,true,9,0",
    ]
    first, last, _ = said("jmeter", *log, "5003,1,stea", phase=None)
    assert isinstance(first, Slice)
    assert isinstance(last, Slice)
    assert (first.start_ns, first.ok, first.bytes_in, last.offered) == (None, 1, 9, 0)


def test_no_millisecond_of_jmeter_is_half_of_one() -> None:
    log = [
        "timeStamp,elapsed,label,responseCode,responseMessage,success,bytes,Connect",
        "5000,0,steady,200,OK,true,9,0",
    ]
    first, *_ = said("jmeter", *log, phase=None)
    assert isinstance(first, Slice)
    assert decode(first.latency_hdr or "").percentile(50) == pytest.approx(500_000, rel=1e-3)
