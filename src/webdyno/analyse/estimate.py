"""Estimate: one figure per contender over rounds, with what is known about its error.

Rounds are blocks: each holds every contender once, so what the machine did in a round is common to all and is taken
out by the two-way additive fit ``log y = contender + round`` (least squares, cells may be missing). Logarithms,
because noise here is a percentage and ratios are what people ask for. The unit of replication is the start of a
server, never the second or the request: simulated, bootstraps of seconds cover one half of the time where 95 % is
claimed.

The errors of contenders differ, so each has its own variance, steadied across the table (``moderate``) and never taken
for less than what was seen of it (``variances``), nor for less than the step in which its answers come. Ratios are
judged within rounds; the interval of a figure on its own also carries how much the rounds themselves differed,
because those who run it again get other rounds. Where Runs took turns in blocks, a block is what a round is elsewhere
(``additive``).

R. A. Fisher (1935), The Design of Experiments, for blocks; F. E. Satterthwaite (1946), An approximate distribution of
estimates of variance components, Biometrics Bulletin 2, for degrees of freedom of a sum of variances.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webdyno.analyse import special
from webdyno.analyse.additive import Design, Meetings, design_of
from webdyno.analyse.variances import medians, variances_by_kind
from webdyno.model.verdict import Estimate

CONFIDENCE = 0.95
_UPPER = (1 + CONFIDENCE) / 2
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
        return float(2 * special.stdtr(self.freedom, -abs(self.log) / self.error))

    def reach(self, quantile: float) -> float:
        """As many standard errors as Student's t has at ``quantile``."""
        return special.reach(self.error, self.freedom, quantile)

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
    """Of the rounds, in order; of as many as there are blocks, where Runs have blocks."""
    seen: NDArray[np.floating]
    """The logarithms themselves, contenders down, blocks across; nan: not there."""
    group: NDArray[np.intp]
    """Contenders of one group met, or met somebody who met the other, and so on."""
    loose: Vector
    """What comes to a contender's variance in a comparison with one of another group."""
    among: float
    """Degrees of freedom of that; 0: nothing is known of it."""

    def estimate(self, name: str, unit: str) -> Estimate:
        """The figure of one contender; no interval with less than two rounds."""
        at = self.names.index(name)
        level = self.level(name)
        if level is None:
            return Estimate(value=float(np.exp(self.logs[at])), low=None, high=None, rounds=self.rounds[at], unit=unit)
        return level.estimate(self.rounds[at], unit)

    def level(self, name: str) -> Contrast | None:
        """log of the figure of one contender, by itself; None with less than two rounds.

        Where rounds differ by more than anything else, its variance is known from few of them. Satterthwaite's sum may
        take it for better known than it is, so it is never surer than the rounds alone would have it.
        """
        at = self.names.index(name)
        if self.rounds[at] < 2 or self.freedom[at] <= 0:
            return None
        own = float(self.weights[at] ** 2 @ self.noise)
        between, known = (self.between, self.blocks - 1.0) if (self.group == 0).all() else (self.loose[at], self.among)
        whole = Contrast(float(self.logs[at]), *_sum((own, self.freedom[at]), (between, known)))
        rounds = Contrast(whole.log, between**0.5, known)
        return rounds if known > 0 and rounds.reach(_UPPER) > whole.reach(_UPPER) else whole

    def contrast(self, one: str, other: str) -> Contrast | None:
        """log of ``one / other``; None when either has less than two rounds."""
        i, k = self.names.index(one), self.names.index(other)
        if min(self.rounds[i], self.rounds[k]) < 2 or min(self.freedom[i], self.freedom[k]) <= 0:
            return None
        if self.group[i] != self.group[k]:
            return self._loosely(i, k)
        variance = float((self.weights[i] - self.weights[k]) ** 2 @ self.noise)
        mine, others = float(self.weights[i] ** 2 @ self.noise), float(self.weights[k] ** 2 @ self.noise)
        _, freedom = _sum((mine, self.freedom[i]), (others, self.freedom[k]))
        return Contrast(float(self.logs[i] - self.logs[k]), variance**0.5, min(freedom, self.total))

    def _loosely(self, i: int, k: int) -> Contrast | None:
        """Of two whom nothing connects: how blocks differ is in it. None: nobody knows how much."""
        if not self.among:
            return None
        own = [(float(self.weights[at] ** 2 @ self.noise), float(self.freedom[at])) for at in (i, k)]
        error, freedom = _sum(*own, (float(self.loose[i] + self.loose[k]), self.among))
        return Contrast(float(self.logs[i] - self.logs[k]), error, min(freedom, self.total))

    def paired(self, one: str, other: str) -> Contrast | None:
        """The same by the plain paired t of what both have, which borrows no variance; None below two."""
        apart = self.seen[self.names.index(one)] - self.seen[self.names.index(other)]
        apart = apart[~np.isnan(apart)]
        if len(apart) < 2:
            return None
        return Contrast(float(apart.mean()), float(apart.std(ddof=1)) / len(apart) ** 0.5, len(apart) - 1)

    def last_round(self, one: str, other: str) -> int | None:
        """The last round that both have, in one block or not; None: there is none."""
        each = [~np.isnan(self.seen[self.names.index(name)]) for name in (one, other)]
        both = set.intersection(*({self.numbers[at] for at in np.flatnonzero(seen)} for seen in each))
        return max(both, default=None)

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


