"""Driver of JMeter: a thread per connection in one Java machine, with clocks that count whole milliseconds.

Its log (a CSV line per request) is the result: when it began, how long it took, its status, whether every assertion
held, the bytes, and the exception where there was no answer. Slices, outcomes and latencies come from there. What they
mean, read from its behaviour against servers that misbehave one way each (tests/golden/jmeter):

    success = false, status right   an assertion of the plan failed: the body, its length or its media type
    NoHttpResponseException         the connection ended without one byte: a server that never answers, or one that had
                                    closed it unannounced after the answer before. JMeter cannot tell, so: ``socket``
    connection reset                the same, when the close was noticed too late: ``reset``, as JMeter says
    latency                         from before the connect to the last byte, between two clocks of whole milliseconds;
                                    0 says "somewhere between none and one", and is counted as half a millisecond

Warm-up and steady phase are one process, or the steady phase would meet a cold Java machine. It is told to try nothing
twice and to keep its connections, which both is not what it does by itself.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from webdyno.load.believing import believed
from webdyno.load.jmeter_plan import CLOCK, plan
from webdyno.load.order import Ask, DriverCommand, Event, Fault, Order, PhaseEdge, Summary
from webdyno.load.rows import OK, Rows
from webdyno.load.tool import last_words, only_request, program
from webdyno.model.driver import Can
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.sample import Phase
from webdyno.model.workload import Request

_PLAN, _LOG = "plan.jmx", "requests.csv"
_MS = 1_000_000
_PHASES: tuple[Phase, ...] = ("warmup", "steady")
_OLDEST = 5
_ARCHIVE = "the archive of https://jmeter.apache.org/download_jmeter.cgi and put its bin on PATH"
_FIRST_COLUMN = "timeStamp"
_LEFT_OUT = (
    *("thread_name", "data_type", "assertion_results_failure_message", "url", "latency", "idle_time", "thread_counts"),
    "sent_bytes",
)
"""Columns nobody reads; each costs JMeter time per request."""
_PROPERTIES = {
    "jmeter.save.saveservice.output_format": "csv",
    "jmeter.save.saveservice.print_field_names": "true",
    "jmeter.save.saveservice.timestamp_format": "ms",
    "jmeter.save.saveservice.connect_time": "true",
    "sampleresult.timestamp.start": "true",
    "sampleresult.default.encoding": "UTF-8",
    "httpclient4.retrycount": "0",
    "httpclient.reset_state_on_thread_group_iteration": "false",
    "summariser.name": "",
} | {f"jmeter.save.saveservice.{column}": "false" for column in _LEFT_OUT}
_KINDS = {
    "HttpHostConnectException": "connect-refused",
    "ConnectException": "connect-refused",
    "ConnectTimeoutException": "connect-timeout",
    "SocketTimeoutException": "timeout",
    "ConnectionClosedException": "truncated",
    "TruncatedChunkException": "truncated",
    "MalformedChunkCodingException": "malformed",
    "ProtocolException": "malformed",
    "ClientProtocolException": "malformed",
}
"""What an exception means by its name alone; every other is ``socket``."""
_TIMED = (OK, "wrong-status", "wrong-body", "timeout")
_UNREADABLE = re.compile(r"\$\{|[\x00-\x08\x0b-\x1f\x7f]")
"""What a plan cannot carry: JMeter's own variables, and characters that XML has not or changes."""


class JMeter:
    """JMeter 5. Debian 12 brings 2.13, and with it an XStream that forbids it to read plans."""

    can = Can(
        driver="jmeter",
        http=("1.1",),
        statuses="exact",
        lengths="every",
        bodies=True,
        error_kinds=(
            *("wrong-status", "wrong-body", "timeout", "connect-refused", "connect-timeout", "reset", "truncated"),
            *("malformed", "unfinished", "socket"),
        ),
        series=True,
        histogram=True,
        invents_samples=False,
        latency_from="connect",
        connections=False,
        silent_closes=False,
        silence=True,
        unfinished=True,
        cores="many",
        resolution_ns=_MS,
    )

    def version(self, ask: Ask) -> str:
        """The first number with dots in what it prints, a drawing of feathers included."""
        said = ask([_program(), "--version"])
        found = re.search(r"(?:Version |\s)(\d+\.\d+(?:\.\d+)?)\s*$", said, re.MULTILINE)
        if found and int(found[1].partition(".")[0]) < _OLDEST:
            raise MachineError(
                f"jmeter {found[1]} is too old, and Debian's reads no plan at all; JMeter {_OLDEST} is not installed: "
                f"unpack {_ARCHIVE}, or use --driver engine"
            )
        return found[1] if found else "unknown"

    def commands(self, order: Order) -> list[DriverCommand]:
        """One command for both phases, with its plan."""
        request = only_request(order, "jmeter")
        _refuse(order, request)
        argv = [_program(), "-n", "-t", _PLAN, "-l", _LOG, "-j", "jmeter.log"]
        argv += [f"-J{name}={value}" for name, value in _PROPERTIES.items()]
        files = {_PLAN: plan(order, request)}
        return [DriverCommand(phase=None, argv=argv, order=order, merge_stderr=True, files=files, results=_LOG)]

    @believed
    def read(self, command: DriverCommand, lines: Iterable[str]) -> Iterator[Event]:
        """Slices and edges of both phases, when it is over."""
        heard: list[str] = []
        log = _Log({str(status) for status in command.order.requests[0].expect.statuses})
        for row in csv.DictReader(_logged(lines, heard)):
            log.add(row)
        if not len(log.phases["steady"]):
            yield Fault(f"jmeter ended without a result: {last_words(heard)}")
            return
        yield from log.events(command)


