"""Across: a figure in one table divided by one in another, such as a contender's rates under two loads.

Rounds are blocks across tables, too, since each holds every cell of the plan once: a round gives one ratio of each
contender. The ratios of those that were measured alike are a table of their own, which is fitted like any other
(``estimate``), so that three rounds of one are steadied by three rounds of all. What is asked of it is a level and no
contrast: how much the rounds differ, in what they did to one load and not to the other, is part of its error.

Alike are contenders of which, round by round, the same table was measured alone, and the same in turns. What the
machine did to a block it did to all in it at once, so a block takes the place of the round; who took turns in both
tables is alike only with those that were in the same two blocks.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from webdyno.analyse.additive import Key, Meeting, Meetings
from webdyno.analyse.blocks import hosts_of, met_on_hosts
from webdyno.analyse.estimate import Cells, Fit, fit
from webdyno.analyse.steps import known_of
from webdyno.analyse.table import Table
from webdyno.analyse.window import Window

Side = tuple[Table, str]
"""A table, and a contender of it."""
Tables = tuple[Table, Table]
T = TypeVar("T")
Measured = Callable[[Window], float | None]
Blocks = tuple[int | None, int | None]
"""Those that a contender took turns in, in either table; None: it was alone."""
Manner = Mapping[int, Blocks]
"""By round."""


def are_comparable(one: Side, other: Side) -> bool:
    """Whether each round gives a ratio: both are the same contender, on one machine."""
    runs = [
        window.run for table, name in (one, other) for window in table.windows if window.run.trial.contender == name
    ]
    return one[1] == other[1] and len(hosts_of(runs)) < 2


def fit_ratios(tables: Tables, name: str, of: Measured, *, trimmed: bool, rate: bool, own: bool) -> Fit | None:
    """The ratios of ``name``, of the first table over the second, beside those of all that were measured alike.

    ``rate``: what is known of rates is; ``own``: nothing is to be learnt from others. None: no round has both figures.
    """
    one, other = (table.figures(of) for table in tables)
    manners = _manners(tables)
    like = {name} if own or name not in manners else {name, *_alike(name, manners)}
    keys = [key for key in one if key[0] in like and one[key] > 0 and other.get(key, 0.0) > 0]
    steps, least = _known(tables, keys) if rate else ({}, {})
    cells = {key: one[key] / other[key] for key in keys}
    return fit(cells, trimmed=trimmed, steps=steps, least=least, met=_met(manners, keys))


def _manners(tables: Tables) -> dict[str, Manner]:
    one, other = (
        {(window.run.trial.contender, window.run.trial.round): _block(window) for window in table.windows}
        for table in tables
    )
    made: dict[str, dict[int, Blocks]] = defaultdict(dict)
    for name, round_ in one.keys() & other.keys():
        made[name][round_] = one[name, round_], other[name, round_]
    return dict(made)


def _block(window: Window) -> int | None:
    return None if window.turned is None else window.run.block


def _alike(name: str, manners: Mapping[str, Manner]) -> list[str]:
    """In every round that both have, and these are two or more."""
    mine = manners[name]

    def is_alike(theirs: Manner) -> bool:
        both = mine.keys() & theirs.keys()
        return len(both) > 1 and all(_is_like(mine[round_], theirs[round_]) for round_ in both)

    return [other for other, theirs in manners.items() if other != name and is_alike(theirs)]


def _is_like(mine: Blocks, theirs: Blocks) -> bool:
    return mine == theirs or (None in mine and [it is None for it in mine] == [it is None for it in theirs])


def _met(manners: Mapping[str, Manner], keys: Sequence[Key]) -> Meetings:
    """Who shared a block of either table; empty where nobody took turns, and the round is what they share."""
    blocks = {(name, round_): [block for block in manners[name][round_] if block is not None] for name, round_ in keys}
    if not any(blocks.values()):
        return {}
    return {key: Meeting(shared[0] if shared else -1, in_turns=True) for key, shared in blocks.items()}


def _known(tables: Tables, keys: Sequence[Key]) -> tuple[Cells, Cells]:
    """Steps and least variances of the ratios: both figures are known to a step, and no better than turns show.

    What is not known of what a contender usually loses to the hypervisor is in both alike, and in no ratio.
    """
    one, other = (known_of(table) for table in tables)
    steps = {key: math.hypot(one["steps"].get(key, 0.0), other["steps"].get(key, 0.0)) for key in keys}
    return steps, {key: one["least"].get(key, 0.0) + other["least"].get(key, 0.0) for key in keys}


def fit_sides(sides: tuple[Side, Side], of: Measured, *, trimmed: bool, rate: bool) -> Fit | None:
    """Of two contenders, or of one on several hosts of a fleet, in two tables: they are called by their places."""

    def its(tables: Sequence[Mapping[Key, T]]) -> dict[Key, T]:
        return {
            (f"{at}", round_): value
            for at, (cells, (_, name)) in enumerate(zip(tables, sides, strict=True))
            for (contender, round_), value in cells.items()
            if contender == name
        }

    hosts = [
        {
            (window.run.trial.contender, window.run.trial.round): window.run.rig.contender_host
            for window in table.windows
        }
        for table, _ in sides
    ]
    told = [known_of(table) if rate else {} for table, _ in sides]
    ways = ("steps", "least", *(["more"] if sides[0][1] != sides[1][1] else []))
    known = {way: its([each.get(way, {}) for each in told]) for way in ways}
    figures = its([table.figures(of) for table, _ in sides])
    return fit(figures, trimmed=trimmed, met=met_on_hosts(its(hosts)), **known)
