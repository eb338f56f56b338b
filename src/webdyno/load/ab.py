"""Driver of ab (ApacheBench): on every machine for 25 years, one thread, HTTP/1.0, and a "Failed requests" that
counts one failure up to three times.

What its counters mean, read from its behaviour against servers that misbehave one way each (tests/golden/ab):

    Complete requests   everything that ended, failures included
    Receive, Exceptions one reset is booked in both: the larger of the two is the number of requests that failed in the
                        socket. A server that closes silently after an answer is in here too
    Length              answers whose length differs from the *first* answer's: failed ones, error pages, truncated
                        bodies. Compared only when the workload fixes the length (else -l: any length is right to ab)
    Non-2xx responses   by status; counted beside, not among, "Failed requests"
    nothing at all      a connection closed at once is right in ab's eyes; known only by zero bytes in the whole run

Percentiles come from ``-e`` (microseconds; the report itself rounds to milliseconds), written to /dev/stdout:
standard output has to be a pipe. They count from connect, failures included, and there is none beyond p99. ab gives
up the whole run when one connection stays silent for the timeout.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from webdyno.load.believing import believed
from webdyno.load.order import Ask, DriverCommand, Event, Fault, Order, Summary
from webdyno.load.tool import last_words, only_request, program, refuse_statuses, warmup_seconds, whole_seconds
from webdyno.model.driver import Can
from webdyno.model.errors import UsageError
from webdyno.model.sample import Phase, Slice
from webdyno.model.workload import Request

_MOST_PER_S = 200_000
"""With -t ab still wants -n and keeps room for this many requests; one thread cannot reach this rate."""
_MOST_CONNECTIONS = 20_000
_POINTS = {**{part: f"p{part}" for part in (50, 66, 75, 80, 90, 95, 98, 99)}, 100: "max"}
"""The parts of its own table, out of a hundred that it writes down."""
_FACT = re.compile(r"^([A-Z][\w/ -]*?):\s+(\d+(?:\.\d+)?)(?: |$)")
_FAILED = re.compile(r"\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)")
_POINT = re.compile(r"^(\d+),([\d.]+)$")


class Ab:
    """ApacheBench 2.3, the one every Apache 2.2 and 2.4 brings."""

    can = Can(
        driver="ab",
        http=("1.0",),
        statuses="2xx",
        lengths="like-the-first",
        bodies=False,
        error_kinds=("wrong-status", "wrong-body", "socket"),
        series=False,
        histogram=False,
        invents_samples=False,
        latency_from="connect",
        connections=False,
        silent_closes=False,
        silence=False,
        unfinished=False,
        cores="one",
        resolution_ns=1_000,
    )

    def version(self, ask: Ask) -> str:
        """Number and revision, where the distribution left it in."""
        said = ask([program("ab", "apache2-utils"), "-V"])
        found = re.search(r"Version (\S+)(?: <\$Revision: (\d+))?", said)
        if found is None:
            return "unknown"
        return f"{found[1]} (revision {found[2]})" if found[2] else found[1]

    def commands(self, order: Order) -> list[DriverCommand]:
        """A run for the warm-up, when there is one, and a run for the steady phase."""
        request = only_request(order, "ab")
        _refuse(order, request)
        load = order.load
        if load.count is not None:
            steady = ["-n", str(load.count)]
        else:
            steady = _timed(whole_seconds(load.duration_s or 0, "the duration", "ab"))
        limits: list[tuple[Phase, list[str]]] = [("steady", steady)]
        if load.warmup_s:
            limits.insert(0, ("warmup", _timed(warmup_seconds(order))))
        return [
            DriverCommand(phase=phase, argv=_argv(order, request, limit), order=order, merge_stderr=True)
            for phase, limit in limits
        ]

    @believed
    def read(self, command: DriverCommand, lines: Iterable[str]) -> Iterator[Event]:
        """One Slice and the raw counters, when it is over."""
        heard = list(lines)
        facts = _facts(heard)
        if not {"Complete requests", "Failed requests", "Time taken for tests", "Total transferred"} <= facts.keys():
            yield Fault(f"ab ended without a result: {last_words(heard)}")
            return
        yield from _events(facts, command)


def _refuse(order: Order, request: Request) -> None:
    load = order.load
    if request.body is not None:
        raise UsageError(
            f"ab takes a body only from a file, request {request.name!r} has one: use --driver wrk or engine"
        )
    if load.http not in ("1.0", "1.1"):
        raise UsageError(f"ab speaks HTTP/1.0 only, not {load.http}: use --driver engine")
    if load.connections > _MOST_CONNECTIONS:
        raise UsageError(
            f"ab opens at most {_MOST_CONNECTIONS} connections, not {load.connections}: use --driver engine"
        )
    if load.count is not None and load.count < load.connections:
        raise UsageError(
            f"ab cannot send {load.count} requests over {load.connections} connections: give at least as many requests"
        )
    refuse_statuses(request, "ab", range(200, 300), "answers of 2xx")


def _timed(seconds: int) -> list[str]:
    return ["-t", str(seconds), "-n", str(seconds * _MOST_PER_S)]  # this order: -t alone would set -n 50000


def _argv(order: Order, request: Request, limit: list[str]) -> list[str]:
    load = order.load
    argv = [program("ab", "apache2-utils"), "-q", "-r", "-d", "-e", "/dev/stdout", "-c", str(load.connections), *limit]
    argv += ["-s", str(whole_seconds(load.timeout_s, "the timeout", "ab"))]
    if load.keep_alive:
        argv.append("-k")
    if _fixed_length(request) is None:
        argv.append("-l")
    if request.method == "HEAD":
        argv.append("-i")
    elif request.method != "GET":
        argv += ["-m", request.method]
    for name, value in request.headers:
        argv += ["-H", f"{name}: {value}"]
    return [*argv, f"http://{order.authority}{request.path}"]


def _fixed_length(request: Request) -> int | None:
    """Length of the right body in bytes, where the workload fixes one."""
    if request.method == "HEAD":
        return None
    expect = request.expect
    return len(expect.body.encode()) if expect.body is not None else expect.body_length


def _facts(lines: list[str]) -> dict[str, float]:
    """Every figure of the report by the name ab prints, the percentiles as ``p50`` ... in milliseconds."""
    facts: dict[str, float] = {}
    for line in lines:
        if found := _FACT.match(line):
            facts.setdefault(found[1], float(found[2]))
        elif found := _FAILED.search(line):
            names = ("Connect", "Receive", "Length", "Exceptions")
            facts.update(zip(names, map(float, found.groups()), strict=True))
        elif (found := _POINT.match(line)) and int(found[1]) in _POINTS:
            facts[_POINTS[int(found[1])]] = float(found[2])
    return facts


def _events(facts: dict[str, float], command: DriverCommand) -> Iterator[Event]:
    right = _fixed_length(command.order.requests[0])
    counted = _count({name: int(value) for name, value in facts.items()}, right)
    if isinstance(counted, Fault):
        yield counted
        return
    points = {point: facts[point] * 1e6 for point in _POINTS.values() if point in facts}
    yield Slice(
        phase=command.phase or "steady",
        index=0,
        start_ns=None,
        duration_ns=math.floor(facts["Time taken for tests"] * 1e9 + 0.5),
        offered=sum(counted.values()),
        ok=counted["ok"],
        errors={kind: count for kind, count in counted.items() if count and kind != "ok"},
        bytes_in=int(facts["Total transferred"]),
        latency_ns=points or None,
    )
    yield Summary(dict(facts))


def _count(facts: dict[str, int], right: int | None) -> dict[str, int] | Fault:
    """Each request in exactly one bin, out of counters that overlap; see the table above."""
    complete, never = facts["Complete requests"], facts.get("Connect", 0)
    if facts["Total transferred"] == 0:
        return {"ok": 0, "socket": complete + never}
    socket = min(complete, max(facts.get("Receive", 0), facts.get("Exceptions", 0)))
    status = min(complete - socket, facts.get("Non-2xx responses", 0))
    differ, first = facts.get("Length", 0), facts.get("Document Length")
    body = max(0, differ - socket - status)
    if right is not None and first != right:
        if status == 0 and differ > socket:
            return Fault(
                f"ab compares lengths with the first answer, and that had {first} bytes instead of {right}: "
                "how many answers were correct is unknown; use --driver engine"
            )
        body = 0 if status else complete - socket
    body = min(body, complete - socket - status)
    return {
        "ok": complete - socket - status - body,
        "wrong-status": status,
        "wrong-body": body,
        "socket": socket + never,
    }
