"""Doubts about fairness: contenders that were not given the same, or are not what the catalogue says they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from webdyno.analyse import words
from webdyno.analyse.table import Cell, Table
from webdyno.model.doubt import Doubt
from webdyno.model.run import Run

_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^;,\s]+)")
UNEQUAL = 2
VERSIONS_DIFFER_ADVICE = "clear the build cache and lock the contender again"
BUILDS_DIFFER_ADVICE = "start the study again from the beginning; a resumed plan must use the same builds"
UNEQUAL_PARALLELISM_ADVICE = "compare those with equal numbers, or sweep the setting for each"


def versions_differ(cell: Cell) -> Doubt | None:
    """The installed versions are not the pinned ones, or changed between rounds."""
    asked = dict(_pins([*cell.contender.requires, *cell.app.requires]))
    wrong: dict[str, str] = {}
    seen: dict[str, str] = {}
    for run in cell.runs:
        for package, version in run.versions.items():
            name = _canonical(package)
            if name in asked and version != asked[name]:
                wrong[name] = f"{name} {version} instead of {asked[name]}"
            elif seen.setdefault(name, version) != version:
                wrong[name] = f"{name} {seen[name]} and {version} in different rounds"
    if not wrong:
        return None
    return Doubt(
        kind="versions-differ",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} ran with {words.listing(list(wrong.values()), 3)}",
        advice=VERSIONS_DIFFER_ADVICE,
        numbers=dict(wrong),
    )


def builds_differ(cell: Cell) -> Doubt | None:
    """The contender was built from different content in some rounds: its app was edited, or its environment rebuilt."""
    keys = {run.built_key for run in cell.runs if run.built_key}
    if len(keys) < 2:
        return None
    return Doubt(
        kind="builds-differ",
        severity="voids",
        subject=cell.name,
        sentence=f"{cell.name} was built in {len(keys)} different ways within this study: its app or packages changed",
        advice=BUILDS_DIFFER_ADVICE,
        numbers={"builds": len(keys)},
    )


def _pins(requirements: Iterable[str]) -> Iterable[tuple[str, str]]:
    for requirement in requirements:
        if found := _PIN.match(requirement.replace(" ", "")):
            yield _canonical(found[1]), found[2]


@lru_cache(maxsize=4096)
def _canonical(name: str) -> str:
    """As PEP 503 compares names of packages. Kept: every Run has the same."""
    return re.sub(r"[-_.]+", "-", name).lower()


def unequal_parallelism(table: Table) -> Doubt | None:
    """Contenders of one table ran with numbers of workers (and threads) that differ by a factor of 2 where it matters.

    It does not matter on a single core with work that only computes: all of them have that one core. With several cores
    the number of processes matters, and if answers wait for something, so does the number of threads.
    """
    waits = table.workload.kind != "cpu"
    slots = {cell.name: at for cell in table.cells if cell.windows and (at := _slots(cell.windows[0].run, waits))}
    cores = max((len(window.run.rig.contender_cores) for window in table.windows), default=1)
    if len(slots) < 2 or (cores < 2 and not waits) or max(slots.values()) < UNEQUAL * min(slots.values()):
        return None
    least, most = min(slots, key=lambda name: slots[name]), max(slots, key=lambda name: slots[name])
    unit = "workers x threads" if waits else "workers"
    return Doubt(
        kind="unequal-parallelism",
        severity="shades",
        subject="",
        sentence=f"contenders ran with {slots[least]} ({least}) to {slots[most]} ({most}) {unit} on "
        f"{words.count(cores, 'core')}: part of the difference between them comes from that setting",
        advice=UNEQUAL_PARALLELISM_ADVICE,
        numbers=dict(slots),
    )


def _slots(run: Run, waits: bool) -> int | None:
    if run.workers is None:
        return None
    return run.workers * (run.threads or 1) if waits else run.workers
