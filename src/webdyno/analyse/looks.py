"""Looks: a race replayed from its Runs, look by look. Which pairs are told, and which Trials are worth doing next.

Everything follows from the plan and the Runs, so a race that was killed goes on as if it had not been, and the report
claims exactly what the race did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from webdyno.analyse.compare import Pair
from webdyno.analyse.estimate import Fit
from webdyno.analyse.race import Heat, comparisons, judge
from webdyno.analyse.window import BLAMELESS, TOO_MANY, read_tally
from webdyno.model.load import Load
from webdyno.model.race import Race
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial

Key = tuple[str, Load, str]
"""A table: workload, load, driver."""
End = Literal["settled", "rounds", "budget", "runs"]


@dataclass(frozen=True, slots=True)
class Standstill:
    """Where a race stands."""

    heats: Mapping[Key, Heat]
    trials: Sequence[Trial]
    """Worth doing next, in this order: what is left of one round. Empty: the race is over."""
    end: End | None
    """Why it is over; None while it goes on."""
    rounds: int
    """Rounds that were begun."""


def replay(plan: Plan, runs: Sequence[Run]) -> Standstill:
    """The race of ``plan`` as far as ``runs`` have brought it. A plan without a race is one of all its rounds."""
    race = plan.race or Race(least_rounds=plan.rounds, most_rounds=plan.rounds, top=None)
    last = {run.trial.id: run for run in runs if run.outcome != "interrupted"}
    heats: dict[Key, Heat] = {}
    for round_ in range(1, plan.rounds + 1):
        wanted = [trial for trial in plan.trials if trial.round == round_ and _wants(heats.get(key_of(trial)), trial)]
        if not wanted:
            return Standstill(heats, [], "settled", round_ - 1)
        left = [trial for trial in wanted if trial.id not in last]
        if plan.race is not None and round_ >= race.least_rounds and len(left) < len(wanted):
            cells, barred = _figures(plan, last, round_)
            after = judge(cells, heats, race, round_ - race.least_rounds + 1, barred)
            if left:  # a round cut short by the budget is looked at too, but decides nothing about the next
                return _within(after, left, runs, race, round_)
            heats = after
        elif left:
            return _within(heats, left, runs, race, round_)
    settled = all(heat.active is not None and not heat.active for heat in heats.values()) and bool(heats)
    return Standstill(heats, [], "settled" if settled else "rounds", plan.rounds)


def comparisons_at(plan: Plan, runs: Sequence[Run]) -> int | None:
    """What telling two apart takes now, as a number of comparisons in a single analysis; None: this is no race."""
    if plan.race is None:
        return None
    look = max((run.trial.round for run in runs), default=1) - plan.race.least_rounds + 1
    return comparisons(len({key_of(trial) for trial in plan.trials}), len(plan.contenders), max(look, 1))


def told(heat: Heat, rates: Fit, ranked: Collection[str], untold: Collection[Pair]) -> set[Pair]:
    """The claims of a race that hold for the order shown: none against the figures, none about who is not ranked."""
    place = {name: -float(log) for name, log in zip(rates.names, rates.logs, strict=True)}
    return {
        frozenset((one, other))
        for one, other in heat.told
        if one in ranked and other in ranked and place[one] < place[other] and frozenset((one, other)) not in untold
    }


def key_of(trial: Trial) -> Key:
    """The table a trial belongs to."""
    return trial.workload, trial.load, trial.driver


def _wants(heat: Heat | None, trial: Trial) -> bool:
    return heat is None or heat.active is None or trial.contender in heat.active


def _figures(
    plan: Plan, last: Mapping[str, Run], rounds: int
) -> tuple[dict[Key, dict[tuple[str, int], float]], dict[Key, set[str]]]:
    """Rates of all tables, up to one round, and whom the report will not rank by then: a contender that failed in a
    round by its own doing, or answered too much wrongly."""
    tables: dict[Key, dict[tuple[str, int], float]] = {key_of(trial): {} for trial in plan.trials}
    barred: dict[Key, set[str]] = {key: set() for key in tables}
    right: Counter[tuple[Key, str]] = Counter()
    wrong: Counter[tuple[Key, str]] = Counter()
    for trial in plan.trials:
        if trial.round > rounds or trial.id not in last:
            continue
        key, run = key_of(trial), last[trial.id]
        tally = read_tally(run)
        if tally.rate_per_s is not None:
            tables[key][trial.contender, trial.round] = tally.rate_per_s
            right[key, trial.contender] += tally.ok
            wrong[key, trial.contender] += tally.wrong
        elif run.outcome not in BLAMELESS:
            barred[key].add(trial.contender)
    for (key, name), errors in wrong.items():
        if errors >= TOO_MANY * (errors + right[key, name]):
            barred[key].add(name)
    return tables, barred


def _within(
    heats: Mapping[Key, Heat], left: Sequence[Trial], runs: Sequence[Run], race: Race, round_: int
) -> Standstill:
    """So many of the trials as there may be, and as there is time for, judged by how long those before them took."""
    begun = max((run.trial.round for run in runs), default=0)
    if race.most_runs is not None:
        done = len({run.trial.id for run in runs if run.outcome != "interrupted"})
        left = left[: max(race.most_runs - done, 0)]
        if not left:
            return Standstill(heats, [], "runs", begun)
    if race.budget_s is None:
        return Standstill(heats, left, None, round_)
    took = {(run.trial.contender, key_of(run.trial)): run.seconds for run in runs}
    time = race.budget_s - sum(run.seconds for run in runs)
    within: list[Trial] = []
    for trial in left:
        time -= took.get((trial.contender, key_of(trial)), trial.asked.warmup_s + (trial.asked.duration_s or 0.0))
        if time < 0:
            break
        within.append(trial)
    return Standstill(heats, within, None if within else "budget", round_ if within else begun)
