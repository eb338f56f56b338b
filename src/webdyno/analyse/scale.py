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
Vector = NDArray[np.floating]


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
    """The law fitted to one rate per start, by level; None when ``refusal`` says so, or when nothing can be fitted."""
    if refusal(rates, {}) is not None:
        return None
    pairs = [(level, rate) for level, values in sorted(rates.items()) for rate in _usable(values)]
    numbers = np.array([level for level, _ in pairs], dtype=float)
    logs = np.log([rate for _, rate in pairs])
    best = _fit(numbers, logs)
    if best is None:
        return None
    starts = len(pairs) // len({level for level, _ in pairs})
    return Law(
        rate_of_one=_profile(numbers, logs, best, 0, starts),
        contention=_profile(numbers, logs, best, 1, starts),
        coherence=_profile(numbers, logs, best, 2, starts),
        peak=_peak(numbers, logs, best, starts),
    )


def _usable(values: Sequence[float]) -> list[float]:
    return [value for value in values if value > 0 and math.isfinite(value)]


Parameters = tuple[float, float, float]
"""log lambda, sigma, kappa."""


def _logs(numbers: Vector, parameters: Parameters) -> Vector:
    scale, sigma, kappa = parameters
    return scale + np.log(numbers) - np.log1p(sigma * (numbers - 1) + kappa * numbers * (numbers - 1))


@dataclass(frozen=True, slots=True)
class _Fit:
    parameters: Parameters
    squares: float


def _fit(numbers: Vector, logs: Vector) -> _Fit | None:
    """Least squares over all three; the best of a few beginnings, for the valley is flat."""
    from scipy.optimize import curve_fit

    scale, most = float((logs - np.log(numbers)).max()), float(numbers.max())
    found: list[_Fit] = []
    for begin in ((scale, 1e-3, 1e-6), (scale, 0.5, 1 / most**2), (scale + 1, 0.05, 1 / most)):
        try:
            values, _ = curve_fit(
                lambda n, *values: _logs(n, (values[0], values[1], values[2])),
                numbers,
                logs,
                p0=begin,
                bounds=(_LOW, _HIGH),
                x_scale=(1.0, 0.01, 1 / most**2),
            )
        except (RuntimeError, ValueError):  # no convergence from here
            continue
        parameters = (float(values[0]), float(values[1]), float(values[2]))
        found.append(_Fit(parameters, float(((logs - _logs(numbers, parameters)) ** 2).sum())))
    return min(found, key=lambda each: each.squares, default=None)


_LOW, _HIGH = (-50.0, 0.0, 0.0), (50.0, 10.0, 10.0)


def _squares_without(at: int, held: float, numbers: Vector, logs: Vector, near: Parameters) -> float:
    """Least squares with one of the three held."""
    from scipy.optimize import least_squares, minimize_scalar

    if at == 0:
        found = least_squares(
            lambda two: logs - _logs(numbers, (held, two[0], two[1])),
            x0=[max(near[1], 1e-6), max(near[2], 1e-9)],
            bounds=(_LOW[1:], _HIGH[1:]),
            x_scale=[0.01, float(numbers.max()) ** -2],
            max_nfev=60,
        )
        return float(2 * found.cost)

    def squares(other: float) -> float:
        left = logs - _logs(numbers, (0.0, held, other) if at == 1 else (0.0, other, held))
        return float(((left - left.mean()) ** 2).sum())  # the best log lambda is the mean of what it leaves

    most = 4 * near[3 - at] + (1.0, 10 / float(numbers.max()))[at == 1]
    best = minimize_scalar(squares, bounds=(0.0, most), method="bounded", options={"xatol": most * 1e-5})
    return min(float(best.fun), squares(0.0))


def _limit(logs: Vector, best: _Fit) -> float | None:
    """Squares up to which a held value belongs to the interval; None: there are no more values than parameters."""
    freedom = len(logs) - 3
    return best.squares * (1 + float(special.fdtri(1, freedom, 0.95)) / freedom) + 1e-12 if freedom > 0 else None


def _peak(numbers: Vector, logs: Vector, best: _Fit, starts: int) -> Estimate | None:
    """The knee with its profile interval: kappa is (1 - sigma) / knee^2, so holding the knee leaves sigma to fit."""
    from scipy.optimize import minimize_scalar

    _, sigma, kappa = best.parameters
    if kappa <= 0 or sigma >= 1:
        return None
    knee, limit = max(1.0, math.sqrt((1 - sigma) / kappa)), _limit(logs, best)
    if limit is None:
        return Estimate(value=knee, low=None, high=None, rounds=starts, unit="number")

    def worse(log_knee: float) -> bool:
        def squares(share: float) -> float:
            left = logs - _logs(numbers, (0.0, share, (1 - share) * math.exp(-2 * log_knee)))
            return float(((left - left.mean()) ** 2).sum())

        found = minimize_scalar(squares, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-6})
        return min(float(found.fun), squares(0.0), squares(sigma)) > limit

    furthest = math.log(FURTHEST * float(numbers.max()))
    low = math.exp(_edge(math.log(knee), -0.05, worse, 0.0))
    high = _edge(math.log(knee), 0.05, worse, max(furthest, math.log(knee)))
    return Estimate(value=knee, low=low, high=math.exp(high) if high < furthest else None, rounds=starts, unit="number")


def _profile(numbers: Vector, logs: Vector, best: _Fit, at: int, starts: int) -> Estimate:
    """One parameter with its profile interval."""
    value, unit = best.parameters[at], ("per_s", "share", "share")[at]
    shown = math.exp(value) if at == 0 else value
    limit = _limit(logs, best)
    if limit is None:
        return Estimate(value=shown, low=None, high=None, rounds=starts, unit=unit)

    def worse(held: float) -> bool:
        return _squares_without(at, held, numbers, logs, best.parameters) > limit

    step = 0.01 if at == 0 else max(value * 0.05, (1e-5, 1 / float(numbers.max()) ** 2 / 50)[at - 1])
    low = _edge(value, -step, worse, -math.inf if at == 0 else 0.0)
    high = _edge(value, step, worse, math.inf)
    if at == 0:
        low, high = math.exp(low), math.exp(high)
    return Estimate(value=shown, low=low, high=high, rounds=starts, unit=unit)


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
