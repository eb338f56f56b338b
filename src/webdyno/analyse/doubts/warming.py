"""Doubts about the warm-up: a contender that was never as fast twice in one Run."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.table import Cell
from webdyno.analyse.warmup import unsettled
from webdyno.model.doubt import Doubt


def never_settled(cell: Cell) -> Doubt | None:
    """In half of the rounds or more no level held: what is told is the mean of a journey."""
    lost, read = unsettled(cell)
    if not lost or 2 * lost < read:
        return None
    return Doubt(
        kind="never-settled",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} never settled in {lost} of {words.count(read, 'round')}: its rate was still changing in "
        "the second half of the load",
        advice="measure longer (--duration), and look at its course second by second",
        numbers={"unsettled": lost, "read": read},
    )
