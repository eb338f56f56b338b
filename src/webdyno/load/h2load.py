"""Driver of h2load (nghttp2) in HTTP/1.1: every latency exact from its log, but it says nothing of what it lost.

Its log (``--log-file``) has a line per complete answer: start in microseconds since the epoch, status, microseconds to
the end of the answer. Slices come from there; the report only says how many requests were begun. What it hides, read
from its behaviour against servers that misbehave one way each (tests/golden/h2load):

    a close that no answer announced, a reset, a cut answer, a body ended by close
                        the connection is given up for good, and the request with it. For a time (-D) nothing at all is
                        counted; for a number (-n) all that was left to send is "errored", however much that was
    a refused port      the same: "0 failed, 0 errored"
    no answer           waited for without end; its own time-outs end connections, not requests
    an announced close  a new connection is opened, but a run for a time then never ends, and its bytes are not counted

So a run is believed only when, at its end, as many connections still answered as were asked for; otherwise it is a
Fault. The warm-up is a run of its own before the steady one: h2load could do both in one, but never says when one ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from webdyno.load.believing import believed
from webdyno.load.order import Ask, DriverCommand, Event, Fault, Order, Summary
from webdyno.load.rows import OK, Rows
from webdyno.load.tool import last_words, only_request, program
from webdyno.model.driver import Can
from webdyno.model.errors import UsageError
from webdyno.model.sample import Phase
from webdyno.model.workload import Request

_LOG = "requests.tsv"
_BODY = "body"
_REQUESTS = re.compile(r"(\d+) (total|started|done|succeeded|failed|errored|timeout)\b")
_STATUSES = re.compile(r"(\d+) (\dxx)")
_BYTES = re.compile(r"\((\d+)\) total")


class H2load:
    """h2load of nghttp2 1.41 (the first that logs) or later."""

    can = Can(
        driver="h2load",
        http=("1.1",),
        statuses="exact",
        lengths="none",
        bodies=False,
        error_kinds=("wrong-status", "unfinished"),
        series=True,
        histogram=True,
        invents_samples=False,
        latency_from="sent",
        connections=False,
        silent_closes=False,
        silence=False,
        unfinished=True,
        cores="many",
        reconnects=False,
        resolution_ns=1_000,
    )

    def version(self, ask: Ask) -> str:
        """Of nghttp2, whose part it is: ``h2load nghttp2/1.52.0``."""
        found = re.search(r"nghttp2/(\S+)", ask([program("h2load", "nghttp2-client"), "--version"]))
        return found[1] if found else "unknown"

    def commands(self, order: Order) -> list[DriverCommand]:
        """A run for the warm-up, when there is one, and a run for the steady phase."""
        request = only_request(order, "h2load")
        _refuse(order, request)
        load = order.load
        steady = ["-n", str(load.count)] if load.duration_s is None else _lasting(load.duration_s)
        limits: list[tuple[Phase, list[str]]] = [("steady", steady)]
        if load.warmup_s:
            limits.insert(0, ("warmup", _lasting(load.warmup_s)))
        files = {} if request.body is None else {_BODY: request.body.encode()}
        return [
            DriverCommand(
                phase=phase,
                argv=_argv(order, request, limit),
                order=order,
                merge_stderr=True,
                files=files,
                results=_LOG,
            )
            for phase, limit in limits
        ]

    @believed
    def read(self, command: DriverCommand, lines: Iterable[str]) -> Iterator[Event]:
        """A Slice per second from the log, and the counts of the report."""
        rows, heard = Rows(), []
        statuses = {str(status) for status in command.order.requests[0].expect.statuses}
        for line in lines:
            fields = line.split("\t")
            if len(fields) < 3:
                heard.append(line)
            elif all(field.isdecimal() for field in fields[:3]):  # a status of -1: failed, and in no report either
                outcome = OK if fields[1] in statuses else "wrong-status"
                rows.add(int(fields[0]) * 1000, int(fields[2]) * 1000, outcome, timed=True)
        report = _report(heard)
        if not {"total", "started", "done", "errored"} <= report.keys():
            yield Fault(f"h2load ended without a result: {last_words(heard)}")
            return
        yield from _events(rows, report, command)


def _refuse(order: Order, request: Request) -> None:
    load = order.load
    if load.http != "1.1":
        raise UsageError(f"h2load is asked to speak HTTP/1.1 here, not {load.http}: use --driver engine")
    if load.count is None and not load.keep_alive:
        raise UsageError(
            "h2load never ends a run for a time whose connections close: give a number of requests, or use --driver "
            "engine"
        )
    if load.count is not None and load.count < load.connections:
        raise UsageError(
            f"h2load cannot send {load.count} requests over {load.connections} connections: "
            "give at least as many requests"
        )
    if request.method == "HEAD":
        raise UsageError(
            f"h2load waits for the body of an answer to HEAD, request {request.name!r} is one: use --driver engine"
        )
    for name, value in request.headers:
        if name.lower() == "host" or not value.strip():
            raise UsageError(
                f"h2load sends no Host but its own and no empty header, request {request.name!r} has {name!r}: "
                "use --driver engine"
            )


def _lasting(seconds: float) -> list[str]:
    return ["-D", f"{max(1, round(seconds * 1000))}ms"]


def _argv(order: Order, request: Request, limit: list[str]) -> list[str]:
    load = order.load
    argv = [program("h2load", "nghttp2-client"), "--h1", "-t", str(order.most_threads), "-c", str(load.connections)]
    argv += [*limit, f"--log-file={_LOG}", "-H", f":method: {request.method}"]
    headers = [f"{name}: {value}" for name, value in request.headers]
    if not load.keep_alive:
        headers.append("Connection: close")
    if request.body is not None:
        argv += ["-d", _BODY]
    elif request.method in ("POST", "PUT", "PATCH"):
        headers.append("Content-Length: 0")
    for header in headers:
        argv += ["-H", header]
    return [*argv, f"http://{order.authority}{request.path}"]


def _report(lines: list[str]) -> dict[str, int]:
    """Every count of the report by its own name."""
    counts = {}
    for line in lines:
        if line.startswith("requests:"):
            counts.update({name: int(count) for count, name in _REQUESTS.findall(line)})
        elif line.startswith("status codes:"):
            counts.update({name: int(count) for count, name in _STATUSES.findall(line)})
        elif line.startswith("traffic:") and (found := _BYTES.search(line)) and int(found[1]):
            counts["bytes"] = int(found[1])
    return counts


def _events(rows: Rows, report: dict[str, int], command: DriverCommand) -> Iterator[Event]:
    load = command.order.load
    timed = command.phase == "warmup" or load.count is None
    seconds = load.warmup_s if command.phase == "warmup" else load.duration_s or 0
    duration_ns = round(seconds * 1e9) if timed else rows.last_ns - rows.first_ns
    lost = _lost(rows, report, command, duration_ns if timed else None)
    if lost and command.phase != "warmup":
        yield Fault(
            f"{lost}; it gives up a connection that is closed unannounced and waits for any answer without end: "
            "use --driver engine"
        )
        return
    slices = rows.slices(command.phase or "steady", duration_ns, offset_ns=None, sized=False)
    in_flight = report["started"] - report["done"]
    if in_flight:
        last = slices[-1]
        errors = last.errors | {"unfinished": last.errors.get("unfinished", 0) + in_flight}
        slices[-1] = msgspec.structs.replace(last, offered=last.offered + in_flight, errors=errors)
    yield from slices
    fields: dict[str, Any] = dict(report)
    yield Summary(fields)


def _lost(rows: Rows, report: dict[str, int], command: DriverCommand, duration_ns: int | None) -> str:
    """What is missing without h2load having said so, as half a sentence."""
    if report["done"] != len(rows):
        return f"h2load counted {report['done']} answers and logged {len(rows)}"
    if duration_ns is None:
        lost = report["errored"]
        return f"h2load gave up with {lost} of {report['total']} requests not answered" if lost else ""
    asked = command.order.load.connections
    alive = rows.alive(duration_ns)
    return f"on {asked - alive} of {asked} connections nothing came back to h2load at the end" if alive < asked else ""
