"""Additive: who met whom, and the least squares that follow from it.

The columns are contenders, then what the cells of one block have in common: of a round, or of a block of turns where
Runs have one. Blocks need not hold everyone: those that share one are compared within it, and the others are compared
through those who did. Blocks that nothing connects are groups of their own; between these, how much blocks differ is
part of every comparison (``Fit.contrast``).

F. Yates (1936), Incomplete randomized blocks. Annals of Eugenics 7. A. C. Aitken (1936), On least squares and linear
combination of observations. Proceedings of the Royal Society of Edinburgh 55, for weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.floating]
Vector = NDArray[np.floating]
Places = NDArray[np.intp]
Key = tuple[str, int]
"""Contender and round."""
ALONE = 1 / 16
"""Weight of a Run that was measured alone beside one that took turns: their standard deviations were 0.16 and 0.04."""


class Meeting(NamedTuple):
    """Where a Run was measured."""

    block: int
    in_turns: bool
    """False: alone, near that block."""


Meetings = Mapping[Key, Meeting]
"""By contender and round; empty: every Run was measured alone, and rounds are the blocks."""


@dataclass(frozen=True, slots=True)
class Design:
    """One table of cells."""

    owner: Places
    """Whose cell each is."""
    block: Places
    """Where it was measured, as a place in ``rounds``."""
    rounds: tuple[int, ...]
    """Of each block, in their order."""
    shared: tuple[int, ...]
    """Blocks of more than one cell: no other has an effect of its own."""
    group: Places
    """Of each contender: those of one group are connected."""
    groups: Places
    """Of each shared block."""
    in_blocks: bool
    """Whether Runs were measured in blocks: then whatever the machine did meanwhile is in the effect of each."""
    kind: Places
    """Of each cell: 0 in turns, 1 alone, where a table has both."""
    matrix: Matrix
    solution: Matrix
    """Each row makes one contender, or one parameter of the blocks, of the cells."""

    @property
    def number(self) -> int:
        """Of contenders."""
        return len(self.group)

    def effects(self) -> Matrix:
        """Each row makes the effect of one shared block of the cells; those of a group add up to zero."""
        made, at = np.zeros((len(self.shared), len(self.owner))), self.number
        for group in np.unique(self.groups):
            mine = np.flatnonzero(self.groups == group)
            rows = self.solution[at : at + len(mine) - 1]
            made[mine] = np.vstack([rows, -rows.sum(axis=0)])
            at += len(mine) - 1
        return made


def design_of(keys: Sequence[Key], names: Sequence[str], met: Meetings) -> Design:
    """Of the cells ``keys`` of the contenders ``names``."""
    owner = np.array([names.index(name) for name, _ in keys])
    where = [(round_, met[name, round_].block if met else 0) for name, round_ in keys]
    order = sorted(set(where))
    block = np.array([order.index(each) for each in where])
    many = np.bincount(block) > 1
    shared = tuple(np.flatnonzero(many).tolist()) if len(names) > 1 else ()
    group, groups = _groups(owner, block, shared) if met else (np.zeros(len(names), int), np.zeros(len(shared), int))
    alone = np.array([bool(met) and not met[key].in_turns for key in keys])
    kind = alone.astype(int) if not alone.all() else np.zeros(len(keys), int)
    matrix = _matrix(owner, block, shared, groups, len(names))
    return Design(
        owner=owner,
        block=block,
        rounds=tuple(round_ for round_, _ in order),
        shared=shared,
        group=group,
        groups=groups,
        in_blocks=bool(met),
        kind=kind,
        matrix=matrix,
        solution=_solution(matrix, len(names), np.where(kind == 1, ALONE, 1.0)),
    )


def _matrix(owner: Places, block: Places, shared: Sequence[int], groups: Places, number: int) -> Matrix:
    """Columns: contenders, then the shared blocks of each group coded to add up to zero."""
    made = np.zeros((len(owner), number + len(shared) - len(np.unique(groups))))
    made[np.arange(len(owner)), owner] = 1
    at = number
    for group in np.unique(groups):
        *before, last = (each for each, its in zip(shared, groups, strict=True) if its == group)
        for column, each in enumerate(before, at):
            made[block == each, column] = 1
        made[block == last, at : at + len(before)] = -1
        at += len(before)
    return made


def _groups(owner: Places, block: Places, shared: Sequence[int]) -> tuple[Places, Places]:
    """Of contenders and of shared blocks: the least contender that each is connected with."""
    of = np.arange(int(owner.max()) + 1)
    while True:
        before = of.copy()
        for each in shared:
            here = owner[block == each]
            of[here] = of[here].min()
        if (of == before).all():
            return of, np.array([of[owner[block == each]].min() for each in shared], dtype=np.intp)


def _solution(matrix: Matrix, number: int, weights: Vector) -> Matrix:
    """Least squares: each row makes one contender (the first ``number``) or one parameter of the blocks of the cells.

    Where cells do not connect, the least norm would put a part of the level into the rounds, and a ratio would change
    with the unit. So the level is put where it belongs: what all cells share is each contender's, and no round's.
    """
    if (weights == 1).all():
        inverse = np.linalg.pinv(matrix)
    else:
        root = np.sqrt(weights)
        inverse = np.linalg.pinv(matrix * root[:, None]) * root
    level = (np.arange(len(inverse)) < number).astype(float)
    made: Matrix = inverse + (level - inverse.sum(axis=1))[:, None] / len(matrix)
    return made
