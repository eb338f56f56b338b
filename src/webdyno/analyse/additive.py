"""Additive: who met whom, and the least squares that follow from it.

The columns are contenders, then what the cells of one block have in common: of a round, of what a host of a fleet
measured of it, or of a block of turns where Runs have one. Blocks need not hold everyone: those that share one are
compared within it, and the others are compared through those who did. Blocks that nothing connects are groups of their
own; between these, how much blocks differ is part of every comparison (``Fit.contrast``).

F. Yates (1936), Incomplete randomized blocks. Annals of Eugenics 7. A. C. Aitken (1936), On least squares and linear
combination of observations. Proceedings of the Royal Society of Edinburgh 55, for weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
NOTHING = 1e-9
"""Slack that is none, but for rounding."""


class Meeting(NamedTuple):
    """Where a Run was measured."""

    block: int
    """Below zero: alone, on a host of that number."""
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
    weights: Matrix
    """Each row makes the level of one contender of the cells."""
    means: _Means

    @property
    def number(self) -> int:
        """Of contenders."""
        return len(self.group)

    def effects(self, y: Vector) -> Vector:
        """Of the shared blocks, by the cells' ``y``; those that are connected add up to zero."""
        beside = y - (self.weights @ y)[self.owner]
        means = np.bincount(self.means.place, self.means.share * beside, len(self.shared) + 1)[:-1]
        return self.means.level(np.asarray(means, float))

    def residuals(self, y: Vector) -> Vector:
        """What contenders and blocks leave of each cell."""
        left: Vector = y - (self.weights @ y)[self.owner] - np.append(self.effects(y), 0.0)[self.means.place]
        return left

    def slack(self) -> Vector:
        """Of each cell: the part of its own variance that stays in its residual."""
        it, cells = self.means, np.arange(len(self.owner))
        left: Vector = 1 - self.weights[self.owner, cells]
        if self.shared:
            met = np.flatnonzero(it.share)
            levels, place = self.weights[:, met], it.place[met]
            of_block = it.share[met] - np.einsum("ij,ji->i", it.owners[place], levels)
            of_group = it.share[met] - (it.groups.T @ it.owners @ levels)[it.gauge[met], np.arange(len(met))]
            left[met] -= of_block - of_group * (it.inverse / (it.groups @ it.inverses))[place]
        left[left < NOTHING] = 0
        return left

    def of_effects(self, rows: Matrix) -> Matrix:
        """``rows`` have a factor for each shared block: how the cells make such sums of effects."""
        it = self.means
        freed = rows - (rows @ (it.groups * it.inverse[:, None])) / it.inverses @ it.groups.T
        made: Matrix = np.column_stack([freed, np.zeros(len(rows))])[:, it.place] * it.share
        return made - freed @ it.owners @ self.weights


@dataclass(frozen=True, slots=True)
class _Means:
    """How cells make the means of their blocks: never more than a row for a block and a column for a contender, for a
    row for each cell would grow with the square of a study."""

    place: Places
    """Of each cell: its block among the shared ones; one beyond the last where it shares none."""
    share: Vector
    """Of each cell: its part in the mean of its block; 0 where it shares none."""
    owners: Matrix
    """Shared blocks down, contenders across: the parts by whose they are."""
    inverse: Vector
    """Of each shared block: one divided by the weights of its cells."""
    groups: Matrix
    """Shared blocks down, groups of connected ones across: 1 where it belongs."""
    gauge: Places
    """Of each cell: its block's group."""

    @property
    def inverses(self) -> Vector:
        """Of each group, together."""
        found: Vector = self.groups.T @ self.inverse
        return found

    def level(self, effects: Vector) -> Vector:
        """``effects`` moved so that those of a group add up to zero, the surest the least."""
        if not len(effects):
            return effects
        moved: Vector = effects - self.inverse * (self.groups @ ((self.groups.T @ effects) / self.inverses))
        return moved


def design_of(keys: Sequence[Key], names: Sequence[str], met: Meetings) -> Design:
    """Of the cells ``keys`` of the contenders ``names``."""
    return _design(tuple(keys), tuple(names), tuple(met[key] for key in keys) if met else ())


