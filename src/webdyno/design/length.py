"""How long Trials take, as far as that is known before."""

from __future__ import annotations

from collections.abc import Iterable

from webdyno.design.blocks import Room, why_alone
from webdyno.model.contender import Contender
from webdyno.model.load import Load
from webdyno.model.race import Race
from webdyno.model.run import Run
from webdyno.model.trial import LONGEST_WARM_UP, Plan, Trial

OVERHEAD_S = 0.6
"""Start, verification and end of one server, as measured over the quickstart's contenders (median)."""
BLOCK_S = 0.3
"""More, in a block, where it has its own engine: that one's start, the drained ends of turns and the looks between."""
ANY_ROOM = Room(memory_bytes=None)
USUAL_READY_S = 20.0
"""What contenders may take to be ready unless their file says otherwise; one that may take more usually does."""
GUESSED_RATE_PER_S = 2000
"""Only to foretell the length of Trials that end by count."""


def trial_seconds(load: Load, contender: Contender | None = None, floor_ms: float = 0.0) -> float:
    """Expected length of one Trial in seconds: server start and end included, without the build.

    ``floor_ms`` is the least that an answer takes: this many connections have no more answers than that allows.
    """
    overhead = OVERHEAD_S * (1.0 if contender is None else max(1.0, contender.ready_s / USUAL_READY_S))
    each_s = max(1 / GUESSED_RATE_PER_S, floor_ms / 1e3 / load.connections)
    steady = load.duration_s if load.duration_s is not None else (load.count or 0) * each_s
    return overhead + load.opening_s + load.warmup_s + steady


def expected_s(plan: Plan, trial: Trial) -> float:
    """As ``trial_seconds``, in the design of ``plan``.

    In place only the first round of a cell starts a server. In a block, each contender's part of it. Who will be alone
    is guessed by the load, for there may be too little memory for all, or a contender that does not rest.
    """
    if plan.in_place and trial.round > 1:
        return trial_seconds(trial.asked) - OVERHEAD_S
    floor_ms = plan.workloads[trial.workload].service_floor_ms
    alone_s = trial_seconds(trial.asked, plan.contenders.get(trial.contender), floor_ms)
    if plan.turns is None or why_alone(trial, plan, ANY_ROOM) is not None:
        return alone_s
    both_s = plan.turns.total_s(trial.load) + plan.turns.window_s(trial.load)
    return alone_s + BLOCK_S + both_s - (trial.load.duration_s or 0.0)


def warming_s(plan: Plan) -> float:
    """Seconds that warm-ups which count answers may take beyond what is expected of them, in all rounds."""
    given = [trial.asked.warmup_s for trial in plan.trials if trial.counts_answers]
    return (LONGEST_WARM_UP - 1) * sum(given)


def spent_s(runs: Iterable[Run]) -> float:
    """Seconds that ``runs`` took."""
    return sum(run.seconds for run in runs)


def rounds_s(plan: Plan, rounds: int) -> float:
    """Seconds of this many rounds of everything."""
    return sum(expected_s(plan, trial) for trial in plan.trials if trial.round <= rounds)


def longest_s(plan: Plan, race: Race) -> float:
    """Seconds of the race if the Runs left to it after its first rounds go to those that take longest."""
    extra = (race.most_runs or 0) - race.least_rounds * plan.cells
    later = [trial for trial in plan.trials if trial.round > race.least_rounds]
    each = sorted((expected_s(plan, trial) for trial in later), reverse=True)
    return rounds_s(plan, race.least_rounds) + sum(each[:extra])
