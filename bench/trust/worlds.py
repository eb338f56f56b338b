"""Made-up worlds whose truth is known: contenders, luck of starts, noisy seconds, warm-up, and a machine that drifts.

The noise is that of STATISTICS: the luck of a start 1 to 5 % (different for each contender), seconds that hang together
(AR(1), 2 to 6 %, rho 0.3 to 0.8), a JIT's warm-up (a fifth of the families, 20 %, 1.5 to 5 s), a machine that wanders
(Ornstein-Uhlenbeck, 2 %, 15 minutes), steps (2 %, every half hour) and bursts of neighbours (-5 to -30 % for 2 to 10 s,
every 5 minutes).
"""

from __future__ import annotations

import math
from itertools import accumulate

import numpy as np

from webdyno.analyse.race import Heat, judge
from webdyno.model.race import Race

LEVELS = 5
OVERHEAD_S = 0.6
"""Start, verification and end of a server."""


class World:
    """One seeded world; measuring moves its clock."""

    def __init__(
        self, seed: int, contenders: int = 30, *, equal: bool = False, restart: float = 0.05, again: int = 0
    ) -> None:
        """``again``: another sitting in the same world, with luck, noise and neighbours of its own."""
        rng = np.random.default_rng(seed)
        self.names = [f"c{at:02}" for at in range(contenders)]
        family = np.repeat(rng.normal(9, 0.4, -(-contenders // 3)), 3)[:contenders]
        logs = family + rng.normal(0, 0.06, contenders)
        shape = rng.normal(0, 0.05, (contenders, LEVELS)) + np.linspace(0, 0.3, LEVELS)
        self.truth = np.zeros((contenders, LEVELS)) if equal else logs[:, None] + shape
        self._luck = rng.uniform(0.01, restart, contenders)
        self._sigma, self._rho = rng.uniform(0.02, 0.06, contenders), rng.uniform(0.3, 0.8, contenders)
        jit = np.repeat(rng.random(-(-contenders // 3)) < 0.2, 3)[:contenders]
        self._tau = np.where(jit, rng.uniform(1.5, 5, contenders), 0.0)
        self._rng = np.random.default_rng((seed, again))
        self._machine = np.concatenate([[0.0], np.cumsum(_course(self._rng, 30_000))])
        self.seconds = 0.0
        self.tables: dict[int, dict[tuple[str, int], float]] = {level: {} for level in range(LEVELS)}
        """What a race measured: rates by contender and round, for every level."""

    def measure(self, contender: int, level: int, warmup_s: float, window_s: float, settling: float = 0.0) -> float:
        """Log rate of one Run: a fresh server, ``warmup_s`` thrown away, ``window_s`` counted."""
        warmup_s = max(warmup_s, settling * float(self._tau[contender]))
        begin = self.seconds + OVERHEAD_S + warmup_s
        self.seconds = begin + window_s
        there = np.interp([begin % 29_000, begin % 29_000 + window_s], np.arange(len(self._machine)), self._machine)
        rng, tau = self._rng, self._tau[contender]
        cold = 0.2 * tau / window_s * (math.exp(-warmup_s / tau) - math.exp(-(warmup_s + window_s) / tau)) if tau else 0
        return float(
            self.truth[contender, level]
            + rng.normal(0, self._luck[contender])
            + rng.normal(0, self._of_mean(contender, window_s))
            + (there[1] - there[0]) / window_s
            + math.log1p(-cold)
        )

    def _of_mean(self, contender: int, seconds: float) -> float:
        """Standard deviation of the mean of so many seconds of an AR(1).

        Between two whole numbers of seconds the variance is taken from the line between theirs, which is above the
        truth, for it falls less and less; below one second, as if its parts did not hang together.
        """
        below = math.floor(seconds)
        if below < 1:
            variance = _mean_variance(1, self._rho[contender]) / seconds
        else:
            share = seconds - below
            variance = (1 - share) * _mean_variance(below, self._rho[contender])
            variance += share * _mean_variance(below + 1, self._rho[contender])
        return float(self._sigma[contender]) * math.sqrt(variance)


def _mean_variance(whole: int, rho: float) -> float:
    """Of the mean of so many neighbours in an AR(1) of variance one."""
    lags = np.arange(1, whole)
    return (whole + 2 * float(((whole - lags) * rho**lags).sum())) / whole**2


def _course(rng: np.random.Generator, seconds: int) -> np.ndarray:
    """What the machine adds to every log rate, second by second."""
    keep = math.exp(-1 / 900)
    pushes = rng.normal(0, 0.02 * math.sqrt(1 - keep**2), seconds)
    pushes[0] = rng.normal(0, 0.02)
    drift = np.array(list(accumulate(pushes.tolist(), lambda before, push: keep * before + push)))
    for at in np.flatnonzero(rng.random(seconds) < 1 / 1800):
        drift[at:] += rng.normal(0, 0.02)
    for at in np.flatnonzero(rng.random(seconds) < 1 / 300):
        drift[at : at + rng.integers(2, 11)] += math.log(1 - rng.uniform(0.05, 0.30))
    return drift


def race(
    world: World, asked: Race, *, warmup_s: float = 0.5, window_s: float = 2.0, settling: float = 2.5
) -> dict[int, Heat]:
    """The race's own rules in ``world``, whose tables it fills; levels are tables.

    ``settling``: how many time constants a contender's own ``warmup_s`` is, where it has a JIT.
    """
    order = np.random.default_rng(1)
    tables = world.tables
    heats: dict[int, Heat] = {}
    for round_ in range(1, asked.most_rounds + 1):
        cells = [
            (at, level)
            for level in tables
            for at, name in enumerate(world.names)
            if (active := heats.get(level, Heat()).active) is None or name in active
        ]
        if not cells:
            break
        for at in order.permutation(len(cells)):
            contender, level = cells[at]
            tables[level][world.names[contender], round_] = math.exp(
                world.measure(contender, level, warmup_s, window_s, settling)
            )
        if round_ >= asked.least_rounds:
            heats = judge(tables, heats, asked, round_ - asked.least_rounds + 1)
    return heats


def grid(world: World, *, warmup_s: float = 2.4, window_s: float = 30.0, repeats: int = 4) -> np.ndarray:
    """Study wsgi's original as published: one contender after another, 4 times 30 s, highest and lowest
    dropped. Means of log rates."""
    made = np.zeros_like(world.truth)
    for contender in range(len(world.names)):
        for level in range(LEVELS):
            values = sorted(world.measure(contender, level, warmup_s, window_s) for _ in range(repeats))
            made[contender, level] = float(np.mean(values[1:-1]))
    return made
