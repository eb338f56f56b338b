"""Variances of few rounds, steadied by the variances of all contenders together.

Three rounds give a contender's variance two degrees of freedom at best, and a t interval over that is honest but
useless. Empirical Bayes takes each variance as drawn from one prior common to the table, estimates that prior from
the table, and returns the posterior; contenders that really differ in their noise keep differing (the prior then
weighs little).

G. K. Smyth (2004), Linear models and empirical Bayes methods for assessing differential expression in microarray
experiments. Statistical Applications in Genetics and Molecular Biology 3(1), article 3; equations 4 to 6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webdyno.analyse import special

Vector = NDArray[np.floating]


def moderate(variances: Vector, freedom: Vector) -> tuple[Vector, Vector]:
    """Posterior variances and their degrees of freedom, for variances with ``freedom`` degrees each.

    A variance without any freedom is unknown (its value is ignored) and becomes the prior's. The freedom returned never
    exceeds that of all the variances together, for the prior was estimated from nothing else.
    """
    known = freedom > 1e-9
    total = float(freedom.sum())
    if known.sum() < 2:
        return np.where(known, variances, np.nan), np.where(known, freedom, 0.0)
    prior_freedom, prior = _prior(variances[known], freedom[known])
    own = np.where(known, freedom * np.nan_to_num(variances), 0.0)
    if np.isinf(prior_freedom):
        return np.full_like(variances, prior), np.full_like(freedom, total)
    posterior = (prior_freedom * prior + own) / (prior_freedom + freedom)
    return posterior, np.minimum(prior_freedom + freedom, total)


def _prior(variances: Vector, freedom: Vector) -> tuple[float, float]:
    """Degrees of freedom and variance of the prior, by the method of moments on the logarithms."""
    pooled = float((variances * freedom).sum() / freedom.sum())
    if pooled <= 0:
        return np.inf, 0.0
    # a variance of exactly zero is a coincidence of rounding; its logarithm must not rule the table
    logs = np.log(np.maximum(variances, 1e-5 * pooled)) - special.digamma(freedom / 2) + np.log(freedom / 2)
    spread = float(logs.var(ddof=1) - special.polygamma(1, freedom / 2).mean())
    if spread <= 0:
        return np.inf, pooled  # the variances differ by less than chance alone would make them: one for all
    prior_freedom = 2 * _inverse_trigamma(spread)
    prior = float(np.exp(logs.mean() + special.digamma(prior_freedom / 2) - np.log(prior_freedom / 2)))
    return prior_freedom, prior


def _inverse_trigamma(y: float) -> float:
    """x with trigamma(x) = y, by Newton's method on 1/trigamma, which is nearly straight (Smyth 2004, appendix)."""
    x = 0.5 + 1 / y
    for _ in range(50):
        trigamma = float(special.polygamma(1, x))
        step = trigamma * (1 - trigamma / y) / float(special.polygamma(2, x))
        x += step
        if -step / x < 1e-8:
            break
    return x
