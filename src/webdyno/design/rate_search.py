"""Rate search: what a Run at one rate says of the objectives, and which rate is worth asking next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from webdyno.analyse.capacity import Result, Search, Tried, next_rate
from webdyno.analyse.generator import engine_strain
from webdyno.analyse.objectives import LATENCIES, Course, Objective, missed, share_failed
from webdyno.analyse.steady import steady_slices
from webdyno.analyse.window import read_window
from webdyno.design import Block
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.sought import Sought
from webdyno.model.trial import Plan, trial_of

FEWEST_CONNECTIONS, MOST_CONNECTIONS = 256, 4000
_FIRST_CONNECTIONS = 8
_FEWEST = 10
"""Requests of a trial, below which it says little of a rate; arrivals at random may then be none at all."""
NEVER_SERVED = ("build-failed", "exited-at-start", "never-ready", "driver-failed", "service-failed", "unreadable")
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


def goal_of(sought: Sought) -> Search:
    """Where a search begins, how far it goes, and how sure it is to be."""
    return Search(
        first_per_s=sought.first_per_s,
        lowest_per_s=min(max(1.0, _FEWEST / sought.duration_s), sought.first_per_s),
        highest_per_s=sought.most_per_s,
        precision=sought.precision,
    )


def search_of(plan: Plan, sought: Sought, wanted: Sequence[Objective]) -> RateSearch:
    """The design of a plan, where ``wanted`` are its objectives."""
    asked = Asked(
        duration_s=sought.duration_s,
        warmup_s=sought.warmup_s,
        even=sought.even,
        seed=plan.seed,
        max_connections=sought.max_connections,
        wanted=wanted,
    )
    return RateSearch(plan=plan, asked=asked, goal=goal_of(sought), budget_s=sought.budget_s)


@dataclass(frozen=True, kw_only=True)
class RateSearch:
    """The design: one rate after the other until the answer is known, the time is up, or the server does not serve."""

    plan: Plan
    asked: Asked
    goal: Search
    budget_s: float

    def __call__(self, runs: Sequence[Run]) -> Sequence[Block]:
        """The trial at the next rate."""
        rate_per_s, done = self.next_per_s(runs), _done(runs)
        if rate_per_s is None or self.is_spent(runs):
            return []
        (contender,), number = self.plan.contenders, len(done) + 1
        return [[trial_of(self.plan, contender, self.asked.load(rate_per_s, number), number)]]

    def next_per_s(self, runs: Sequence[Run]) -> float | None:
        """The rate worth asking next; None: the answer is known, or there is none."""
        done = _done(runs)
        if any(map(never_served, done)):
            return None
        return next_rate([tried_of(run, self.asked.wanted) for run in done], self.goal)

    def is_spent(self, runs: Sequence[Run]) -> bool:
        """Whether the longest trial so far does not fit into what is left of the budget."""
        took = [run.seconds for run in _done(runs)]
        return bool(took) and self.budget_s - sum(took) < max(took)


def _done(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.outcome != "interrupted"]


def never_served(run: Run) -> bool:
    """Whether the server was never loaded at all."""
    return run.outcome in NEVER_SERVED or (run.outcome == "wrong-answer" and not run.slices)


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
        result, failed = "not-offered", ["the load generator was at its limit"]
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
        error_ratio=share_failed(course),
        cores=None if window is None or not run.readings else window.contender_cores,
        memory_bytes=run.memory_peak_bytes,
    )


def _generator_was_the_limit(run: Run) -> bool:
    """Then a miss says nothing of the server."""
    return engine_strain(run.summary, steady_slices(run), run.trial.load).limit is not None
