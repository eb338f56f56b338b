"""The last comparison: the finalists and the baseline in rounds, each round holding each of them once."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from webdyno.commands.trying.bench import TryBench
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Skipped

LEAST_ROUNDS = 3
MOST_ROUNDS = 15
LEAST_S, MOST_S = 1.5, 5.0
"""Steady seconds of one Run."""


def shape(count: int, left_s: float, start_s: float, least_s: float = LEAST_S) -> tuple[int, float]:
    """Rounds and steady seconds for ``count`` settings in ``left_s``, where starting and ending one takes ``start_s``.

    More rounds first, longer ones after: what differs most is one start from the next. What whole rounds leave over
    makes them longer.
    """
    each = left_s / max(count, 1)
    rounds = min(max(int(each / (start_s + least_s)), LEAST_ROUNDS), MOST_ROUNDS)
    return rounds, round(max(least_s, min(each / rounds - start_s, max(MOST_S, least_s))), 1)


def final_plan(
    bench: TryBench, names: Sequence[str], rounds: int, duration_s: float, skipped: Sequence[Skipped], title: str
) -> Plan:
    """Rounds of random order, from one seed."""
    chance = random.Random(1)  # noqa: S311 - an order to be repeated, not a secret
    load, trials = bench.load(duration_s), []
    for round_ in range(1, rounds + 1):
        order = list(names)
        chance.shuffle(order)
        trials += [bench.trial(name, load, round_) for name in order]
    return bench.plan(trials, skipped, title=title, question="which server, which settings, for this app?")


def final_runs(bench: TryBench, plan: Plan, over: Callable[[float], bool], keep: Callable[[Run], object]) -> list[Run]:
    """Every Run of the plan, ``keep`` told of each; ended early after a whole round when time is ``over``, which is
    told how long a round takes.
    """
    runs: list[Run] = []
    for at, trial in enumerate(plan.trials):
        begins_a_round = at == 0 or plan.trials[at - 1].round != trial.round
        done = trial.round - 1
        if bench.interrupted.is_set() or (
            begins_a_round and done >= LEAST_ROUNDS and over(sum(run.seconds for run in runs) / done)
        ):
            break
        runs.append(bench.run(trial, plan))
        if runs[-1].outcome == "interrupted":
            break
        keep(runs[-1])
    return [run for run in runs if run.outcome != "interrupted"]
