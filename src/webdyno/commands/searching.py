"""The search of ``webdyno capacity``: a rate becomes a Load, and a Run what it says of the objectives."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from webdyno.analyse.capacity import Result, Search, Tried, next_rate
from webdyno.analyse.doubts.schedule import LATE
from webdyno.analyse.generator import BOUND, strain_of
from webdyno.analyse.objectives import LATENCIES, Course, Objective, error_share, missed
from webdyno.analyse.window import read_window
from webdyno.analyse.words import rate, time_ns
from webdyno.model.errors import ContenderError
from webdyno.model.load import Load
from webdyno.model.run import Run

FEWEST_CONNECTIONS, MOST_CONNECTIONS = 256, 4000
_FIRST_CONNECTIONS = 8
NEVER_SERVED = ("build-failed", "exited-at-start", "never-ready", "driver-failed", "service-failed")
"""Outcomes that say nothing of the rate."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """How each rate is asked."""

    duration_s: float
    warmup_s: float
    even: bool
    seed: int
    max_connections: int | None
    wanted: Sequence[Objective]

    def load(self, rate_per_s: float, number: int) -> Load:
        """The Load of trial ``number``, whose arrivals are drawn anew.

        The pool may grow to twice the requests that may wait within the objective (Little's law), so that it is the
        server and not the pool that is at its end first.
        """
        bounds_s = [objective.bound / 1e9 for objective in self.wanted if objective.what in LATENCIES]
        longest_s = max(bounds_s, default=1.0)
        enough = min(max(math.ceil(2 * rate_per_s * longest_s), FEWEST_CONNECTIONS), MOST_CONNECTIONS)
        most = self.max_connections or enough
        return Load(
            connections=min(_FIRST_CONNECTIONS, most),
            max_connections=most,
            rate_per_s=rate_per_s,
            poisson=not self.even,
            seed=None if self.even else self.seed + number,
            duration_s=self.duration_s,
            warmup_s=self.warmup_s,
            timeout_s=min(max(1.0, 4 * longest_s), 30.0),
        )


def search(
    take: Callable[[Load, int], Run],
    asked: Asked,
    goal: Search,
    budget_s: float,
    interrupted: threading.Event,
) -> list[Tried]:
    """Trials until the answer is known, the time is up or the user stops it; a line on standard error for each.

    ContenderError when the server does not serve at all.
    """
    begun, longest_s = time.monotonic(), 0.0
    tried: list[Tried] = []
    number = 0
    while (rate_ := next_rate(tried, goal)) is not None and not interrupted.is_set():
        left_s = budget_s - (time.monotonic() - begun)
        if tried and left_s < longest_s:
            print(f"the budget is spent after {len(tried)} trials", file=sys.stderr)
            break
        number += 1
        before = time.monotonic()
        run = take(asked.load(rate_, number), number)
        longest_s = max(longest_s, time.monotonic() - before)
        if run.outcome == "interrupted":
            break
        refuse_what_never_served(run)
        tried.append(tried_of(run, asked.wanted))
        print(line_of(tried[-1], time.monotonic() - begun), file=sys.stderr, flush=True)
    return tried


def refuse_what_never_served(run: Run) -> None:
    """ContenderError, with its log's end, for a server that was never loaded at all."""
    if run.outcome in NEVER_SERVED or (run.outcome == "wrong-answer" and not run.slices):
        raise ContenderError(f"{run.trial.contender}: {run.outcome}: {run.message}", run.log_tail)


def line_of(tried: Tried, passed_s: float) -> str:
    """One trial in one line."""
    p99 = "-" if tried.p99_ns is None else time_ns(tried.p99_ns)
    why = f" ({'; '.join(tried.missed)})" if tried.missed else ""
    return f"[{passed_s:4.0f} s] {rate(tried.rate_per_s):>10}  p99 {p99:>9}  {tried.result}{why}"


def tried_of(run: Run, wanted: Sequence[Objective]) -> Tried:
    """What a Run at a rate says of the objectives."""
    summary, asked_per_s = run.summary, run.trial.load.rate_per_s or 0.0
    if not summary.get("offered"):
        return Tried(rate_per_s=asked_per_s, result="missed", missed=[run.message or "nothing was asked"], offered=0.0)
    course = Course(summary, run.slices, run.trial.load)
    failed = missed(wanted, course)
    if run.outcome != "ok":
        failed.insert(0, f"{run.outcome}: {run.message}")
    result: Result = "missed" if failed else "met"
    if failed and _generator_was_the_limit(run):
        result, failed = "not-offered", ["the load generator was at its end"]
    window = read_window(run)
    points = summary.get("response_ns") or {}
    return Tried(
        rate_per_s=asked_per_s,
        result=result,
        missed=failed,
        ok_per_s=summary["ok"] * 1e9 / summary["duration_ns"],
        offered=course.sent_share,
        p50_ns=points.get("p50"),
        p99_ns=points.get("p99"),
        error_ratio=error_share(course),
        cores=None if window is None or not run.readings else window.contender_cores,
        memory_bytes=run.memory_peak_bytes,
    )


def _generator_was_the_limit(run: Run) -> bool:
    """Then a miss says nothing of the server. Where it is unknown: busy, and late with what had a connection."""
    steady = [slice_ for slice_ in run.slices if slice_.phase == "steady"]
    found = strain_of(run, steady, None)
    if found.busy is not None:
        return found.limit is not None
    summary = run.summary
    shares = [share for thread in summary.get("threads", []) if (share := thread.get("cpu_share")) is not None]
    busy = bool(shares) and sum(shares) / len(shares) >= BOUND  # one that spins always is; then lateness alone tells
    lag, response = summary.get("lag_ns"), summary.get("response_ns")
    return bool(busy and lag is not None and response is not None and lag["p99"] > LATE * response["p99"])
