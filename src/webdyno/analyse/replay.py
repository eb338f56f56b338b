"""Replay: a race from its Runs, look by look. Which pairs are decided, and which Trials are worth doing next.

Everything follows from the plan and the Runs, so a race that was killed goes on as if it had not been, and the report
claims exactly what the race did.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from webdyno.analyse.blocks import lonely
from webdyno.analyse.compare import Pair
from webdyno.analyse.estimate import CONFIDENCE, Fit
from webdyno.analyse.pairs import Handicaps
from webdyno.analyse.race import Heat, comparisons, judge, spending
from webdyno.analyse.table import Cell, by_table, cells_of, with_earlier
from webdyno.analyse.undecidable import reserve_of
from webdyno.analyse.window import Window, read_window
from webdyno.model.load import Load
from webdyno.model.race import Race
from webdyno.model.rig import Ceiling
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


def replay(plan: Plan, runs: Sequence[Run], ceilings: Sequence[Ceiling] = ()) -> Standstill:
    """The race of ``plan`` as far as ``runs`` have brought it. A plan without a race is one of all its rounds.

    ``ceilings``: of the machine, for the doubts that end a race about pairs which the load generator holds back.
    """
    race = plan.race or Race(least_rounds=plan.rounds, most_rounds=plan.rounds, top=None)
    last = {run.trial.id: run for run in runs if run.outcome != "interrupted"}
    cells: dict[Key, list[Cell]] = {} if plan.race is None else _cells(plan, runs, last, ceilings)
    heats: dict[Key, Heat] = {}
    for round_ in range(1, plan.rounds + 1):
        wanted = [trial for trial in plan.trials if trial.round == round_ and _wants(heats.get(key_of(trial)), trial)]
        if not wanted:
            return Standstill(heats, [], "settled", round_ - 1)
        left = [trial for trial in wanted if trial.id not in last]
        if plan.race is not None and round_ >= race.least_rounds and len(left) < len(wanted):
            after = _look(cells, heats, race, round_)
            if left:  # a round cut short by the budget is looked at too, but decides nothing about the next
                return _within(after, left, runs, race)
            heats = after
        elif left:
            return _within(heats, left, runs, race)
    settled = all(heat.active is not None and not heat.active for heat in heats.values()) and bool(heats)
    return Standstill(heats, [], "settled" if settled else "rounds", plan.rounds)


def trials_in_all(plan: Plan, runs: Sequence[Run], ceilings: Sequence[Ceiling] = ()) -> int:
    """How many Trials a plan has: of a race that is over those it did, of one that goes on the most it may do."""
    if plan.race is None or replay(plan, runs, ceilings).end is None:
        return plan.most_trials
    return len({run.trial.id for run in runs if run.outcome != "interrupted"})


def comparisons_at(plan: Plan, runs: Sequence[Run]) -> int | None:
    """What telling two apart takes now, as a number of comparisons in a single analysis; None: this is no race."""
    if plan.race is None:
        return None
    look = max((run.trial.round for run in runs), default=1) - plan.race.least_rounds + 1
    return comparisons(len({key_of(trial) for trial in plan.trials}), len(plan.contenders), max(look, 1))


def confidence_of(race: Race | None, rates: Fit, one: str, other: str) -> float:
    """Of an interval of the ratio of two, by the last look at both: what all looks may miss adds up to 5 %.

    In a race such a ratio is told when it first looks large, and a plain interval then misses the truth too often.
    """
    if race is None:
        return CONFIDENCE
    last = rates.last_round(one, other) or race.least_rounds
    return 1 - spending(1 - CONFIDENCE, max(1, last - race.least_rounds + 1))


def told(race: Race, heat: Heat, rates: Fit, ranked: Collection[str], held: Handicaps) -> set[Pair]:
    """The claims of a race that hold for what is shown: none against the figures, none about who is not ranked.

    Nor about who was held back by as much, by the interval as it is shown: what was told at a look is not untold by the
    next, but what held it back may have become clear since.
    """
    shown = [(one, other) for one, other in heat.told if one in ranked and other in ranked]
    return {
        frozenset((one, other))
        for one, other in shown
        if rates.logs[rates.names.index(one)] > rates.logs[rates.names.index(other)]
        and (
            (one, other) not in held
            or (rates.ratio(one, other, confidence_of(race, rates, one, other)).low or 0.0) > held[one, other]
        )
    }


def key_of(trial: Trial) -> Key:
    """The table a trial belongs to."""
    return trial.workload, trial.load, trial.driver


def _wants(heat: Heat | None, trial: Trial) -> bool:
    return heat is None or heat.active is None or trial.contender in heat.active


def _cells(
    plan: Plan, runs: Sequence[Run], last: Mapping[str, Run], ceilings: Sequence[Ceiling]
) -> dict[Key, list[Cell]]:
    """The contenders of every table, with what they did in all rounds so far."""
    earlier = [run for run in runs if run.outcome != "interrupted" and run is not last[run.trial.id]]
    read = partial(read_window, latencies=False)
    found: dict[Key, list[Cell]] = {}
    for key, trials in by_table(plan).items():
        cells = [with_earlier(cell, earlier) for cell in cells_of(plan, last, trials, read)]
        found[key] = [replace(cell, ceilings=tuple(ceilings)) for cell in cells]
    return found


def _look(cells: Mapping[Key, Sequence[Cell]], heats: Mapping[Key, Heat], race: Race, rounds: int) -> dict[Key, Heat]:
    """Every table at the look after this many rounds."""
    seen = {key: _after(rounds, each) for key, each in cells.items()}
    rates = {key: _rates([window for cell in each for window in cell.windows]) for key, each in seen.items()}
    reserves = {key: reserve_of(each) for key, each in seen.items()}
    return judge(rates, heats, race, rounds - race.least_rounds + 1, reserves)


def _rates(windows: Sequence[Window]) -> dict[tuple[str, int], float]:
    apart = lonely(windows)
    found = {(window.run.trial.contender, window.run.trial.round): window.rate_per_s for window in windows}
    return {key: rate for key, rate in found.items() if key not in apart}


def _after(rounds: int, cells: Sequence[Cell]) -> list[Cell]:
    """The cells of a table as they were after this many rounds."""
    seen = [
        replace(
            cell,
            runs=tuple(run for run in cell.runs if run.trial.round <= rounds),
            windows=tuple(window for window in cell.windows if window.run.trial.round <= rounds),
            discarded=tuple(run for run in cell.discarded if run.trial.round <= rounds),
        )
        for cell in cells
    ]
    most = max((cell.median(lambda window: window.rate_per_s) or 0.0 for cell in seen), default=0.0)
    return [replace(cell, table_most_per_s=most) for cell in seen]


def _within(heats: Mapping[Key, Heat], left: Sequence[Trial], runs: Sequence[Run], race: Race) -> Standstill:
    """As many of the trials as there may be, and as there is time for, judged by how long those before them took."""
    done = {run.trial.id: run.trial for run in runs if run.outcome != "interrupted"}
    there = Counter(key_of(trial) for trial in done.values() if trial.round == left[0].round)
    begun = max((run.trial.round for run in runs), default=0)
    end: End | None = None
    if race.most_runs is not None:
        left = _fitting(left, there, race.most_runs - len(done), lambda _: 1.0)
        end = None if left else "runs"
    if race.budget_s is not None and left:
        took = {(run.trial.contender, key_of(run.trial)): run.seconds for run in runs}

        def takes(trial: Trial) -> float:
            known = took.get((trial.contender, key_of(trial)))
            return trial.asked.warmup_s + (trial.asked.duration_s or 0.0) if known is None else known

        left = _fitting(left, there, race.budget_s - sum(run.seconds for run in runs), takes)
        end = None if left else "budget"
    return Standstill(heats, left, end, left[0].round if left else begun)


def _fitting(
    left: Sequence[Trial], there: Mapping[Key, int], room: float, cost: Callable[[Trial], float]
) -> list[Trial]:
    """As many trials of one round as there is room for, in their order, and none that would be alone in its table.

    Who has nobody beside it in a round is compared with nobody there. ``there`` counts what each table has of the round
    already; where that is one, its partner comes first, so that a race that was killed goes on as it would have.
    """
    if math.fsum(map(cost, left)) <= room:
        return list(left)
    of_table: dict[Key, list[Trial]] = {}
    for trial in left:
        of_table.setdefault(key_of(trial), []).append(trial)
    beside = Counter(there)
    partners = [of[0] for key, of in of_table.items() if beside[key] == 1]
    chosen: set[str] = set()
    for trial in [*partners, *left]:
        key = key_of(trial)
        group = [trial] if beside[key] else of_table[key][:2]
        price = math.fsum(map(cost, group))
        if trial.id not in chosen and beside[key] + len(group) > 1 and price <= room:
            chosen.update(each.id for each in group)
            beside[key] += len(group)
            room -= price
    return [trial for trial in left if trial.id in chosen]
