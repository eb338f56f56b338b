"""Doubts about a contender's processes: workers that idle while one toils, and memory at its limit."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.table import Cell
from webdyno.analyse.window import process_shares
from webdyno.model.doubt import Doubt

NEAR_LIMIT = 0.95


def uneven_accept(cell: Cell) -> Doubt | None:
    """One worker of several did more of the work than half-way between its fair share and all of it."""
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
                advice="use more connections than workers, or let the kernel spread them (SO_REUSEPORT)",
                numbers={"largest_share": most, "workers": workers},
            )
    return None


def memory_capped(cell: Cell) -> Doubt | None:
    """Memory reached 95 % of the limit, or the kernel killed it there."""
    killed = sum(run.outcome == "out-of-memory" for run in cell.runs)
    peak, limit = max(((run.memory_peak_bytes or 0, run.rig.memory_bytes or 0) for run in cell.runs), default=(0, 0))
    if not killed and not (limit and peak >= NEAR_LIMIT * limit):
        return None
    how = f"was killed at its memory limit in {words.count(killed, 'round')}" if killed else "reached its memory limit"
    return Doubt(
        kind="memory-capped",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} {how} (peak {words.size(peak)} of {words.size(limit)}): memory, not CPU, may "
        "hold it back",
        advice="raise the limit, or lower its workers",
        numbers={"peak_bytes": peak, "limit_bytes": limit, "killed": killed},
    )
