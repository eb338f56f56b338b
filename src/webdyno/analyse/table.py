"""Table: the Runs that may be compared with each other, that is, one workload under one load by one driver.

A Cell is one contender in a table with all its rounds. Rounds that failed stay in it as failures; no figure is ever
made from them, for the mean of a crash and a success is no speed of anything. Rounds the user interrupted count as
not run.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from webdyno.analyse.additive import Meetings
from webdyno.analyse.blocks import hosts_of, lonely, meetings, read_windows
from webdyno.analyse.error_share import error_share
from webdyno.analyse.estimate import Cells
from webdyno.analyse.stolen import NOTHING, Loss, Stolen, read_stolen
from webdyno.analyse.window import WAITS, Window, read_window, requests_per_connection, used_of_own
from webdyno.model.contender import App, Contender
from webdyno.model.load import Load
from webdyno.model.rig import Ceiling, Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial
from webdyno.model.workload import Workload


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a results folder holds."""

    plan: Plan
    fingerprint: Fingerprint
    runs: Sequence[Run]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One contender in one table. What many rules of doubt ask of all its rounds is found once."""

    contender: Contender
    app: App
    workload: Workload
    load: Load
    planned: int
    runs: tuple[Run, ...]
    windows: tuple[Window, ...]
    """Of the rounds that succeeded."""
    ceilings: tuple[Ceiling, ...] = ()
    """Of the machine."""
    table_most_per_s: float = 0.0
    """The highest rate (median over rounds) of any contender in its table."""
    discarded: tuple[Run, ...] = ()
    """Earlier Runs of the same trials, interrupted ones apart; no figure is made from them."""

    @property
    def name(self) -> str:
        """Of the contender."""
        return self.contender.name

    @property
    def failed(self) -> list[Run]:
        """Rounds that did not succeed; interrupted ones are no failure of the contender."""
        good = {window.run.trial.id for window in self.windows}
        return [run for run in self.runs if run.trial.id not in good and run.outcome != "interrupted"]

    @property
    def outcomes(self) -> dict[str, int]:
        """Rounds by outcome; one called ok without a correct answer is none."""
        good = {window.run.trial.id for window in self.windows}
        called = (
            "no-success" if run.outcome == "ok" and run.trial.id not in good else run.outcome for run in self.runs
        )
        return dict(Counter(called))

    @cached_property
    def errors(self) -> dict[str, int]:
        """Over the rounds that succeeded, by kind."""
        total: Counter[str] = Counter()
        for window in self.windows:
            total.update(window.errors)
        return dict(total)

    @property
    def error_ratio(self) -> float:
        """Errors among all requests that ended, over the rounds that succeeded."""
        return error_share(self.errors, sum(window.ok for window in self.windows))

    @cached_property
    def requests_per_connection(self) -> float | None:
        """Over the rounds that succeeded."""
        return requests_per_connection(window.run for window in self.windows)

    def median(self, figure: Callable[[Window], float | None]) -> float | None:
        """Middle of a figure over the rounds that have it."""
        known = [value for window in self.windows if (value := figure(window)) is not None]
        return statistics.median(known) if known else None


@dataclass(frozen=True, kw_only=True)
class Table:
    """One workload under one load."""

    workload: Workload
    load: Load
    driver: str
    cells: tuple[Cell, ...]
    host_cores: int
    """Of the whole machine."""
    theft: Stolen = NOTHING
    """Of all tables; rates of Runs that were measured alone are as of what their contenders usually lose."""

    def figures(self, figure: Callable[[Window], float | None]) -> Cells:
        """One figure of every successful round, by contender and round."""
        return {
            (cell.name, window.run.trial.round): value
            for cell in self.cells
            for window in cell.windows
            if (cell.name, window.run.trial.round) not in self.lonely and (value := figure(window)) is not None
        }

    @cached_property
    def lonely(self) -> set[tuple[str, int]]:
        """Contender and round of Runs that met no other on their host of a fleet; no figure is compared by them."""
        return lonely(self.windows)

    @cached_property
    def met(self) -> Meetings:
        """Who shared a block; empty where Runs were measured alone. Each figure asks."""
        return meetings(self.windows)

    @property
    def windows(self) -> list[Window]:
        """Of all contenders."""
        return [window for cell in self.cells for window in cell.windows]


def tables(evidence: Evidence) -> list[Table]:
    """All tables of a plan, in its order of workloads and loads; a trial that ran twice counts with its last Run."""
    last = {run.trial.id: run for run in evidence.runs}
    earlier = [run for run in evidence.runs if run is not last[run.trial.id] and run.outcome != "interrupted"]
    plan = evidence.plan
    place = {name: at for at, name in enumerate(plan.workloads)}
    ordered = sorted(by_table(plan).values(), key=lambda trials: (place[trials[0].workload], _key(trials[0].load)))
    cells = [cells_of(plan, last, trials) for trials in ordered]
    hosts = hosts_of(evidence.runs)  # which differ by more than by what is stolen
    theft = NOTHING if len(hosts) > 1 else read_stolen((cell.name, _losses(cell)) for each in cells for cell in each)
    found = [
        _table(plan, evidence.fingerprint, [_as_usual(cell, theft) for cell in each], trials[0], theft)
        for each, trials in zip(cells, ordered, strict=True)
    ]
    return [replace(table, cells=tuple(with_earlier(cell, earlier) for cell in table.cells)) for table in found]


def _losses(cell: Cell) -> list[Loss]:
    """Of the rounds of a contender that keeps its cores busy; who waits loses nothing by theft."""
    return [
        Loss(window.rate_per_s, share, window.run.trial.round)
        for window in (cell.windows if _is_busy(cell) else ())
        if (share := window.stolen_share) is not None
    ]


def _is_busy(cell: Cell) -> bool:
    used = cell.median(used_of_own)
    return not cell.load.is_open and not cell.workload.service_floor_ms and used is not None and used >= WAITS


def _as_usual(cell: Cell, theft: Stolen) -> Cell:
    """The cell with the rates that it would have, had as much been stolen from it in each round as usual."""
    if not theft.cost or not _is_busy(cell):
        return cell
    windows = (
        window
        if window.stolen_share is None
        else replace(
            window,
            rate_per_s=window.rate_per_s / theft.speed(cell.name, window.stolen_share),
            level_variance=theft.variance(cell.name),
            of_phase=window,
        )
        for window in cell.windows
    )
    return replace(cell, windows=tuple(windows))


def by_table(plan: Plan) -> dict[tuple[str, Load, str], list[Trial]]:
    """The trials that share workload, load and driver."""
    found: dict[tuple[str, Load, str], list[Trial]] = {}
    for trial in plan.trials:
        found.setdefault((trial.workload, trial.load, trial.driver), []).append(trial)
    return found


def with_earlier(cell: Cell, earlier: Sequence[Run]) -> Cell:
    """The cell with those of ``earlier`` that are Runs of its trials as ``discarded``."""
    mine = {run.trial.id for run in cell.runs}
    return replace(cell, discarded=tuple(run for run in earlier if run.trial.id in mine))


def _key(load: Load) -> tuple[int, str]:
    return load.connections, repr(load)


def _table(plan: Plan, machine: Fingerprint, cells: Sequence[Cell], like: Trial, theft: Stolen) -> Table:
    cells = [replace(cell, ceilings=tuple(machine.ceilings)) for cell in cells]
    most = max((cell.median(lambda window: window.rate_per_s) or 0.0 for cell in cells), default=0.0)
    return Table(
        workload=plan.workloads[like.workload],
        load=like.load,
        driver=like.driver,
        cells=tuple(replace(cell, table_most_per_s=most) for cell in cells),
        host_cores=machine.cores,
        theft=theft,
    )


def cells_of(
    plan: Plan, last: Mapping[str, Run], trials: Sequence[Trial], read: Callable[..., Window | None] = read_window
) -> list[Cell]:
    """Contenders of ``trials``, which are all of one table, by name.

    ``last`` has the Run of each trial that ran, by its id; ``read`` makes figures of it. Runs of one block are read
    together.
    """
    there = read_windows([last[trial.id] for trial in trials if trial.id in last], read)
    windows = {window.run.trial.id: window for window in there}
    by_name: dict[str, list[Trial]] = {}
    for trial in sorted(trials, key=lambda trial: (trial.contender, trial.round)):
        by_name.setdefault(trial.contender, []).append(trial)
    cells: list[Cell] = []
    for name, mine in by_name.items():
        contender = plan.contenders[name]
        runs = tuple(last[trial.id] for trial in mine if trial.id in last)
        cells.append(
            Cell(
                contender=contender,
                app=plan.apps[contender.app],
                workload=plan.workloads[mine[0].workload],
                load=mine[0].load,
                planned=len(mine),
                runs=runs,
                windows=tuple(windows[run.trial.id] for run in runs if run.trial.id in windows),
            )
        )
    return cells
