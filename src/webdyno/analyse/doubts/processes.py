"""Doubts about a contender's processes: one worker that toils, workers that end, more of them than cores, memory at its
limit.
"""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.table import Cell
from webdyno.analyse.window import process_shares
from webdyno.model.doubt import Doubt
from webdyno.model.run import Run

NEAR_LIMIT = 0.95
SWAPPED_BYTES = 1 << 20
UNEVEN_ACCEPT_ADVICE = "use more connections than workers, or let the kernel spread them (SO_REUSEPORT)"
WORKERS_LOST_ADVICE = (
    "find the reason in its log, or turn off the setting that ends its workers: their requests were lost"
)
CROWDED_CORES_ADVICE = (
    "give it that many cores, or use its figures only for the cost of this many workers on fewer cores"
)
MEMORY_CAPPED_ADVICE = "raise the limit, or use fewer workers; give the machine enough memory to avoid swapping"


def uneven_accept(cell: Cell) -> Doubt | None:
    """One worker of several did more of the work than the midpoint between its fair share and all of it."""
    for window in cell.windows:
        workers = window.run.workers or 1
        shares = process_shares(window.run)
        if workers < 2 or len(shares) < 2:
            continue
        most = max(shares.values())
        if most > (1 / workers + 1) / 2:
            return Doubt(
                kind="uneven-accept",
                severity="shades",
                subject=cell.name,
                sentence=f"one of {workers} workers of {cell.name} did {words.per_cent(most)} of the work: it "
                "runs as if it had fewer",
                advice=UNEVEN_ACCEPT_ADVICE,
                numbers={"largest_share": most, "workers": workers},
            )
    return None


def workers_lost(cell: Cell) -> Doubt | None:
    """One of its processes ended under load, and it continued to serve, in any round that counts."""
    lossy = [window.run for window in cell.windows if window.run.losses]
    losses = [loss for run in lossy for loss in run.losses]
    if not losses:
        return None
    replaced, line = sum(loss.replaced for loss in losses), next((loss.line for loss in losses if loss.line), "")
    who = words.listing([f"{loss.name} {loss.pid}" for loss in losses], 3)
    rounds = f"in {len(lossy)} of {words.count(len(cell.windows), 'round')}"
    then = {0: "not replaced", len(losses): "replaced"}.get(replaced, f"replaced {replaced} times")
    return Doubt(
        kind="workers-lost",
        severity="shades",
        subject=cell.name,
        sentence=f"{words.count(len(losses), 'worker')} of {cell.name} ended under load {rounds} ({who}), "
        f"{then}, and it continued to serve" + (f"; it wrote: {line}" if line else ""),
        advice=WORKERS_LOST_ADVICE,
        numbers={"ended": len(losses), "replaced": replaced, "rounds": len(lossy), "line": line},
    )


def crowded_cores(cell: Cell) -> Doubt | None:
    """Its file sets a fixed number of workers, and it had fewer cores. A rule over cores follows the cores, and workers
    that wait need no core.
    """
    workers, cores = cell.contender.workers, min((len(run.rig.contender_cores) for run in cell.runs), default=0)
    if cell.workload.kind != "cpu" or not isinstance(workers, int) or not 0 < cores < workers:
        return None
    return Doubt(
        kind="crowded-cores",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} has {workers} workers as configured, on {words.count(cores, 'core')}: they "
        "compete for cores, and serve less than they would with a core each",
        advice=CROWDED_CORES_ADVICE,
        numbers={"workers": workers, "cores": cores},
    )


def memory_capped(cell: Cell) -> Doubt | None:
    """Its memory reached 95 % of the limit, or the kernel killed it there, or 1 MiB or more of it was in swap."""
    killed = sum(run.outcome == "out-of-memory" for run in cell.runs)
    peak, limit = max(((run.memory_peak_bytes or 0, run.rig.memory_bytes or 0) for run in cell.runs), default=(0, 0))
    swapped = max((_swapped(run) for run in cell.runs), default=0)
    reached = killed or (limit and peak >= NEAR_LIMIT * limit)
    if not reached and swapped < SWAPPED_BYTES:
        return None
    how = f"was killed at its memory limit in {words.count(killed, 'round')}" if killed else "reached its memory limit"
    size = f"(peak {words.size(peak)} of {words.size(limit)})"
    told = f"{how} {size}" if reached else f"had {words.size(swapped)} of its memory in swap"
    return Doubt(
        kind="memory-capped",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} {told}: memory, not CPU, may limit it",
        advice=MEMORY_CAPPED_ADVICE,
        numbers={"peak_bytes": peak, "limit_bytes": limit, "killed": killed, "swapped_bytes": swapped},
    )


def _swapped(run: Run) -> int:
    """The most of its memory that lay in swap; a process that was just started has none there for any other reason."""
    return max((look.swap_bytes or 0 for look in run.readings if look.role == "contender"), default=0)
