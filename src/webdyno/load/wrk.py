"""Driver of wrk: fast and widely known, but it cannot tell much and corrects its latency with samples nobody measured.

Its report rounds to three digits and hides errors, so a small script (wrk.lua) prints exact counters when the run is
over (where the script was not used, its own report will do). What they mean, read from wrk's behaviour against servers
that misbehave one way each (tests/golden/wrk):

    requests          complete answers, those with a status of 400 and above and those later than the timeout included
    errors.status     answers of 400 and above
    errors.timeout    answers that came later than the timeout; a connection never answered is waited for, in silence
    errors.read       reset, truncated, not HTTP; but also each close after a correct answer that was not announced, and
                      every body ended by close. wrk does not distinguish them, so neither can we: all are ``socket``
    latency           after the run, wrk adds an invented sample for every request it thinks it should have sent

The warm-up is a run of its own before the steady one. wrk deals connections out by whole division (64 over 3 threads
makes 63), so the number of threads is the largest that divides them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from webdyno.load.believing import believed
from webdyno.load.order import Ask, DriverCommand, Event, Fault, Order, Summary
from webdyno.load.tool import only_request, program, refuse_statuses, warmup_seconds, whole_seconds
from webdyno.load.wrk_report import Report, read_report, slice_of
from webdyno.model.driver import Can
from webdyno.model.errors import UsageError
from webdyno.model.sample import Phase
from webdyno.model.workload import Request

SCRIPT = Path(__file__).with_name("wrk.lua")
"""Prints the exact counters at the end of a run, of wrk2 too."""
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
        return commands_of(order, "wrk", lambda seconds: _argv(order, request, seconds))

    @believed
    def read(self, command: DriverCommand, lines: Iterable[str]) -> Iterator[Event]:
        """One Slice and the raw counters, when it is over."""
        report = read_report("wrk", lines)
        if isinstance(report, Fault):
            yield report
            return
        late = min(report.errors.timeout, report.requests)
        yield slice_of(report, command.phase or "steady", late)
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


def commands_of(order: Order, name: str, argv: Callable[[int], list[str]]) -> list[DriverCommand]:
    """A run for the warm-up, when there is one, and one for the steady phase; ``argv``: what is asked for so long."""
    steady = whole_seconds(order.load.duration_s or 0, "the duration", name)
    lengths: list[tuple[Phase, int]] = [("warmup", warmup_seconds(order)), ("steady", steady)]
    return [
        DriverCommand(phase=phase, argv=argv(seconds), order=order, merge_stderr=True)
        for phase, seconds in lengths
        if seconds
    ]


def argv_of(path: str, order: Order, request: Request, seconds: int, *flags: str) -> list[str]:
    """What wrk and wrk2 are asked alike; ``path`` is the program's, ``flags`` come before the headers."""
    load = order.load
    threads = next(count for count in range(order.most_threads, 0, -1) if load.connections % count == 0)
    headers = [f"{name}: {value}" for name, value in request.headers]
    if not load.keep_alive:
        headers.append("Connection: close")
    argv = [path, "--latency", "-t", str(threads), "-c", str(load.connections), "-d", f"{seconds}s", *flags]
    for header in headers:
        argv += ["-H", header]
    argv += ["--", f"http://{order.authority}{request.path}", request.method]
    return argv if request.body is None else [*argv, request.body]


def _argv(order: Order, request: Request, seconds: int) -> list[str]:
    path, timeout_s = program("wrk", "wrk"), whole_seconds(order.load.timeout_s, "the timeout", "wrk")
    return argv_of(path, order, request, seconds, "--timeout", f"{timeout_s}s", "-s", str(SCRIPT))


def _corrected(report: Report, order: Order) -> bool:
    """Whether wrk invented samples: it does for every latency above twice a connection's mean time between requests."""
    rounds = report.requests // order.load.connections
    if report.latency_us is None or not rounds:
        return False
    return report.latency_us["max"] > 2 * (report.duration_us // rounds)
