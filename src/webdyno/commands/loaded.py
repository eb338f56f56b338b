"""One load by our own engine outside any rig: started, followed, summed up. Used by ``webdyno load``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webdyno.analyse.window import NOT_AN_ERROR
from webdyno.analyse.words import per_cent, rate, size, time_ns
from webdyno.commands.options import out_console
from webdyno.load.driver import DRIVERS, Event, Fault, Order, Summary
from webdyno.model.errors import MachineError
from webdyno.model.sample import Slice
from webdyno.rig.here import Here
from webdyno.rig.host import PIPE, Command

PERCENTILES = ("p50", "p75", "p90", "p99", "p99.9", "max")


@dataclass
class Loaded:
    """What the engine said."""

    order: Order
    slices: list[Slice] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True when at least one request was answered rightly."""
        return bool(self.summary.get("ok"))

    def as_data(self) -> dict[str, Any]:
        """For ``--json``."""
        return {"load": self.order.load, "summary": self.summary, "slices": self.slices, "doubts": doubts(self)}


def carry_out(order: Order, watch: Callable[[Event], None]) -> Loaded:
    """Run the engine to its end; Ctrl-C ends it early and keeps what it has measured so far."""
    driver = DRIVERS["engine"]()
    (command,) = driver.commands(order)
    group = Here().start(
        Command(
            argv=command.argv,
            cwd=Path.cwd(),
            environment=command.environment,
            role="tool",
            stdin=command.stdin,
            stdout=PIPE,
            stderr=Path(os.devnull),  # what it says there stands in its Fault too
        )
    )
    loaded = Loaded(order)
    try:
        for event in driver.read(command, _lines(group.stdout)):
            match event:
                case Slice():
                    loaded.slices.append(event)
                case Summary(fields=fields):
                    loaded.summary = fields
                case Fault(message=message):
                    raise MachineError(message)
            watch(event)
    finally:
        group.end(grace_s=3.0)
    if not loaded.summary:
        raise MachineError("the engine ended without a summary; webdyno doctor says whether it is installed rightly")
    return loaded


def _lines(stream: Any) -> Iterator[str]:
    for line in stream:
        yield line.decode("utf-8", "replace")


def printer() -> Callable[[Event], None]:
    """One line per second on standard error, when somebody watches."""
    if not sys.stderr.isatty():
        return lambda _: None

    def say(event: Event) -> None:
        if isinstance(event, Slice) and event.duration_ns:
            errors = sum(number for kind, number in event.errors.items() if kind != NOT_AN_ERROR)
            print(
                f"  {event.phase} {event.index + 1:>4}  {rate(event.ok * 1e9 / event.duration_ns)}  {errors} errors",
                file=sys.stderr,
            )

    return say


def doubts(loaded: Loaded) -> list[str]:
    """Why not to trust these figures, one sentence each."""
    summary, load = loaded.summary, loaded.order.load
    seconds = summary["duration_ns"] / 1e9
    cpu = (summary["cpu_user_ns"] + summary["cpu_system_ns"]) / 1e9 / max(seconds, 1e-9)
    threads = max(1, len(summary.get("threads", [])))
    answers, opened = summary["offered"], summary["connections_opened"]
    found = ["one run has no interval: repeat it to learn how much it varies from start to start"]
    if cpu >= 0.85 * threads:
        found.append(
            f"generator-bound: the engine used {per_cent(cpu / threads)} of its {threads} thread(s); try -t more"
        )
    if load.keep_alive and opened and answers / opened < 1.5:
        found.append(f"closes connections: {answers / opened:.1f} answers per connection although keep-alive was asked")
    if load.http == "1.1" and summary["http10_answers"]:
        found.append(f"HTTP/1.0: {summary['http10_answers']:,} answers were HTTP/1.0")
    found += _doubts_of_the_schedule(loaded)
    if summary["connections_unanswered"]:
        found.append(f"starved: {summary['connections_unanswered']:,} connections never got an answer")
    return found


def _doubts_of_the_schedule(loaded: Loaded) -> list[str]:
    """At a rate: was it really offered, and on time?"""
    summary, load = loaded.summary, loaded.order.load
    if load.rate_per_s is None:
        return []
    found = []
    seconds = summary["duration_ns"] / 1e9
    sent = summary["offered"] - summary["errors"].get("shed", 0)
    if load.count is None and sent < 0.99 * load.rate_per_s * seconds:
        share = per_cent(sent / (load.rate_per_s * seconds))
        found.append(f"not offered: only {share} of the requests that were due were sent; give more --max-connections")
    lag, response = summary.get("lag_ns"), summary.get("response_ns")
    if lag and response and lag["p99"] > 0.1 * response["p99"]:
        found.append(f"schedule-lag: the engine sent late by {time_ns(lag['p99'])} at p99, a tenth of p99 or more")
    return found


def print_summary(url: str, loaded: Loaded) -> None:
    """The whole load at a glance, on standard output."""
    console = out_console()
    summary = loaded.summary
    seconds = summary["duration_ns"] / 1e9
    ended = summary["offered"] - summary["errors"].get(NOT_AN_ERROR, 0)
    lines = [
        f"{url}  {loaded.order.load.label}, {seconds:.1f} s",
        f"  rate       {rate(summary['ok'] / seconds if seconds else 0.0)}{_swing(loaded)}",
        f"  answers    {summary['ok']:,} right of {ended:,}, {size(summary['bytes_in'])} read",
        *_latency_lines(loaded),
    ]
    errors = {kind: number for kind, number in summary["errors"].items() if number and kind != NOT_AN_ERROR}
    if errors:
        lines.append("  errors     " + "  ".join(f"{kind} {number:,}" for kind, number in errors.items()))
    if summary.get("first_error"):
        lines.append(f"  first      {summary['first_error']}")
    lines += [f"  doubt      {doubt}" for doubt in doubts(loaded)]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _swing(loaded: Loaded) -> str:
    per_second = [s.ok * 1e9 / s.duration_ns for s in loaded.slices if s.phase == "steady" and s.duration_ns > 5e8]
    if len(per_second) < 2:
        return ""
    return f" ({rate(min(per_second))} to {rate(max(per_second))} in single seconds)"


def _latency_lines(loaded: Loaded) -> list[str]:
    """Closed: one latency. Open: from due (what a user waits) first, then from sent (what the server took), and lag."""
    summary = loaded.summary
    if loaded.order.load.rate_per_s is None:
        return _points("latency", summary["latency_ns"])
    lag = summary.get("lag_ns")
    censored = summary.get("censored", 0) / max(1, summary["offered"])
    lines = _points("from due", summary.get("response_ns"), censored) + _points("from sent", summary["latency_ns"])
    if lag:
        told = "  ".join(f"{name} {time_ns(lag[name])}" for name in ("p50", "p99", "max"))
        lines.append(f"  sent late  {told} (the engine's own lag)")
    return lines


def _points(name: str, points: dict[str, Any] | None, censored: float = 0.0) -> list[str]:
    """A line of percentiles; "at least" stands before those that requests without an end could move up.

    ``censored`` is the share of such requests. One in flight at the end of thousands moves p99 by a hair: it is marked
    from a tenth of the percentile's own tail on.
    """
    if not points:
        return []
    shown = []
    for point in PERCENTILES:
        tail = 0.0 if point == "max" else 1 - float(point[1:]) / 100
        least = point in (points.get("at_least") or []) and censored > 0.1 * tail
        shown.append(f"{point} {'>= ' if least else ''}{time_ns(points[point])}")
    return [f"  {name:<10} " + "  ".join(shown)]
