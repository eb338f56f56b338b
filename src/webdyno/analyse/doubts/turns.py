"""Doubts about blocks: a contender that is not at rest while it rests, and one that turns flatter or harm."""

from __future__ import annotations

import math
import statistics

from webdyno.analyse import special, words
from webdyno.analyse.doubts.row import Numbers
from webdyno.analyse.table import Cell
from webdyno.analyse.window import Window
from webdyno.model.block import AT_REST
from webdyno.model.doubt import Doubt

FLATTERED = 0.02
SURE = 0.05
"""For all contenders of a block together."""
LEAST_BLOCKS = 3
HARM = "slow it down by as much; its rate is a floor; it may be faster"
RESTLESS_ADVICE = "look for a timer or a busy loop; measure it alone to spare the others"
TURNS_DIFFER_ADVICE = "measure it and its rivals alone, or with longer turns, if a few per cent matter"


def restless(cell: Cell) -> Doubt | None:
    """It used more than 0.01 cores while others of its block had their turns.

    The median of its rounds counts. Shades: what it uses while it rests is taken from its neighbours. Their rates
    become lower; its own does not.
    """
    cores = cell.median(_resting)
    if cores is None or cores <= AT_REST:
        return None
    return Doubt(
        kind="restless",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} used {words.per_cent(cores)} of a core while others of its block had their "
        "turns: it takes CPU from the contenders that it is compared with",
        advice=RESTLESS_ADVICE,
        numbers={"cores": cores},
    )


def turns_differ(cell: Cell) -> Doubt | None:
    """Its rate relative to the others of its blocks differs between turns and steady windows, by more than 2 % and
    beyond chance, in three blocks or more.

    Tested by the t interval over blocks, at 5 % for all members of a block together. Shades: a turn begins with all
    connections at once, which flatters a server that gains from batches. It ends when the last one has its answer,
    which slows a server that serves some late. If turns lower a rate, it is a floor by that much: no other contender is
    said to beat it by less. If turns flatter a contender, it is not said to beat another by less than that.
    """
    gains = [window.flattered for window in cell.windows if window.flattered is not None]
    if len(gains) < LEAST_BLOCKS:
        return None
    mean, error = statistics.fmean(gains), statistics.stdev(gains) / math.sqrt(len(gains))
    members = 1 + max(len(window.run.beside) for window in cell.windows)
    chance = 2 * float(special.stdtr(len(gains) - 1, -abs(mean) / error)) if error > 0 else 0.0
    if abs(mean) <= math.log1p(FLATTERED) or chance >= SURE / members:
        return None
    by = words.per_cent(abs(math.expm1(mean)))
    return Doubt(
        kind="turns-differ",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} is {by} {'faster' if mean > 0 else 'slower'} in turns than in its steady windows, each "
        f"compared with the others of its blocks: turns {'flatter it by as much' if mean > 0 else HARM}",
        advice=TURNS_DIFFER_ADVICE,
        numbers={"ratio": math.exp(mean), "blocks": len(gains)},
    )


def room_of_turns(numbers: Numbers) -> float:
    """What turns took from it; nothing where they flatter it."""
    return max(1.0, 1 / float(numbers["ratio"]))


def flattery_of_turns(numbers: Numbers) -> float:
    """What turns gave it; nothing where they slow it down."""
    return max(1.0, float(numbers["ratio"]))


def _resting(window: Window) -> float | None:
    return None if window.run.rest is None or not window.run.rest.time_ns else window.run.rest.cores
