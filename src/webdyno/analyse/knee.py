"""Knee: the curve of latency against rate, and where it bends.

Waiting grows as the server fills up: latency = idle * (1 - rate / limit) ** -steepness, which is exact for the
simplest queue (M/M/1, steepness 1) and near the truth for many others. The logarithm of it is a straight line in
log(1 - rate / limit), so for each limit that is possible the line is fitted, and the limit with the smallest error
taken.

The knee is the rate at which rate divided by latency is greatest: below it more load costs little waiting, above it
waiting grows faster than the load that is gained. L. Kleinrock (1979), Power and deterministic rules of thumb for
probabilistic problems in computer communications, International Conference on Communications.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

LEAST_RATES = 4
_LIMITS = np.geomspace(1.005, 4.0, 200)
"""Of what the highest rate can be of the limit: from just below it to a fourth of it."""


class Knee(msgspec.Struct, frozen=True, kw_only=True):
    """The curve that was fitted. Times in ns, rates per second."""

    knee_per_s: float
    limit_per_s: float
    """The rate at which the waiting would never end."""
    idle_ns: float
    steepness: float

    def latency_ns(self, rate_per_s: float) -> float | None:
        """On the curve; None from the limit on."""
        free = 1 - rate_per_s / self.limit_per_s
        return self.idle_ns * free**-self.steepness if free > 0 else None


def fit_knee(rates_per_s: Sequence[float], latencies_ns: Sequence[float]) -> Knee | None:
    """The curve through what was measured, trials in which the rate was kept up with only.

    None with less than four rates, or when latency does not grow with the rate.
    """
    if len(set(rates_per_s)) < LEAST_RATES:
        return None
    rates, logs = np.asarray(rates_per_s, dtype=float), np.log(np.asarray(latencies_ns, dtype=float))
    best: tuple[float, Knee] | None = None
    for limit in rates.max() * _LIMITS:
        x = -np.log1p(-rates / limit)
        steepness, idle = np.polyfit(x, logs, 1)
        error = float(((logs - idle - steepness * x) ** 2).sum())
        if steepness > 0 and (best is None or error < best[0]):
            knee = Knee(
                knee_per_s=float(limit / (1 + steepness)),
                limit_per_s=float(limit),
                idle_ns=float(np.exp(idle)),
                steepness=float(steepness),
            )
            best = error, knee
    return None if best is None else best[1]
