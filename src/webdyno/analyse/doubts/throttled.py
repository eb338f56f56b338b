"""Doubt about a CPU quota: a container's limit holds processes back while the machine looks idle."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.table import Cell
from webdyno.model.doubt import Doubt

THROTTLED = 0.01
"""Part of the steady phase; a quota that never bites moves no counter."""
THROTTLED_ADVICE = (
    "lift the CPU limit of the container or cgroup that webdyno runs in, or report the result as one under that limit"
)


def throttled(cell: Cell) -> Doubt | None:
    """A CPU quota limited the contender for 1 % of the time or more: the quota determines its rate and its tail."""
    share = cell.median(lambda window: window.contender_throttled)
    if share is None or share < THROTTLED:
        return None
    return Doubt(
        kind="throttled",
        severity="shades",
        subject=cell.name,
        sentence=f"a CPU quota limited {cell.name} for {words.per_cent(share)} of the time: the quota "
        "determines its rate and its slowest answers",
        advice=THROTTLED_ADVICE,
        numbers={"throttled": share},
    )
