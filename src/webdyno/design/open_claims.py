"""Open claims: every round of everything, and then further rounds of what claims turn on that are still open.

A claim that would be decided by the last of them if every figure stayed what it is comes first; then every other that
only its intervals keep open, for after a few rounds the figure is as uncertain as they are wide. Of each kind those
that cost least come first, as far as the time goes that there is for all.

Everything follows from the Runs, look by look, so a study that was stopped goes on as if it had not been.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import msgspec

from webdyno.analyse.claims import ENDLESS, ruled
from webdyno.analyse.comparisons import Side
from webdyno.analyse.measures import Together
from webdyno.analyse.table import Evidence, Table
from webdyno.analyse.verdict import cores_of, judged_tables
from webdyno.design import Block, Design, done_in
from webdyno.design.blocks import Room, drawn
from webdyno.design.grid import grid, in_rounds
from webdyno.design.length import spent_s
from webdyno.design.linked import groups
from webdyno.model.further import Further
from webdyno.model.load import Load
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial, again

Cell = tuple[str, str, Load, str]
"""Contender, workload, load, driver."""


@dataclass(frozen=True)
class _Wanted:
    """What one open claim needs: these cells, until they have this many rounds."""

    cells: frozenset[Cell]
    rounds: int
    foretold: bool
    """It is decided then if every figure stays what it is."""


def open_claims(plan: Plan, further: Further, machine: Fingerprint, room: Room) -> Design:
    """All of the Plan's own rounds; then, from look to look, rounds of what ``further`` has time for."""
    whole = grid(plan, room)
    known: dict[int, Sequence[Trial]] = {}

    def ahead(runs: Sequence[Run]) -> Sequence[Block]:
        if blocks := whole(runs):
            return blocks
        done, before = done_in(runs), plan.rounds_of_all
        for look in further.all_looks:
            if look not in known:
                seen = [run for run in runs if run.trial.round <= before]
                known[look] = list(_trials_until(look, further, Evidence(_with(plan, seen), machine, seen)))
            if left := [trial for trial in known[look] if trial.id not in done]:
                round_ = min(trial.round for trial in left)
                return drawn([trial for trial in left if trial.round == round_], plan, room, runs)
            if not known[look]:
                return []
            before = look
        return []

    return ahead


def cheapest_s(plan: Plan, further: Further, machine: Fingerprint, runs: Sequence[Run]) -> float | None:
    """Seconds of further rounds until the next look at the open claim that costs least; None: rounds decide none."""
    seconds, last, costs = _seconds(runs), _last_of(runs), list[float]()
    for one in _open(further.all_looks[-1], further, Evidence(_with(plan, runs), machine, runs)):
        had = {cell: last[cell].round for cell in one.cells}
        if looks := [look for look in further.all_looks if look > max(had.values())]:
            costs.append(_cost_s(had, looks[0], seconds))
    return min(costs, default=None)


def _with(plan: Plan, runs: Sequence[Run]) -> Plan:
    """The Plan with the Trials of ``runs``, as the store has it."""
    trials = {trial.id: trial for trial in (*plan.trials, *(run.trial for run in runs))}
    return msgspec.structs.replace(plan, trials=[*trials.values()])


def _trials_until(look: int, further: Further, evidence: Evidence) -> Iterator[Trial]:
    """The Trials that bring what is worth it from the rounds it has to those of ``look``, round by round."""
    plan, runs = evidence.plan, evidence.runs
    last = _last_of(runs)
    left_s = further.budget_s - spent_s(run for run in runs if run.trial.round > plan.rounds_of_all)
    chosen = _affordable(_open(look, further, evidence), look, last, _seconds(runs), left_s)
    cells = [cell for cell in last if cell in chosen]
    group = groups(plan.claims, [cell[1:] for cell in cells])
    for round_, cell in in_rounds(cells, look, plan.seed, lambda cell: (cell[0], group[cell[1:]])):
        if round_ > last[cell].round:
            yield again(plan, last[cell], round_)


def _open(look: int, further: Further, evidence: Evidence) -> list[_Wanted]:
    """For each claim that rounds can decide: what they must hold, and until which look: that which is foretold to
    decide it, or else ``look``, the next.
    """
    plan, measured = evidence.plan, _last_of(evidence.runs).keys()
    tables, cores = judged_tables(evidence), cores_of(evidence.runs)
    found: list[_Wanted] = []
    for claim in plan.claims:
        now = ruled(claim, plan, tables, cores)
        if now.verdict.ruling != "cannot tell":
            continue
        for rounds in (*further.all_looks, ENDLESS):
            then = ruled(claim, plan, tables, cores, rounds)
            if then.verdict.ruling != "cannot tell":
                cases = zip(now.verdict.cases, then.verdict.cases, now.compared, strict=True)
                sides = [side for before, after, pair in cases if before.ruling != after.ruling for side in pair]
                cells = frozenset(cell for side in sides if side for cell in _cells_of(side))
                foretold = rounds != ENDLESS
                if cells and cells <= measured:
                    found.append(_Wanted(cells, rounds if foretold else look, foretold))
                break
    return found


def _affordable(
    wanted: Sequence[_Wanted], look: int, last: Mapping[Cell, Trial], seconds: Callable[[Cell], float], left_s: float
) -> set[Cell]:
    """The cells of as many claims as there is time for: those first that are foretold to be decided, and of these those
    that cost least beside what is chosen already. Where the look that decides one is too far away, the next may do.
    """
    chosen: dict[Cell, int] = {}

    def cost_s(one: _Wanted) -> float:
        had = {cell: max(chosen.get(cell, 0), last[cell].round) for cell in one.cells}
        return _cost_s(had, one.rounds, seconds)

    rest = [*wanted]
    while rest:
        cheapest = min(rest, key=lambda one: (not one.foretold, cost_s(one)))
        rest.remove(cheapest)
        if (cost := cost_s(cheapest)) <= left_s:
            left_s -= cost
            chosen |= {cell: max(chosen.get(cell, 0), cheapest.rounds) for cell in cheapest.cells}
        elif cheapest.foretold:
            rest.append(replace(cheapest, rounds=look, foretold=False))
    return set(chosen)


def _cost_s(had: Mapping[Cell, int], rounds: int, seconds: Callable[[Cell], float]) -> float:
    """Seconds that these cells, with the rounds they had, take until each has ``rounds``."""
    return sum(max(0, rounds - had[cell]) * seconds(cell) for cell in sorted(had, key=str))


def _last_of(runs: Sequence[Run]) -> dict[Cell, Trial]:
    """Of each cell the Trial of its latest round."""
    return {_cell_of(run.trial): run.trial for run in sorted(runs, key=lambda run: run.trial.round)}


def _seconds(runs: Sequence[Run]) -> Callable[[Cell], float]:
    """What a round of a cell takes, by those it had."""
    took: dict[Cell, list[float]] = defaultdict(list)
    for run in runs:
        took[_cell_of(run.trial)].append(run.seconds)
    return lambda cell: fmean(took[cell])


def _cells_of(side: Side) -> Iterator[Cell]:
    """All that its figure is made of."""
    figures = side.judged.figures
    for part in figures.parts if isinstance(figures, Together) else (figures,):
        yield _cell_in(part.table, side.name)


def _cell_in(table: Table, name: str) -> Cell:
    return name, table.workload.name, table.load, table.driver


def _cell_of(trial: Trial) -> Cell:
    return trial.contender, trial.workload, trial.load, trial.driver
