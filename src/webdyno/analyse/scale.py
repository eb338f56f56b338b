"""Scale: a fit of the Universal Scalability Law over connections or workers.

X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)): lambda is the rate of one, sigma the share that queues for
something common (a lock, one core), kappa what every pair costs to agree (caches, hand-overs). Fitted by least squares
on log X, one value per start of a server, because noise here is a percentage; all three at least zero. Intervals are
profiles: a value belongs to it when holding the parameter there makes the fit worse by less than F allows; so they
stay within what is possible, and may end at zero. The rate is highest at N = sqrt((1 - sigma) / kappa), the knee.

It refuses with fewer than five levels, and where more than 1 % of the requests of a level failed: what is not answered
costs nothing, so such a level looks faster than it is.

N. J. Gunther (2007), Guerrilla Capacity Planning, chapter 4 to 6. D. M. Bates, D. G. Watts (1988), Nonlinear Regression
Analysis and its Applications, chapter 6, for profiles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webdyno.analyse import special
from webdyno.model.estimate import Estimate

LEVELS = 5
ERRORS = 0.01
FURTHEST = 100
"""Times the highest level: an interval of the knee that goes on until there has no end."""
STEPS = 60
ENOUGH = 1e-12
"""Of the squares: a step that gains less is the last."""
MOST_DAMPED = 1e12
Vector = NDArray[np.floating]
Matrix = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Law:
    """The fitted law; intervals None where there are no more values than parameters."""

    rate_of_one: Estimate
    contention: Estimate
    coherence: Estimate
    peak: Estimate | None
    """Where the rate is highest; None: it only rises. ``high`` alone None: it may."""

    def rate(self, number: float) -> float:
        """Correct answers per second at ``number``."""
        logs = _logs(
            np.array([number]), (math.log(self.rate_of_one.value), self.contention.value, self.coherence.value)
        )
        return float(np.exp(logs[0]))

    @property
    def knee(self) -> float | None:
        """Where the rate is highest; None: it only rises."""
        return None if self.peak is None else self.peak.value


def refusal(rates: Mapping[int, Sequence[float]], error_ratios: Mapping[int, float]) -> str | None:
    """Why nothing is fitted to ``rates`` by level; None: it can be."""
    levels = [level for level, values in rates.items() if _usable(values)]
    if len(levels) < LEVELS:
        return f"a scaling law needs {LEVELS} levels, and there are {len(levels)}"
    tainted = [level for level in levels if error_ratios.get(level, 0.0) > ERRORS]
    if tainted:
        return f"more than {ERRORS:.0%} of the requests failed at {', '.join(map(str, sorted(tainted)))}"
    return None


def law(rates: Mapping[int, Sequence[float]]) -> Law | None:
    """The law fitted to one rate per start, by level; None when ``refusal`` says so."""
    if refusal(rates, {}) is not None:
        return None
    levels = _levels(rates)
    best = _fit(levels, max(level for level, values in rates.items() if _usable(values)))
    return Law(
        rate_of_one=_profile(levels, best, 0),
        contention=_profile(levels, best, 1),
        coherence=_profile(levels, best, 2),
        peak=_peak(levels, best),
    )


def _usable(values: Sequence[float]) -> list[float]:
    return [value for value in values if value > 0 and math.isfinite(value)]


Parameters = tuple[float, float, float]
"""log lambda, sigma, kappa."""


def _logs(numbers: Vector, parameters: Parameters) -> Vector:
    scale, sigma, kappa = parameters
    return scale + np.log(numbers) - np.log1p(sigma * (numbers - 1) + kappa * numbers * (numbers - 1))


@dataclass(frozen=True, slots=True)
class _Levels:
    """All that a fit needs of the rates: a row for each level, however many rounds it has."""

    columns: Matrix
    """What sigma and kappa are multiplied by."""
    logs: Vector
    """Mean of log X / N."""
    starts: Vector
    """Rates that each is the mean of."""
    within: float
    """Squares of the rates around the mean of their level, which no law takes away."""

    def least(
        self,
        fixed: Vector | float,
        columns: Matrix,
        begin: Sequence[float],
        scale: float | None = None,
        most: float = 10.0,
    ) -> tuple[Vector, float]:
        """Least squares for the law lambda N / (fixed + columns x), x in 0 to ``most``: x, and what is left.

        ``scale``: log lambda where it is held; else it is the mean of what the rest leaves. Steps are Gauss's and
        Newton's, damped where they lead uphill (D. W. Marquardt 1963); an x that would leave its bounds stays there.
        """
        x, damp = np.clip(np.asarray(begin, dtype=float), 0.0, most), 1e-3
        left, squares = self._left(fixed + columns @ x, scale)
        for _ in range(STEPS):
            slope = columns / (fixed + columns @ x)[:, None]
            if scale is None:
                slope = slope - self._mean(slope)
            weighed = slope.T * self.starts
            downhill, bent = -weighed @ left, weighed @ slope
            free = np.where(downhill > 0, x < most, x > 0)
            if not free.any():
                break
            damped = bent * np.outer(free, free)
            np.fill_diagonal(damped, bent.diagonal() * (1 + damp))
            there = x + np.linalg.solve(damped, downhill * free)
            there = np.minimum(np.maximum(there, 0.0), most)
            left_there, squares_there = self._left(fixed + columns @ there, scale)
            gain = squares - squares_there
            if gain > 0:
                x, left, squares = there, left_there, squares_there
            if 0 <= gain <= ENOUGH * squares or damp > MOST_DAMPED:
                break
            damp *= 0.1 if gain > 0 else 10
        return x, squares + self.within

    def scale(self, x: Vector) -> float:
        """The best log lambda for these sigma and kappa."""
        return float(self._mean(self.logs + np.log(1 + self.columns @ x)))

    def _mean(self, values: Vector) -> Vector:
        return np.asarray(self.starts @ values / self.starts.sum())

    def _left(self, shared: Vector, scale: float | None) -> tuple[Vector, float]:
        left: Vector = self.logs + np.log(shared)
        left = left - (self._mean(left) if scale is None else scale)
        return left, float(self.starts @ left**2)


def _levels(rates: Mapping[int, Sequence[float]]) -> _Levels:
    usable = {level: np.log(_usable(values)) for level, values in sorted(rates.items()) if _usable(values)}
    numbers = np.array(list(usable), dtype=float)
    return _Levels(
        columns=np.column_stack([numbers - 1, numbers * (numbers - 1)]),
        logs=np.array([logs.mean() for logs in usable.values()]) - np.log(numbers),
        starts=np.array([len(logs) for logs in usable.values()], dtype=float),
        within=sum(float(((logs - logs.mean()) ** 2).sum()) for logs in usable.values()),
    )


@dataclass(frozen=True, slots=True)
class _Fit:
    parameters: Parameters
    squares: float
    limit: float | None
    """Squares up to which a held value belongs to the interval; None: there are no more values than parameters."""
    most: float
    """The highest level."""
    starts: int
    """For each level."""


def _fit(levels: _Levels, most: float) -> _Fit:
    """Least squares over all three; the best of a few beginnings, for the valley is flat."""
    begins = ((1e-3, 1e-6), (0.5, 1 / most**2), (0.05, 1 / most))
    x, squares = min((levels.least(1.0, levels.columns, begin) for begin in begins), key=lambda found: found[1])
    number = int(levels.starts.sum())
    freedom = number - 3
    worse = 1 + float(special.fdtri(1, freedom, 0.95)) / freedom if freedom > 0 else None
    return _Fit(
        parameters=(levels.scale(x), float(x[0]), float(x[1])),
        squares=squares,
        limit=None if worse is None else squares * worse + 1e-12,
        most=most,
        starts=number // len(levels.starts),
    )


def _squares_without(at: int, held: float, levels: _Levels, near: Parameters) -> float:
    """Least squares with one of the three held."""
    if at == 0:
        return levels.least(1.0, levels.columns, near[1:], held)[1]
    of_held, of_other = levels.columns[:, at - 1], levels.columns[:, 2 - at, None]
    return levels.least(1.0 + held * of_held, of_other, near[3 - at : 4 - at])[1]


def _peak(levels: _Levels, best: _Fit) -> Estimate | None:
    """The knee with its profile interval: kappa is (1 - sigma) / knee^2, so holding the knee leaves sigma to fit."""
    _, sigma, kappa = best.parameters
    if kappa <= 0 or sigma >= 1:
        return None
    knee, limit = max(1.0, math.sqrt((1 - sigma) / kappa)), best.limit
    if limit is None:
        return Estimate(value=knee, low=None, high=None, rounds=best.starts, unit="number")
    of_sigma, of_kappa = levels.columns.T

    def worse(log_knee: float) -> bool:
        whole = of_kappa * math.exp(-2 * log_knee)  # of kappa, were sigma nothing
        column = (of_sigma - whole)[:, None]
        return levels.least(1.0 + whole, column, (sigma,), most=1.0)[1] > limit

    furthest = math.log(FURTHEST * best.most)
    low = math.exp(_edge(math.log(knee), -0.05, worse, 0.0))
    high = _edge(math.log(knee), 0.05, worse, max(furthest, math.log(knee)))
    reached = math.exp(high) if high < furthest else None
    return Estimate(value=knee, low=low, high=reached, rounds=best.starts, unit="number")


def _profile(levels: _Levels, best: _Fit, at: int) -> Estimate:
    """One parameter with its profile interval."""
    value, unit, limit = best.parameters[at], ("per_s", "share", "share")[at], best.limit
    shown = math.exp(value) if at == 0 else value
    if limit is None:
        return Estimate(value=shown, low=None, high=None, rounds=best.starts, unit=unit)

    def worse(held: float) -> bool:
        return _squares_without(at, held, levels, best.parameters) > limit

    step = 0.01 if at == 0 else max(value * 0.05, (1e-5, 1 / best.most**2 / 50)[at - 1])
    low = _edge(value, -step, worse, -math.inf if at == 0 else 0.0)
    high = _edge(value, step, worse, math.inf)
    if at == 0:
        low, high = math.exp(low), math.exp(high)
    return Estimate(value=shown, low=low, high=high, rounds=best.starts, unit=unit)


def _edge(value: float, step: float, worse: Callable[[float], bool], bound: float) -> float:
    """Where ``worse`` begins on one side: steps that double, then halving; ``bound`` when it never does."""
    inside, outside = value, value
    for _ in range(24):
        outside = value + step
        if (step < 0 and outside <= bound) or (step > 0 and outside >= bound):
            if not worse(bound):
                return bound
            outside = bound
            break
        if worse(outside):
            break
        inside, step = outside, step * 2
    else:
        return outside
    for _ in range(12):
        middle = (inside + outside) / 2
        if worse(middle):
            outside = middle
        else:
            inside = middle
    return (inside + outside) / 2
