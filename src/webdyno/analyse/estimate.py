"""Estimate: one figure per contender over rounds, with what is known about its error.

Rounds are blocks: each holds every contender once, so what the machine did in a round is common to all and is taken
out by the two-way additive fit ``log y = contender + round`` (least squares, cells may be missing). Logarithms,
because noise here is a percentage and ratios are what people ask for. The unit of replication is the start of a
server, never the second or the request: simulated, bootstraps of seconds cover one half of the time where 95 % is
claimed.

The errors of contenders differ, so each has its own variance, steadied across the table (``moderate``) and never taken
for less than what was seen of it (``variances``), nor for less than the step in which its answers come. Ratios are
judged within rounds; the interval of a figure on its own also carries how much the rounds themselves differed,
because whoever runs it again gets other rounds.

R. A. Fisher (1935), The Design of Experiments, for blocks; F. E. Satterthwaite (1946), An approximate distribution of
estimates of variance components, Biometrics Bulletin 2, for degrees of freedom of a sum of variances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from webdyno.analyse.variances import medians, variances
from webdyno.model.verdict import Estimate

CONFIDENCE = 0.95
Vector = NDArray[np.floating]
Cells = Mapping[tuple[str, int], float]
"""Positive figures by contender and round."""
STEP = 1 / 6
"""Variance of a count of whole steps, in steps: its window begins and ends anywhere within one, but perhaps at the same
point in every round, so that more rounds do not lessen it."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """A difference of logarithms: its value, standard error and degrees of freedom."""

    log: float
    error: float
    freedom: float

    @property
    def p(self) -> float:
        """Two-sided p value of "there is no difference"."""
        if not self.error > 0:
            return 1.0 if self.log == 0 else 0.0
        return float(2 * stdtr(self.freedom, -abs(self.log) / self.error))

    def reach(self, quantile: float) -> float:
        """So many standard errors as Student's t has at ``quantile``."""
        return self.error * float(stdtrit(self.freedom, quantile))

    def estimate(self, rounds: int, unit: str, confidence: float = CONFIDENCE) -> Estimate:
        """Back from logarithms, with a t interval."""
        reach = self.reach((1 + confidence) / 2)
        low, high = float(np.exp(self.log - reach)), float(np.exp(self.log + reach))
        return Estimate(value=float(np.exp(self.log)), low=low, high=high, rounds=rounds, unit=unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """One table of figures, fitted. Rows of ``weights`` say how the cells make up each contender's mean."""

    names: tuple[str, ...]
    rounds: tuple[int, ...]
    """How many rounds each contender has."""
    logs: Vector
    """Block-adjusted mean of each contender."""
    weights: NDArray[np.floating]
    noise: Vector
    """Variance of each cell."""
    freedom: Vector
    """Degrees of freedom of each contender's variance; 0: unknown."""
    total: float
    """Degrees of freedom of the whole table: no variance can be known better."""
    between: float
    """Variance of the mean of the rounds' effects."""
    blocks: int
    trend: Contrast | None
    """From the first to the last round, common to all contenders."""
    numbers: tuple[int, ...]
    """Of the rounds, in order."""
    seen: NDArray[np.floating]
    """The logarithms themselves, contenders down, rounds across; nan: not there."""

    def estimate(self, name: str, unit: str) -> Estimate:
        """The figure of one contender; no interval with less than two rounds."""
        at = self.names.index(name)
        level = self.level(name)
        if level is None:
            return Estimate(value=float(np.exp(self.logs[at])), low=None, high=None, rounds=self.rounds[at], unit=unit)
        return level.estimate(self.rounds[at], unit)

    def level(self, name: str) -> Contrast | None:
        """log of the figure of one contender, by itself; None with less than two rounds."""
        at = self.names.index(name)
        if self.rounds[at] < 2 or self.freedom[at] <= 0:
            return None
        own = float(self.weights[at] ** 2 @ self.noise)
        error, freedom = _sum((own, self.freedom[at]), (self.between, self.blocks - 1))
        return Contrast(float(self.logs[at]), error, freedom)

    def contrast(self, one: str, other: str) -> Contrast | None:
        """log of ``one / other``; None when either has less than two rounds."""
        i, k = self.names.index(one), self.names.index(other)
        if min(self.rounds[i], self.rounds[k]) < 2 or min(self.freedom[i], self.freedom[k]) <= 0:
            return None
        variance = float((self.weights[i] - self.weights[k]) ** 2 @ self.noise)
        mine, others = float(self.weights[i] ** 2 @ self.noise), float(self.weights[k] ** 2 @ self.noise)
        _, freedom = _sum((mine, self.freedom[i]), (others, self.freedom[k]))
        return Contrast(float(self.logs[i] - self.logs[k]), variance**0.5, min(freedom, self.total))

    def paired(self, one: str, other: str) -> Contrast | None:
        """The same by the plain paired t of the rounds that both have, which borrows no variance; None below two."""
        apart = self.seen[self.names.index(one)] - self.seen[self.names.index(other)]
        apart = apart[~np.isnan(apart)]
        if len(apart) < 2:
            return None
        return Contrast(float(apart.mean()), float(apart.std(ddof=1)) / len(apart) ** 0.5, len(apart) - 1)

    def last_round(self, one: str, other: str) -> int | None:
        """The last round that both have; None: they never met."""
        met = ~np.isnan(self.seen[self.names.index(one)] + self.seen[self.names.index(other)])
        return self.numbers[int(np.flatnonzero(met)[-1])] if met.any() else None

    def ratio(self, one: str, other: str, confidence: float = CONFIDENCE) -> Estimate:
        """``one / other`` with its interval."""
        rounds = min(self.rounds[self.names.index(one)], self.rounds[self.names.index(other)])
        contrast = self.contrast(one, other)
        if one == other:
            return Estimate(value=1.0, low=1.0, high=1.0, rounds=rounds, unit="ratio")
        if contrast is None:
            value = float(np.exp(self.logs[self.names.index(one)] - self.logs[self.names.index(other)]))
            return Estimate(value=value, low=None, high=None, rounds=rounds, unit="ratio")
        return contrast.estimate(rounds, "ratio", confidence)


def fit(cells: Cells, *, trimmed: bool = False, steps: Cells = MappingProxyType({})) -> Fit | None:
    """The additive fit of ``cells``; None when there are none.

    ``trimmed`` leaves out, for each contender with three rounds or more, the rounds that lie highest and lowest once
    the common part of the rounds is taken out (study S1's estimate). The errors still come from all rounds, so its
    intervals are wider: what was thrown away cannot make a figure surer. ``steps``: parts of figures that came in one
    step, where that is known.
    """
    keys = [key for key, value in cells.items() if value > 0]
    if not keys:
        return None
    names = tuple(dict.fromkeys(name for name, _ in keys))
    y = np.log([cells[key] for key in keys])
    owner = np.array([names.index(name) for name, _ in keys])
    design, blocks = _design(keys, names)
    inverse = _solution(design, len(names))
    residuals = y - design @ (inverse @ y)
    slack = np.maximum(1 - np.einsum("ij,ji->i", design, inverse), 0)
    slack[slack < 1e-9] = 0
    rounds = np.array([round_ for _, round_ in keys])
    known, freedom = variances(residuals, slack, owner, rounds)
    counted = STEP * np.array([steps.get(key, 0.0) for key in keys]) ** 2 * np.bincount(owner)[owner]
    noise = np.fmax(np.nan_to_num(known)[owner], counted)
    effects, trend = _rounds(inverse[len(names) :], y, noise, freedom, blocks)
    effects = effects + medians(residuals, rounds, blocks) if len(effects) else effects
    weights = _trimmed(design, inverse, residuals, owner) if trimmed else inverse[: len(names)]
    return Fit(
        names=names,
        rounds=tuple(int((owner == i).sum()) for i in range(len(names))),
        logs=weights @ y,
        weights=weights,
        noise=noise,
        freedom=freedom,
        total=float(slack.sum()),
        between=float(effects.var(ddof=1) / len(effects)) if len(effects) > 1 else 0.0,
        blocks=len(blocks),
        trend=trend,
        numbers=tuple(np.unique(rounds).tolist()),
        seen=_seen(y, owner, rounds),
    )


def _design(keys: Sequence[tuple[str, int]], names: Sequence[str]) -> tuple[NDArray[np.floating], list[int]]:
    """Columns: contenders, then rounds coded to sum to zero. A round with one contender has no effect of its own."""
    rounds = sorted({round_ for _, round_ in keys})
    blocks = [r for r in rounds if sum(round_ == r for _, round_ in keys) > 1] if len(names) > 1 else []
    design = np.zeros((len(keys), len(names) + max(len(blocks) - 1, 0)))
    for row, (name, round_) in enumerate(keys):
        design[row, names.index(name)] = 1
        if len(blocks) > 1 and round_ in blocks:
            at = blocks.index(round_)
            if at == len(blocks) - 1:
                design[row, len(names) :] = -1
            else:
                design[row, len(names) + at] = 1
    return design, blocks


def _seen(y: Vector, owner: NDArray[np.intp], rounds: NDArray[np.intp]) -> NDArray[np.floating]:
    numbers, column = np.unique(rounds, return_inverse=True)
    made = np.full((int(owner.max()) + 1, len(numbers)), np.nan)
    made[owner, column] = y
    return made


def _solution(design: NDArray[np.floating], number: int) -> NDArray[np.floating]:
    """Least squares: each row makes one contender (the first ``number``) or one round of the cells.

    Where cells do not connect, the least norm would put a part of the level into the rounds, and a ratio would change
    with the unit. So the level is put where it belongs: what all cells share is each contender's, and no round's.
    """
    inverse = np.linalg.pinv(design)
    level = (np.arange(len(inverse)) < number).astype(float)
    made: NDArray[np.floating] = inverse + (level - inverse.sum(axis=1))[:, None] / len(design)
    return made


def _trimmed(
    design: NDArray[np.floating], inverse: NDArray[np.floating], residuals: Vector, owner: NDArray[np.intp]
) -> NDArray[np.floating]:
    """Each contender's mean over the cells that are kept, with the rounds' effects taken out.

    These come from all cells: of those that are kept some rounds have none, and then nothing says what they were like.
    """
    number = int(owner.max()) + 1
    kept = _kept(residuals, owner, number)
    share = np.zeros((number, len(owner)))
    share[owner[kept], kept] = 1
    share /= share.sum(axis=1, keepdims=True)
    made: NDArray[np.floating] = share - share @ design[:, number:] @ inverse[number:]
    return made


def _rounds(
    inverse: NDArray[np.floating], y: Vector, noise: Vector, freedom: Vector, blocks: Sequence[int]
) -> tuple[Vector, Contrast | None]:
    """Effect of each round, and their trend along the order of rounds."""
    if len(blocks) < 2:
        return np.zeros(0), None
    makers = np.vstack([inverse, -inverse.sum(axis=0)])
    at = np.array(blocks, dtype=float) - np.mean(blocks)
    slope = (at / (at**2).sum()) @ makers * (blocks[-1] - blocks[0])
    error = float((slope**2 @ noise) ** 0.5)
    known = float(freedom.max()) if len(freedom) else 0.0
    return makers @ y, Contrast(float(slope @ y), error, known) if known > 0 else None


def _kept(residuals: Vector, owner: NDArray[np.intp], number: int) -> NDArray[np.intp]:
    """Cells that remain when each contender's highest and lowest are dropped."""
    dropped: set[int] = set()
    for contender in range(number):
        mine = np.flatnonzero(owner == contender)
        if len(mine) >= 3:
            ordered = mine[np.argsort(residuals[mine], kind="stable")]
            dropped |= {int(ordered[0]), int(ordered[-1])}
    return np.array([row for row in range(len(owner)) if row not in dropped], dtype=np.intp)


def _sum(*parts: tuple[float, float]) -> tuple[float, float]:
    """Standard error and degrees of freedom (Satterthwaite 1946) of a sum of estimated variances."""
    variance = sum(part for part, _ in parts)
    if variance <= 0:
        return 0.0, max(freedom for _, freedom in parts)
    return variance**0.5, variance**2 / sum(part**2 / freedom for part, freedom in parts if part > 0)