def _logged(lines: Iterable[str], heard: list[str]) -> Iterator[str]:
    """The lines of the log, its heading first; what was printed before goes to ``heard``."""
    begun = False
    for line in lines:
        begun = begun or line.startswith(_FIRST_COLUMN)
        if begun:
            yield line
        else:
            heard.append(line)


class _Log:
    """What the log said, so far."""

    def __init__(self, right: set[str]) -> None:
        self.phases = {phase: Rows() for phase in _PHASES}
        self.failures: dict[str, int] = {}
        self._right = right
        self._offset_ns: int | None = None

    def add(self, row: dict[str, str]) -> None:
        label = row.get("label") or ""
        if clocks := re.fullmatch(rf"{CLOCK}:(\d+):(\d+)", label):
            self._offset_ns = int(clocks[1]) - int(clocks[2]) * _MS
        elif label in self.phases and row.get("Connect") is not None:  # the last column: a line cut short has none
            outcome = self._outcome(row)
            start, length = int(row[_FIRST_COLUMN]) * _MS, int(row["elapsed"]) * _MS or _MS // 2
            rows = self.phases["steady" if label == "steady" else "warmup"]
            # without an answer JMeter counts the text of its exception
            size = int(row["bytes"]) if row["responseCode"].isdecimal() else 0
            rows.add(start, length, outcome, timed=outcome in _TIMED, bytes_in=size)

    def events(self, command: DriverCommand) -> Iterator[Event]:
        load = command.order.load
        steady = self.phases["steady"]
        ended_ns = steady.last_ns if load.duration_s is None else steady.first_ns + round(load.duration_s * 1e9)
        lengths = {"warmup": round(load.warmup_s * 1e9), "steady": ended_ns - steady.first_ns}
        for phase, rows in self.phases.items():
            if len(rows):
                yield from self._edge(phase, rows.first_ns)
                yield from rows.slices(phase, lengths[phase], offset_ns=self._offset_ns, sized=True)
        yield from self._edge("ended", ended_ns)
        yield Summary({"requests": len(steady), "failures": self.failures})

    def _edge(self, phase: Any, at_ns: int) -> Iterator[Event]:
        if self._offset_ns is not None:
            yield PhaseEdge(phase, at_ns + self._offset_ns)

    def _outcome(self, row: dict[str, str]) -> str:
        code = row["responseCode"]
        if code.isdecimal():
            if code not in self._right:
                return "wrong-status"
            return OK if row["success"] == "true" else "wrong-body"
        failure = f"{code.rpartition('.')[2]}: {row['responseMessage'].removeprefix('Non HTTP response message: ')}"
        self.failures[failure] = self.failures.get(failure, 0) + 1
        if "reset" in failure:
            return "reset"
        return _KINDS.get(code.rpartition(".")[2], "socket")


def _program() -> str:
    return program("jmeter", _ARCHIVE, by="unpack")


def _refuse(order: Order, request: Request) -> None:
    load, expect = order.load, request.expect
    if load.http != "1.1":
        raise UsageError(f"jmeter speaks HTTP/1.1 only, not {load.http}: use --driver engine")
    if load.count is not None and load.count % load.connections:
        raise UsageError(
            f"jmeter deals requests out evenly, {load.count} over {load.connections} connections is not: "
            f"give {load.count // load.connections * load.connections or load.connections} or use --driver engine"
        )
    if expect.body is None and expect.body_sha256 is not None:
        raise UsageError(
            f"jmeter compares a body with a text, for request {request.name!r} only its SHA-256 is known: "
            "use --driver engine"
        )
    texts = [request.path, request.body, expect.body, expect.body_contains, *chain(*request.headers)]
    if any(_UNREADABLE.search(text) for text in texts if text):
        raise UsageError(
            f"jmeter cannot be given ${{ or control characters as they are, request {request.name!r} has some: "
            "use --driver engine"
        )
