"""Blocks: which Runs of a table met, and what they did beside each other.

Runs of one block took turns, so they are read together (``turns``), and the block takes the place of the round: it is
what they have in common. A Run that was measured alone, in a table that has blocks, is compared with the block of its
round that was nearest in time, since the machine drifts; and it has a variance of its own kind, for what one long
window shows is some ten times as noisy as thirty turns in passes.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from webdyno.analyse.additive import Meeting, Meetings
from webdyno.analyse.estimate import Cells
from webdyno.analyse.robbed import Robbed, read_robbed
from webdyno.analyse.turns import turned, turns_of
from webdyno.analyse.window import Window, by_turns, read_window
from webdyno.model.run import Run


def read_windows(runs: Iterable[Run], read: Callable[..., Window | None] = read_window) -> list[Window]:
    """Of the Runs that succeeded, in their order; those of one block are read together. ``read``: one by itself."""
    found = [window for run in runs if (window := read(run, turns=run.block is None)) is not None]
    blocks: dict[int, list[int]] = {}
    for at, window in enumerate(found):
        if window.run.block is not None:
            blocks.setdefault(window.run.block, []).append(at)
    together = [{at: found[at] for at in places} for places in blocks.values()]
    robbed = read_robbed(
        (window.run.trial.contender, turns_of(window.run)) for block in together for window in block.values()
    )
    for block in together:
        for at, window in _together(block, robbed).items():
            found[at] = window
    return found


def _together(block: Mapping[int, Window], robbed: Robbed) -> dict[int, Window]:
    """The Runs of one block that answered in their turns, by their places."""
    told = turned(
        {at: turns_of(window.run) for at, window in block.items()},
        lambda at, turn: robbed.speed(block[at].run.trial.contender, turn),
    )
    gains = [math.log(turns.rate_per_s / block[at].steady.rate_per_s) for at, turns in told.items()]
    others = [gains[:at] + gains[at + 1 :] for at in range(len(gains))]
    return {
        at: by_turns(block[at], turns, gain - statistics.median(beside) if beside else None)
        for (at, turns), gain, beside in zip(told.items(), gains, others, strict=True)
    }


def alone(windows: Iterable[Window]) -> list[Window]:
    """Runs without those of their blocks, as ``read_window`` reads one by itself; what was read of them is kept."""
    found = list(windows)
    places = [at for at, window in enumerate(found) if window.run.block is not None and window.turned is not None]
    told = turned({at: turns_of(found[at].run) for at in places}, together=False)
    for at, turns in told.items():
        found[at] = by_turns(found[at], turns)
    return found


def meetings(windows: Iterable[Window]) -> Meetings:
    """Of the Runs of one table, by contender and round; empty where no Run has a block."""
    windows = list(windows)
    if all(window.run.block is None for window in windows):
        return {}
    blocks: dict[int, dict[int, datetime]] = {}
    for window in windows:
        if window.run.block is not None:
            blocks.setdefault(window.run.trial.round, {})[window.run.block] = _begin(window.run)
    return {
        (window.run.trial.contender, window.run.trial.round): Meeting(
            _block(window.run, blocks.get(window.run.trial.round, {})), window.turned is not None
        )
        for window in windows
    }


def least_variances(windows: Iterable[Window]) -> Cells:
    """Of the logarithms of rates, by contender and round: what their turns show, to which the luck of a start comes."""
    return {
        (window.run.trial.contender, window.run.trial.round): window.turned.variance
        for window in windows
        if window.turned is not None
    }


def _block(run: Run, there: Mapping[int, datetime]) -> int:
    """Its own, or the nearest in time of ``there``, the blocks of its round; below zero: there is none."""
    if run.block is not None:
        return run.block
    begin = _begin(run)
    return min(there, key=lambda block: (abs(there[block] - begin), block), default=-run.trial.round)


def _begin(run: Run) -> datetime:
    return datetime.fromisoformat(run.started_at)