def fit(
    cells: Cells,
    *,
    trimmed: bool = False,
    steps: Cells = MappingProxyType({}),
    met: Meetings = MappingProxyType({}),
    least: Cells = MappingProxyType({}),
    more: Cells = MappingProxyType({}),
) -> Fit | None:
    """The additive fit of ``cells``; None when there are none.

    ``trimmed`` leaves out, for each contender with three rounds or more, the rounds that lie highest and lowest once
    the common part of the rounds is taken out (the estimate of study wsgi). The errors still come from all rounds, so
    its intervals are wider: what was thrown away cannot make a figure surer. ``steps``: parts of figures that came in
    one step, where that is known. ``met``: who shared a block, where Runs were measured in blocks; ``least``: the
    variance that such Runs show within themselves, below which no cell's is taken to be; ``more``: variance that
    comes to it and that no rounds show.
    """
    keys = [key for key, value in cells.items() if value > 0]
    if not keys:
        return None
    names = tuple(dict.fromkeys(name for name, _ in keys))
    y = np.log([cells[key] for key in keys])
    design = design_of(keys, names, met)
    noise = _noise(design, y, *(np.array([of.get(key, 0.0) for key in keys]) for of in (steps, least, more)))
    weights = _trimmed(design, noise.residuals) if trimmed else design.weights
    return _fitted(names, design, y, noise, weights)


class _Noise(NamedTuple):
    """What the model leaves of each cell, and the variances that this shows."""

    residuals: Vector
    variances: Vector
    """Of each cell."""
    freedom: Vector
    """Degrees of freedom of each contender's variance."""
    total: float
    """Degrees of freedom of the table."""


def _noise(design: Design, y: Vector, steps: Vector, least: Vector, more: Vector) -> _Noise:
    """No variance is below the one that ``steps`` make, nor below ``least``, to which ``more`` comes; of each cell."""
    owner, residuals, slack = design.owner, design.residuals(y), design.slack()
    known, freedom = variances_by_kind(residuals, slack, owner, design.block, design.kind)
    counted = STEP * steps**2 * np.bincount(owner)[owner]
    variances = np.fmax(np.fmax(np.nan_to_num(known), counted), least) + more
    return _Noise(residuals, variances, freedom, float(slack.sum()))


