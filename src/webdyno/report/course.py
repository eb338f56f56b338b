"""Course: what was done in which order, how often, and how figures come of it."""

from __future__ import annotations

from collections.abc import Sequence

from webdyno.analyse.words import count, number
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.report.sides import sentence, sides_of


def rounds(plan: Plan, runs: Sequence[Run]) -> str:
    """``4, a fresh server in each``; of a race, as many as anybody had."""
    if plan.in_place:
        return f"{count(plan.rounds)}, all on one start of each server"
    if plan.race is None:
        more = f", up to {count(plan.rounds)} for open claims" if plan.rounds > plan.rounds_of_all else ""
        return f"{count(plan.rounds_of_all)}{more}, a fresh server in each"
    return f"a race of up to {max((run.trial.round for run in runs), default=0)}, a fresh server in each"


def measured(plan: Plan, runs: Sequence[Run]) -> str:
    """What was done in which order, how figures come of it, and how rates were measured."""
    return " ".join(filter(None, [_done(plan, runs), sentence(sides_of(runs))]))


def _averaged(plan: Plan) -> str:
    """How the figures of rounds become one."""
    if plan.estimate != "trimmed":
        return "the mean over rounds"
    if plan.rounds < 3:
        return "the mean over rounds: there are too few to drop the highest and the lowest"
    return (
        "the trimmed mean (highest and lowest round dropped), with intervals from all rounds; shares of requests, "
        "such as errors, are of all rounds"
    )


def _done(plan: Plan, runs: Sequence[Run]) -> str:
    """``90 runs of 90, 3 rounds, contenders in a new random order in each (seed 7), a fresh server for every run``."""
    kind = _averaged(plan)
    done = sum(run.outcome != "interrupted" for run in runs)
    if plan.race is not None:
        begun = max((run.trial.round for run in runs), default=0)
        return (
            f"A race: {count(done, 'run')} in {count(begun, 'round')}, each with a fresh server process, in a new "
            f"random order in every round (seed {plan.seed}). Contenders whose order was settled had no more rounds. "
            f"At most {number(plan.race.alpha * 100, 0)} % of such races claim any order falsely. Figures are {kind}."
        )
    how = (
        f"one after the other on one start of each server, the servers in random order (seed {plan.seed})"
        if plan.in_place
        else f"each with a fresh server process, in a new random order in every round (seed {plan.seed})"
    )
    planned = [trial for trial in plan.trials if trial.round <= plan.rounds_of_all]
    of = f"{_of(done, len(planned))} in {count(plan.rounds_of_all, 'round')}"
    more = _further(plan, done - len(planned))
    return f"{of}{more}, {how}. Figures are {kind}."


def _of(done: int, planned: int) -> str:
    return f"{count(min(done, planned))} of {count(planned, 'run')}"


def _further(plan: Plan, runs: int) -> str:
    """What open claims had beyond all rounds; empty where they had nothing."""
    if plan.further is None or runs <= 0:
        return ""
    more = count(plan.rounds - plan.rounds_of_all)
    return f", then {count(runs, 'run')} in up to {more} more rounds for claims that were still open"
