"""Grid: every round of everything, in the order of the Plan.

The design is randomised complete blocks: every round holds each cell once, in a fresh random order, so that whatever
drifts on the machine (heat, neighbours, page cache) falls on all contenders alike instead of on the last of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from webdyno.design import Block, Design, done_in
from webdyno.design.blocks import Room, drawn
from webdyno.design.length import spent_s
from webdyno.model.run import Run
from webdyno.model.trial import Plan

Each = TypeVar("Each")


def in_rounds(
    cells: Sequence[Each], rounds: int, seed: int, unit: Callable[[Each], object] | None = None
) -> Iterator[tuple[int, Each]]:
    """Every round of all ``cells``, each in an order of its own; those of one ``unit`` follow one another."""
    chance = random.Random(seed)  # noqa: S311 - an order to be repeated, not a secret
    units: dict[object, list[Each]] = {}
    for at, cell in enumerate(cells):
        units.setdefault(at if unit is None else unit(cell), []).append(cell)
    for round_ in range(1, rounds + 1):
        order = [[*those] for those in units.values()]
        chance.shuffle(order)
        for those in order:
            chance.shuffle(those)
            yield from ((round_, cell) for cell in those)


def cell_by_cell(cells: Sequence[Each], rounds: int, seed: int) -> Iterator[tuple[int, Each]]:
    """Every round of one cell, then those of the next, the cells in random order."""
    order = list(cells)
    random.Random(seed).shuffle(order)  # noqa: S311 - an order to be repeated, not a secret
    yield from ((round_, cell) for cell in order for round_ in range(1, rounds + 1))


def grid(plan: Plan, room: Room) -> Design:
    """All that is left of the Plan, round by round; in place, cell by cell.

    Who can share a block is decided for each round by what those before have shown.
    """

    def ahead(runs: Sequence[Run]) -> list[Block]:
        done = done_in(runs)
        left = [trial for trial in plan.trials if trial.id not in done]
        next_round = next((list(trials) for _, trials in groupby(left, lambda trial: trial.round)), [])
        return [*drawn(next_round, plan, room, runs)]

    return ahead


def rounds_within(plan: Plan, room: Room, seconds: float, least: int) -> Design:
    """Whole rounds of the Plan: ``least`` of them, and more until the one that ends nearest to ``seconds`` is done."""

    def ahead(runs: Sequence[Run]) -> list[Block]:
        done = done_in(runs)
        round_ = next((trial.round for trial in plan.trials if trial.id not in done), None)
        wanted = [trial for trial in plan.trials if trial.round == round_]
        left = [trial for trial in wanted if trial.id not in done]
        if round_ is not None and len(left) == len(wanted) and round_ > least:
            took_s, whole = spent_s(runs), round_ - 1
            if took_s + took_s / whole / 2 > seconds:
                return []
        return [*drawn(left, plan, room, runs)]

    return ahead