@lru_cache(maxsize=4)
def _design(keys: Sequence[Key], names: Sequence[str], met: Sequence[Meeting]) -> Design:
    """Kept, because a table has a dozen figures of the same cells.

    Turns that nothing repeats, as those of a single block, do not show how much they vary: they are then taken for no
    surer than what was measured alone, which varies more.
    """
    alone = np.array([bool(met) and not met[at].in_turns for at in range(len(keys))])
    if alone.all() or not alone.any():
        return _of_kinds(keys, names, met, np.zeros(len(keys), int))
    made = _of_kinds(keys, names, met, alone.astype(int))
    if made.slack()[~alone].sum() < 1:
        return _of_kinds(keys, names, met, np.zeros(len(keys), int))
    return made


def _of_kinds(keys: Sequence[Key], names: Sequence[str], met: Sequence[Meeting], kind: Places) -> Design:
    places = {name: at for at, name in enumerate(names)}
    owner = np.array([places[name] for name, _ in keys])
    where = [(round_, met[at].block if met else 0) for at, (_, round_) in enumerate(keys)]
    order = {each: at for at, each in enumerate(sorted(set(where)))}
    block = np.array([order[each] for each in where])
    shared = np.flatnonzero(np.bincount(block) > 1) if len(names) > 1 else np.zeros(0, int)
    connected = _groups(owner, block, shared)
    group, groups = connected if met else (np.zeros(len(names), int), np.zeros(len(shared), int))
    weight = np.where(kind == 1, ALONE, 1.0)
    means = _means(owner, block, shared, connected[1], weight)
    return Design(
        owner=owner,
        block=block,
        rounds=tuple(round_ for round_, _ in order),
        shared=tuple(shared.tolist()),
        group=group,
        groups=groups,
        in_blocks=bool(met),
        kind=kind,
        weights=_levels(owner, weight, means),
        means=means,
    )


def _means(owner: Places, block: Places, shared: Places, groups: Places, weight: Vector) -> _Means:
    place = np.full(int(block.max()) + 1, len(shared))
    place[shared] = np.arange(len(shared))
    place = place[block]
    inverse = 1 / np.bincount(place, weight, len(shared) + 1)[:-1]
    share = weight * np.append(inverse, 0.0)[place]
    owners = np.zeros((len(shared) + 1, int(owner.max()) + 1))
    np.add.at(owners, (place, owner), share)
    of = np.unique(groups, return_inverse=True)[1]
    belongs = np.zeros((len(shared), int(of.max()) + 1 if len(of) else 0))
    belongs[np.arange(len(shared)), of] = 1
    return _Means(place, share, owners[:-1], inverse, belongs, np.append(of, 0)[place])


def _levels(owner: Places, weight: Vector, means: _Means) -> Matrix:
    """Least squares: each row makes the level of one contender of the cells.

    Blocks are taken out first, so that what is solved is as large as there are contenders, however many blocks they
    have. That the effects of a group add up to zero stands below (by Lagrange): only so is a level one.
    """
    number, count = means.owners.shape[1], means.groups.shape[1]
    weights = np.divide(1, means.inverse)
    left = np.diag(np.bincount(owner, weight)) - (means.owners * weights[:, None]).T @ means.owners
    side = means.owners.T @ means.groups
    system = np.block([[left, side], [side.T, -np.diag(means.inverses)]])
    cells = np.arange(len(owner))
    right = np.zeros((number + count, len(owner)))
    right[:number] = -np.vstack([means.owners, np.zeros(number)])[means.place].T * weight
    right[owner, cells] += weight
    right[number:] = np.vstack([means.groups, np.zeros(count)])[means.place].T * means.share
    made: Matrix = np.linalg.solve(system, right)[:number]
    return made


def _groups(owner: Places, block: Places, shared: Places) -> tuple[Places, Places]:
    """Of contenders and of shared blocks: the least contender that each is connected with."""
    of, members = np.arange(int(owner.max()) + 1), together(block)
    inside = [owner[members[each]] for each in shared]
    while True:
        before = of.copy()
        for here in inside:
            of[here] = of[here].min()
        if (of == before).all():
            return of, np.array([of[here].min() for here in inside], dtype=np.intp)


def together(block: Places) -> list[Places]:
    """The cells of each block, by its number from 0 on."""
    return np.split(np.argsort(block, kind="stable"), np.cumsum(np.bincount(block))[:-1])
