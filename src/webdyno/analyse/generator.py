"""Generator: whether the load generator was its own limit. One rule for tables, one load, and the search for a rate.

CPU does not tell. A thread that spins while it waits uses all of its core with nothing to do, and one that shares its
core uses half of it with more to do than it can. So the engine says two things more in every Slice: how long its
threads had nothing to do, and how long they could have run and had no core. Where neither is known (other drivers, an
older engine, a kernel that does not count), what the driver used of its CPU has to do; of one that spins it is unknown,
and so it is at an open pace of one that does not say how it waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.sample import Slice

BOUND = 0.85
"""Part of its time that it had something to do."""
STARVED = 0.05
"""Part of its time without a core, from which it is no longer the server's doing what comes late, or is never sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strain:
    """What a driver's threads did with their time; unknown is None."""

    busy: float | None
    """Part of it in which they had something to do."""
    without_core: float | None
    """Part of it in which they could have run, and something else did."""

    @property
    def limit(self) -> Literal["starved", "busy"] | None:
        """Why the figures are the driver's own; None: they are not, as far as is known."""
        if self.without_core is not None and self.without_core >= STARVED:
            return "starved"
        return "busy" if self.busy is not None and self.busy >= BOUND else None


def strain(slices: Sequence[Slice], threads: int, used: float | None) -> Strain:
    """Of a driver with this many ``threads`` over these Slices; ``used`` of its CPU, where that means something."""
    span = threads * sum(slice_.duration_ns for slice_ in slices)
    idle = _sum([slice_.idle_ns for slice_ in slices])
    delay = _sum([slice_.run_delay_ns for slice_ in slices])
    return Strain(
        busy=used if idle is None or not span else max(0.0, 1 - idle / span),
        without_core=None if delay is None or not span else min(1.0, delay / span),
    )


def strain_of(run: Run, slices: Sequence[Slice], used: float | None) -> Strain:
    """Of the driver of a Run."""
    return strain(slices, len(run.summary.get("threads", ())), used)


def engine_strain(summary: Mapping[str, Any], slices: Sequence[Slice], load: Load) -> Strain:
    """Of our own engine, by its last word and its Slices alone."""
    return strain(slices, len(summary.get("threads", ())), meant_share(summary, load))


def cpu_share(summary: Mapping[str, Any]) -> float | None:
    """What the engine's threads used of their processors, by its last word: the mean of those that say so."""
    known = [share for thread in summary.get("threads", ()) if (share := thread.get("cpu_share")) is not None]
    return fmean(known) if known else None


def meant_share(summary: Mapping[str, Any], load: Load) -> float | None:
    """The same where it means something: None of threads that spin while they wait, or may."""
    unsaid = "spin" if load.is_open else "sleep"
    match summary.get("started"):
        case {"wait": str(wait)}:
            said = wait
        case _:
            said = unsaid
    return cpu_share(summary) if said == "sleep" else None


def _sum(times_ns: Sequence[int | None]) -> int | None:
    known = [time for time in times_ns if time is not None]
    return sum(known) if known and len(known) == len(times_ns) else None
