"""Driver of oha: an exact report in JSON, on hyper; but a close between two answers looks like an error to it.

What its report means, read from its behaviour against servers that misbehave one way each (tests/golden/oha):

    statusCodeDistribution  complete answers by status; judged here against the workload, as "successRate" takes every
                            complete answer for a success
    errorDistribution       by message. "connection error" and "connection closed before message completed" are a reset,
                            a cut answer, or a correct answer whose connection was closed unannounced before the next
                            request: oha cannot tell these apart, so neither can we, all are ``socket``
    aborted due to deadline in flight at the end
    latency                 of complete answers only; one that timed out is in no percentile. It counts from connect for
                            a request that had to open its connection
    totalData               bodies only, so the bytes of the answers stay unknown

It keeps every request in memory (about 0.3 KB each). The warm-up is a run of its own before the steady one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from webdyno.load.believing import believed
from webdyno.load.order import Ask, DriverCommand, Event, Fault, Order, Summary
from webdyno.load.tool import last_words, only_request, program
from webdyno.model.driver import Can
from webdyno.model.errors import UsageError
from webdyno.model.sample import Phase, Slice
from webdyno.model.workload import Request

_KINDS = {
    "timeout": "timeout",
    "aborted due to deadline": "unfinished",
    "Connection refused (os error 111)": "connect-refused",
}
"""Messages that mean one thing; every other is ``socket``."""
_BODY = "body"
_POINTS = ("p50", "p75", "p90", "p99", "p99.9")


class Oha:
    """oha 1.9 (the first with --output-format) or later."""

    can = Can(
        driver="oha",
        http=("1.1",),
        statuses="exact",
        lengths="none",
        bodies=False,
        error_kinds=("wrong-status", "timeout", "connect-refused", "socket", "unfinished"),
        series=False,
        histogram=False,
        invents_samples=False,
        latency_from="connect",
        connections=False,
        silent_closes=False,
        silence=True,
        unfinished=True,
        cores="many",
        resolution_ns=1,
    )

    def version(self, ask: Ask) -> str:
        """``oha 1.16.0``."""
        words = ask([_program(), "--version"]).split()
        return words[1] if words[:1] == ["oha"] and len(words) > 1 else "unknown"

    def commands(self, order: Order) -> list[DriverCommand]:
        """A run for the warm-up, when there is one, and a run for the steady phase."""
        request = only_request(order, "oha")
        _refuse(order, request)
        load = order.load
        steady = ["-n", str(load.count)] if load.duration_s is None else ["-z", _ms(load.duration_s)]
        limits: list[tuple[Phase, list[str]]] = [("steady", steady)]
        if load.warmup_s:
            limits.insert(0, ("warmup", ["-z", _ms(load.warmup_s)]))
        files = {} if request.body is None else {_BODY: request.body.encode()}
        return [
            DriverCommand(phase=phase, argv=_argv(order, request, limit), order=order, merge_stderr=True, files=files)
            for phase, limit in limits
        ]

    @believed
    def read(self, command: DriverCommand, lines: Iterable[str]) -> Iterator[Event]:
        """One Slice and the whole report, when it is over."""
        heard = list(lines)
        text = "\n".join(heard)
        text = text[text.find("{") : text.rfind("}") + 1]
        try:
            report = msgspec.json.decode(text, type=_Report)
        except msgspec.DecodeError:
            yield Fault(f"oha ended without a result: {last_words(heard)}")
            return
        yield _slice(report, command)
        yield Summary(msgspec.json.decode(text))


class _Figures(msgspec.Struct):
    total: float
    slowest: float | None
    fastest: float | None
    average: float | None


class _Report(msgspec.Struct, rename="camel"):
    summary: _Figures
    latency_percentiles: dict[str, float | None]
    status_code_distribution: dict[str, int]
    error_distribution: dict[str, int]


def _program() -> str:
    return program("oha", "oha", by="cargo install --locked")


def _refuse(order: Order, request: Request) -> None:
    if order.load.http != "1.1":
        raise UsageError(f"oha is asked to speak HTTP/1.1 here, not {order.load.http}: use --driver engine")
    names = [name.lower() for name, _ in request.headers]
    if len(set(names)) != len(names):
        raise UsageError(f"oha sends a header once, request {request.name!r} repeats one: use --driver engine")


def _ms(seconds: float) -> str:
    return f"{max(1, round(seconds * 1000))}ms"


def _argv(order: Order, request: Request, limit: list[str]) -> list[str]:
    load = order.load
    argv = [_program(), "--no-tui", "--no-color", "--output-format", "json", "-c", str(load.connections), *limit]
    argv += ["-t", _ms(load.timeout_s), "--connect-timeout", _ms(load.timeout_s)]
    argv += ["--worker-threads", str(order.most_threads), "--disable-compression", "-r", "0", "-m", request.method]
    if not load.keep_alive:
        argv.append("--disable-keepalive")
    for name, value in request.headers:
        argv += ["-H", f"{name}: {value}"]
    if request.body is not None:
        argv += ["-D", _BODY]
    elif request.method in ("POST", "PUT", "PATCH"):
        argv += ["-H", "Content-Length: 0"]
    return [*argv, f"http://{order.authority}{request.path}"]


def _slice(report: _Report, command: DriverCommand) -> Slice:
    right = {str(status) for status in command.order.requests[0].expect.statuses}
    answered = report.status_code_distribution
    ok = sum(count for status, count in answered.items() if status in right)
    errors = {"wrong-status": sum(answered.values()) - ok}
    for message, count in report.error_distribution.items():
        kind = _KINDS.get(message, "socket")
        errors[kind] = errors.get(kind, 0) + count
    return Slice(
        phase=command.phase or "steady",
        index=0,
        start_ns=None,
        duration_ns=round(report.summary.total * 1e9),
        offered=ok + sum(errors.values()),
        ok=ok,
        errors={kind: count for kind, count in errors.items() if count},
        latency_ns=_points(report),
    )


def _points(report: _Report) -> dict[str, float] | None:
    """In nanoseconds; None when nothing was answered."""
    figures = report.summary
    said: dict[str, Any] = {"mean": figures.average, "min": figures.fastest, "max": figures.slowest}
    said |= {point: report.latency_percentiles.get(point) for point in _POINTS}
    points = {point: value * 1e9 for point, value in said.items() if value is not None}
    return points or None
