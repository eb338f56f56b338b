"""Race against grid: what a race would have done with the Runs of a study that ran every round of everything."""

from __future__ import annotations

from pathlib import Path

import msgspec

from bench.table import table
from bench.trust.rerun import agreement
from bench.trust.studies import Recorded, read
from webdyno.analyse import analyse
from webdyno.analyse.replay import replay
from webdyno.model.race import Race
from webdyno.model.run import Run


def run(folder: Path, top: int, margin: float) -> list[str]:
    """The table; measures nothing."""
    return report(read(folder), Race(top=top or None, margin=margin))


def report(grid: Recorded, race: Race) -> list[str]:
    """Time, agreement and contradictions, table by table. The grid's verdict is from all its rounds."""
    raced = race_of(grid, race)
    spent, whole = (sum(run.seconds for run in each.runs) for each in (raced, grid))
    rows = []
    for ours, theirs in zip(analyse(*raced).verdicts, analyse(*grid).verdicts, strict=True):
        found = agreement(ours, theirs)
        same = "same" if set(ours.winners) == set(theirs.winners) else "differs"
        rows.append([f"{ours.workload}, {ours.load}", f"{found.tau:.3f}", same, str(found.contradictions)])
    share = f"race {spent:.0f} s of the grid's {whole:.0f} s ({whole / spent:.1f} times less)" if spent else "no Runs"
    return [share, *table(["table", "Kendall tau", "top group", "claims that contradict each other"], rows)]


def race_of(grid: Recorded, race: Race) -> Recorded:
    """The Runs that the race asks for, taken from the grid."""
    rounds = grid.plan.rounds
    race = msgspec.structs.replace(race, most_rounds=rounds, least_rounds=min(race.least_rounds, rounds))
    plan = msgspec.structs.replace(grid.plan, race=race)
    there = {run.trial.id: run for run in grid.runs if run.outcome != "interrupted"}
    ceilings = grid.fingerprint.ceilings
    runs: list[Run] = []
    while trials := [trial for trial in replay(plan, runs, ceilings).trials if trial.id in there]:
        runs += [there[trial.id] for trial in trials]
    return Recorded(plan, grid.fingerprint, runs)
