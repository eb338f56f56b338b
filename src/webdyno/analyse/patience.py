"""Patience: whether a load lasts long enough for what is asked of it. Pure, so that it can be said before it runs.

A request that is never answered becomes an error when its time-out ends: a window that is shorter counts none that
began in it, whatever the server did. And a window in which a client has its answer only once or twice shows how a
server begins (who is first in its queue) more than how it serves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from webdyno.analyse import words
from webdyno.model.load import Load
from webdyno.model.trial import Plan

CYCLES = 3
"""Answers for each connection of a closed load; fewer are few."""
SLOW_PER_S = 1_000.0
"""What a slow server serves on one core, as the studies of the articles show. A load that needs no more than this for
its cycles is long enough for nearly all, and nothing is said of it beforehand."""


def outlasted(load: Load) -> bool:
    """Whether the window ends before the time-out of a request that began in it."""
    return load.count is None and load.duration_s is not None and load.duration_s < load.timeout_s


def least_rate_per_s(load: Load) -> float | None:
    """Who serves less has fewer than ``CYCLES`` answers for each connection in the window; None where a load is open,
    or ends by a count."""
    if load.is_open or load.connection_stages or load.count is not None or not load.duration_s:
        return None
    return CYCLES * load.connections / load.duration_s


def too_short(plan: Plan) -> list[str]:
    """What the loads of a plan cannot show, a sentence each."""
    loads = list(dict.fromkeys(trial.load for trial in plan.trials))
    return [*(_outlasted(loads) if _is_about_errors(plan) else ()), *_few_cycles(loads)]


def _is_about_errors(plan: Plan) -> bool:
    return "errors" in plan.shows or any(claim.measure == "errors" for claim in plan.claims)


def _outlasted(loads: list[Load]) -> Iterator[str]:
    by_time_out: dict[float, set[float]] = defaultdict(set)
    for load in loads:
        if outlasted(load) and load.duration_s is not None:
            by_time_out[load.timeout_s].add(load.duration_s)
    for timeout_s, seconds in by_time_out.items():
        lengths = words.listing([f"{each:g}" for each in sorted(seconds)])
        what = "a window of {} s is" if len(seconds) == 1 else "windows of {} s are"
        yield (
            f"{what.format(lengths)} shorter than the time-out of {timeout_s:g} s: a request that hangs in one "
            "is not counted as an error"
        )


def _few_cycles(loads: list[Load]) -> Iterator[str]:
    told = dict.fromkeys((load.connections, load.duration_s) for load in loads if _needs_much(load))
    for connections, seconds in told:
        if seconds is not None:
            yield (
                f"{words.count(connections, 'connection')} for {seconds:g} s: a contender that serves less than "
                f"{words.rate(CYCLES * connections / seconds)} answers each of them less than {CYCLES} times, "
                "which is too few for reliable figures"
            )


def _needs_much(load: Load) -> bool:
    least = least_rate_per_s(load)
    return least is not None and least > SLOW_PER_S
