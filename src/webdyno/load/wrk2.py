"""Driver of wrk2: wrk at a rate, with latency from when a request should have been sent; the first to do so.

What its figures mean, read from its sources (commit 44a94c1) and its behaviour against servers that misbehave one way
each (tests/golden/wrk2):

    the rate            is dealt out to the connections: each has a schedule of its own and sends one request at a time,
                        so a request that is due waits for its own connection while others are idle. Its tails are
                        those of the slowest connection's queue, higher than those of users who come independently
    the schedule        of a connection goes by the answers it had, and after a delay it catches up at twice its rate
    the first 10 s      are "calibration": their latencies are thrown away, in silence but for a line; their requests
                        are in all counts. A shorter run is all calibration, and then its latencies are kept
    errors.timeout      counts, each 2 s, the connections whose last request began longer ago than the timeout, also
                        idle ones: no number of requests. It is left in the Summary and booked nowhere
    errors.read         a reset or a cut answer. A close that was not announced is counted nowhere: the connection is
                        given up, and what it had to send is never sent. So is one that is never answered
    the end             is looked for every 2 s and with an answer: a run lasts up to 2 s longer, and counts them

The warm-up is a run of its own. The program is called wrk2 where packages bring it; built by hand it is called wrk too,
and says that it is version 4.0.0: what distinguishes the two is that only wrk2 knows --rate.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator

import msgspec

from webdyno.load.believing import believed
from webdyno.load.order import Ask, DriverCommand, Event, Fault, Order, Summary
from webdyno.load.tool import program, sole_request, whole_seconds
from webdyno.load.wrk import SCRIPT, argv_of, commands_of, refuse_request
from webdyno.load.wrk_report import read_report, slice_of
from webdyno.model.driver import Can
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.workload import Request

_NAME = "wrk2"


class Wrk2:
    """wrk2 4.0.0, as all of its builds call themselves."""

    can = Can(
        driver="wrk2",
        http=("1.1",),
        statuses="below-400",
        lengths="none",
        bodies=False,
        error_kinds=("wrong-status", "socket"),
        series=False,
        histogram=False,
        invents_samples=False,
        latency_from="due",
        connections=False,
        silent_closes=False,
        silence=False,
        unfinished=False,
        cores="many",
        resolution_ns=1_000,
        schedule="per-connection",
        reconnects=False,
        discards_s=10.0,
    )

    def version(self, ask: Ask) -> str:
        """Second word of its first line; MachineError when what is called wrk2 is wrk."""
        said = ask([_program(), "-v"])
        words = said.split()
        if words[:1] != ["wrk"] or len(words) < 2:
            return "unknown"
        if "--rate" not in said:
            raise MachineError(f"{_program()} is wrk and not wrk2, it knows no --rate: put wrk2 on PATH as wrk2")
        return words[1]

    def commands(self, order: Order) -> list[DriverCommand]:
        """A run for the warm-up, when there is one, and a run for the steady phase."""
        request = sole_request(order, _NAME)
        _refuse(order)
        refuse_request(order, request, _NAME)
        return commands_of(order, _NAME, lambda seconds: _argv(order, request, seconds))

    @believed
    def read(self, command: DriverCommand, lines: Iterable[str]) -> Iterator[Event]:
        """One Slice and the raw counters, when it is over."""
        report = read_report(_NAME, lines)
        if isinstance(report, Fault):
            yield report
            return
        yield slice_of(report, command.phase or "steady")
        yield Summary(msgspec.to_builtins(report))


def _program() -> str:
    return shutil.which(_NAME) or program(_NAME, "https://github.com/giltene/wrk2 into PATH as wrk2", by="build")


def _refuse(order: Order) -> None:
    load = order.load
    if load.rate_per_s is None or load.poisson:
        raise UsageError(
            "wrk2 is driven at a constant rate only: give the load a rate_per_s, or use --driver wrk or engine"
        )
    if load.rate_per_s != int(load.rate_per_s):
        raise UsageError(f"wrk2 takes whole requests per second, not {load.rate_per_s:g}: use --driver engine")
    if load.drain_s:
        raise UsageError("wrk2 does not wait for the answers missing at the end: use --driver engine")


def _argv(order: Order, request: Request, seconds: int) -> list[str]:
    path, load = _program(), order.load
    flags = ["-R", str(int(load.rate_per_s or 0)), "-s", str(SCRIPT)]
    flags += ["--timeout", f"{whole_seconds(load.timeout_s, 'the timeout', _NAME)}s"]
    return argv_of(path, order, request, seconds, *flags)