def _fitted(names: tuple[str, ...], design: Design, y: Vector, noise: _Noise, weights: NDArray[np.floating]) -> Fit:
    effects, trend = _rounds(design, y, noise.variances, noise.freedom)
    effects = effects + medians(noise.residuals, design.block, design.shared) if len(effects) else effects
    loose, among = _between(effects, design)
    return Fit(
        names=names,
        rounds=tuple(int((design.owner == i).sum()) for i in range(design.number)),
        logs=weights @ y,
        weights=weights,
        noise=noise.variances,
        freedom=noise.freedom,
        total=noise.total,
        between=float(effects.var(ddof=1) / len(effects)) if len(effects) > 1 else 0.0,
        blocks=len(design.shared),
        trend=trend,
        numbers=design.rounds,
        seen=_seen(y, design),
        group=design.group,
        loose=loose,
        among=among,
    )


def _between(effects: Vector, design: Design) -> tuple[Vector, float]:
    """Variance that a contender's level has because of which blocks it was in, and its degrees of freedom; 0: unknown.

    It is in no comparison within a group. Blocks of single contenders are no shared ones: what those differ by is in
    the contender's own variance.
    """
    sizes = {group: int((design.groups == group).sum()) for group in np.unique(design.groups)}
    freedom = len(effects) - len(sizes)
    if len(np.unique(design.group)) < 2 or freedom < 1:
        return np.zeros(design.number), float(max(freedom, 0))
    parts = [effects[design.groups == group] for group in sizes]
    each = math.fsum(float(((part - part.mean()) ** 2).sum()) for part in parts) / freedom
    return np.array([each / sizes[group] if group in sizes else 0.0 for group in design.group]), float(freedom)


def _seen(y: Vector, design: Design) -> NDArray[np.floating]:
    made = np.full((design.number, len(design.rounds)), np.nan)
    made[design.owner, design.block] = y
    return made


def _trimmed(design: Design, residuals: Vector) -> NDArray[np.floating]:
    """Each contender's mean over the cells that are kept, with the rounds' effects taken out.

    These come from all cells: of those that are kept some rounds have none, and then nothing says what they were like.
    """
    owner, number = design.owner, design.number
    kept = _kept(residuals, owner, number)
    share = np.zeros((number, len(owner)))
    share[owner[kept], kept] = 1
    share /= share.sum(axis=1, keepdims=True)
    made: NDArray[np.floating] = share - design.of_effects(_by_block(share, design))
    return made


def _by_block(share: NDArray[np.floating], design: Design) -> NDArray[np.floating]:
    """Columns added up over the shared blocks."""
    made = np.zeros((len(design.shared) + 1, len(share)))
    np.add.at(made, design.means.place, share.T)
    return made[:-1].T


def _rounds(design: Design, y: Vector, noise: Vector, freedom: Vector) -> tuple[Vector, Contrast | None]:
    """Effect of each round, or block, and their trend along the order of rounds.

    A block lasts for seconds, and the machine differs from one to the next by more than what was measured in them does:
    there the scatter about the trend is its error.
    """
    if len(design.shared) < 2:
        return np.zeros(0), None
    effects, rounds = design.effects(y), [design.rounds[block] for block in design.shared]
    at = np.array(rounds, dtype=float) - np.mean(rounds)
    if not at.any():
        return effects, None
    if design.in_blocks:
        return effects, _along(at, effects)
    slope = design.of_effects(at[None, :] / (at**2).sum())[0] * (rounds[-1] - rounds[0])
    error = float((slope**2 @ noise) ** 0.5)
    known = float(freedom.max()) if len(freedom) else 0.0
    return effects, Contrast(float(slope @ y), error, known) if known > 0 else None


def _along(at: Vector, effects: Vector) -> Contrast | None:
    """From the first to the last of ``effects`` that lie at ``at``, by the straight line (least squares)."""
    squares, span = float(at @ at), float(at[-1] - at[0])
    slope = float(at @ effects) / squares
    left, freedom = effects - effects.mean() - slope * at, len(at) - 2
    if freedom < 1:
        return None
    return Contrast(slope * span, span * float(left @ left / freedom / squares) ** 0.5, freedom)


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
