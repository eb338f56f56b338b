"""Driver of wrk: fast and widely known, but it cannot tell much and corrects its latency with samples nobody measured.

Its report rounds to three digits and hides errors, so a small script (wrk.lua) prints exact counters when the run is
over (where the script was not used, its own report will do). What they mean, read from wrk's behaviour against servers
that misbehave one way each (tests/golden/wrk):

    requests          complete answers, those with a status of 400 and above and those later than the timeout included
    errors.status     answers of 400 and above
    errors.timeout    answers that came later than the timeout; a connection never answered is waited for, in silence
    errors.read       reset, truncated, not HTTP; but also every close after a right answer that was not announced, and
                      every body ended by close. wrk cannot tell them apart, so neither can we: all are ``socket``
    latency           after the run, wrk adds an invented sample for every request it thinks it should have sent

The warm-up is a run of its own before the steady one. wrk deals connections out by whole division (64 over 3 threads
makes 63), so the number of threads is the largest that divides them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from webdyno.load.order import Ask, DriverCommand, Event, Fault, Order, Summary
from webdyno.load.tool import only_request, program, refuse_statuses, warmup_seconds, whole_seconds
from webdyno.load.wrk_report import Report, read_report
from webdyno.model.driver import Can
from webdyno.model.errors import UsageError
from webdyno.model.sample import Phase, Slice
from webdyno.model.workload import Request

_SCRIPT = Path(__file__).with_name("wrk.lua")
_LONGEST_BODY = 100_000
"""The body travels as an argument, and the kernel takes 128 KiB of one."""


class Wrk:
    """wrk 4."""

    can = Can(
        driver="wrk",
        http=("1.1",),
        statuses="below-400",
        lengths="none",
        bodies=False,
        error_kinds=("wrong-status", "timeout", "socket"),
        series=False,
        histogram=False,
        invents_samples=True,
        latency_from="sent",
        connections=False,
        silent_closes=False,
        silence=False,
        unfinished=False,
        cores="many",
        resolution_ns=1_000,
    )

    def version(self, ask: Ask) -> str:
        """Second word of its first line: ``wrk 4.2.0 [epoll] ...``."""
        words = ask([program("wrk", "wrk"), "-v"]).split()
        return words[1] if words[:1] == ["wrk"] and len(words) > 1 else "unknown"

    def commands(self, order: Order) -> list[DriverCommand]:
        """A run for the warm-up, when there is one, and a run for the steady phase."""
        request = only_request(order, "wrk")
        refuse_request(order, request, "wrk")
        steady = whole_seconds(order.load.duration_s or 0, "the duration", "wrk")
        lengths: list[tuple[Phase, int]] = [("warmup", warmup_seconds(order)), ("steady", steady)]
        return [
            DriverCommand(phase=phase, argv=_argv(order, request, seconds), order=order, merge_stderr=True)
            for phase, seconds in lengths
            if seconds
        ]

    def read(self, command: DriverCommand, lines: Iterable[str]) -> Iterator[Event]:
        """One Slice and the raw counters, when it is over."""
        report = read_report("wrk", lines)
        if isinstance(report, Fault):
            yield report
            return
        yield _slice(report, command.phase or "steady")
        yield Summary(msgspec.to_builtins(report) | {"latency_corrected": _corrected(report, command.order)})


def refuse_request(order: Order, request: Request, name: str) -> None:
    """Refuse what neither wrk nor wrk2, here called ``name``, can send."""
    load = order.load
    if load.count is not None:
        raise UsageError(
            f"{name} runs for a time, not for a number of requests: give a duration, or use --driver engine"
        )
    if load.http != "1.1":
        raise UsageError(f"{name} speaks HTTP/1.1 only, not {load.http}: use --driver engine")
    headers = [header.lower() for header, _ in request.headers]
    if len(set(headers)) != len(headers):
        raise UsageError(f"{name} sends a header once, request {request.name!r} repeats one: use --driver engine")
    if request.body is not None and (len(request.body.encode()) > _LONGEST_BODY or "\0" in request.body):
        raise UsageError(
            f"{name} takes a body of at most {_LONGEST_BODY} bytes without NUL, that of request "
            f"{request.name!r} is not: use --driver engine"
        )
    refuse_statuses(request, name, range(100, 400), "answers below 400")


def _argv(order: Order, request: Request, seconds: int) -> list[str]:
    load = order.load
    threads = next(count for count in range(order.most_threads, 0, -1) if load.connections % count == 0)
    headers = [f"{name}: {value}" for name, value in request.headers]
    if not load.keep_alive:
        headers.append("Connection: close")
    argv = [program("wrk", "wrk"), "--latency", "-t", str(threads), "-c", str(load.connections), "-d", f"{seconds}s"]
    argv += ["--timeout", f"{whole_seconds(load.timeout_s, 'the timeout', 'wrk')}s", "-s", str(_SCRIPT)]
    for header in headers:
        argv += ["-H", header]
    argv += ["--", f"http://{order.authority}{request.path}", request.method]
    return argv if request.body is None else [*argv, request.body]


def _slice(report: Report, phase: Phase) -> Slice:
    """An answer that is both late and of 400 or above is in both of wrk's counters; it is taken out once, as late."""
    errors = report.errors
    late = min(errors.timeout, report.requests)
    wrong = min(errors.status, report.requests - late)
    failed = errors.connect + errors.read + errors.write
    kinds = {"wrong-status": wrong, "timeout": late, "socket": failed}
    points = report.latency_us
    return Slice(
        phase=phase,
        index=0,
        start_ns=None,
        duration_ns=report.duration_us * 1000,
        offered=report.requests + failed,
        ok=report.requests - late - wrong,
        errors={kind: count for kind, count in kinds.items() if count},
        bytes_in=report.bytes,
        latency_ns=None if points is None else {point: value * 1000 for point, value in points.items()},
    )


def _corrected(report: Report, order: Order) -> bool:
    """Whether wrk invented samples: it does for every latency above twice a connection's mean time between requests."""
    rounds = report.requests // order.load.connections
    if report.latency_us is None or not rounds:
        return False
    return report.latency_us["max"] > 2 * (report.duration_us // rounds)
