"""Scalings: every law a study's tables allow, and what it means in words.

Over connections: one contender on one workload, in tables that differ by their connections alone. Over workers:
contenders that differ by their number of workers alone (the same server, app, runtime and model).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from webdyno.analyse import words
from webdyno.analyse.comparisons import Judged
from webdyno.analyse.scale import Law, law, refusal
from webdyno.analyse.table import Cell
from webdyno.model.scaling import Scaling

Over = Literal["connections", "workers"]
FAR = 10
"""Times the highest level: a knee beyond is no finding, but a coherence that does not differ from zero."""
FLAT = 0.05
"""A rise over all levels below this is none."""


@dataclass(frozen=True)
class _Level:
    """One contender at one level."""

    judged: Judged
    cell: Cell


def scalings(tables: Sequence[Judged]) -> list[Scaling]:
    """Of everything that was asked at two levels or more; those that cannot be fitted say why."""
    return [*_over_connections(tables), *_over_workers(tables)]


def _over_connections(tables: Sequence[Judged]) -> Iterator[Scaling]:
    groups: dict[tuple[str, str, str, str], dict[int, _Level]] = {}
    for judged in tables:
        table = judged.figures.table
        if table.load.is_open or table.load.connection_stages:
            continue
        # Many connections may be given longer to be there; how long is not what levels differ in.
        same = {"connections": 1, "duration_s": 1, "warmup_s": 0, "opening_s": 0, "alone": False}
        drivers = table.load.drivers
        alike = f"{drivers} {msgspec.structs.replace(table.load, drivers=1, **same)!r}"
        for cell in table.cells:
            key = (table.workload.name, cell.name, table.driver, alike)
            groups.setdefault(key, {})[table.load.connections] = _Level(judged, cell)
    for (workload, name, _, _), levels in groups.items():
        if len(levels) > 1:
            yield _scaling(name, workload, "connections", levels)


def _over_workers(tables: Sequence[Judged]) -> Iterator[Scaling]:
    for judged in tables:
        groups: dict[tuple[str, ...], dict[int, _Level]] = {}
        for cell in judged.figures.table.cells:
            workers = {window.run.workers for window in cell.windows}
            if len(workers) == 1 and (number := workers.pop()) is not None:
                it = cell.contender
                key = (it.server, it.app, it.runtime, it.model, str(it.threads))
                groups.setdefault(key, {})[number] = _Level(judged, cell)
        for (server, *_), levels in groups.items():
            if len(levels) > 1:
                yield _scaling(server, judged.verdict.workload, "workers", levels)


def _scaling(name: str, workload: str, over: Over, at: dict[int, _Level]) -> Scaling:
    rates = {level: [window.rate_per_s for window in each.cell.windows] for level, each in at.items()}
    levels = sorted(at)
    no = refusal(rates, {level: each.cell.error_ratio for level, each in at.items()})
    found = None if no else law(rates)
    if found is None:
        why = no or "no curve of the law fits"
        return Scaling(
            contender=name,
            workload=workload,
            over=over,
            levels=levels,
            sentence=f"{name} over {over}: not fitted, {why}",
            refused=why,
        )
    knee = found.peak if found.peak is not None and found.peak.value <= FAR * levels[-1] else None
    measured = knee is not None and levels[0] <= knee.value <= levels[-1]
    return Scaling(
        contender=name,
        workload=workload,
        over=over,
        levels=levels,
        sentence=f"{name} over {over}: {_meaning(found, over, levels)}",
        rate_of_one=found.rate_of_one,
        contention=found.contention,
        coherence=found.coherence,
        knee=knee,
        knee_measured=measured,
        doubts=list(dict.fromkeys(kind for each in at.values() for kind in each.judged.kinds(each.cell.name))),
    )


def _meaning(found: Law, over: Over, levels: Sequence[int]) -> str:
    """Where more stops helping, and what holds it back."""
    first, last = found.rate(levels[0]), found.rate(levels[-1])
    top = max(found.rate(level) for level in levels)
    knee, one = found.knee, over.removesuffix("s")
    if knee is not None and levels[0] < knee < levels[-1] and last < top * (1 - FLAT):
        peak = f"{words.rate(found.rate(knee))} at about {words.count(round(knee), one)}"
        return f"fastest with {peak}; at {levels[-1]:,} it has lost {words.per_cent(1 - last / found.rate(knee))}"
    if top < first * (1 + FLAT):
        return f"{levels[0]:,} saturate it; more of them change its rate by less than {words.per_cent(FLAT)}"
    enough = next(level for level in levels if found.rate(level) >= top * (1 - FLAT))
    if enough < levels[-1]:
        return f"{enough:,} saturate it at about {words.rate(top)}; beyond that, more {over} add almost nothing"
    share = found.contention
    bound = "" if share.high is None else f", {words.per_cent(share.value)} of the work cannot run in parallel"
    return f"still rising at {levels[-1]:,} with {words.rate(last)}{bound}"
