"""Doubts about the warm-up: a contender that was never as fast twice in one Run."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.table import Cell
from webdyno.analyse.warmup import too_short_s, unsettled
from webdyno.model.doubt import Doubt


def never_settled(cell: Cell) -> Doubt | None:
    """In half of the rounds or more no level held: what is told is the mean of a journey.

    The warm-up it asks for is the least: where the last level of such a round began, or all of its load.
    """
    lost, read = unsettled(cell)
    least_s = too_short_s(cell)
    if least_s is None or 2 * lost < read:
        return None
    return Doubt(
        kind="never-settled",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} never settled in {lost} of {words.count(read, 'round')}: its rate was still changing in "
        f"the second half of the load; give it a warm-up of {least_s} s or more",
        advice="give it a longer warm-up (warmup_s in its file), measure longer (--duration), and look at its course "
        "second by second",
        numbers={"unsettled": lost, "read": read, "warmup_s": least_s},
    )
