"""Functions of ``scipy.special`` by their names there: its import takes a third of a second, which the first call pays.

So a command that starts servers, loads them or is called wrongly does not wait for what only figures need.
"""

from __future__ import annotations

from typing import Any

WIDEST = 300.0
"""Half of an interval of logarithms, at most: with a hundredth of a degree of freedom it would be more than a float
holds the exponential of, and e to the 300th either way says as little."""


def reach(error: float, freedom: float, quantile: float) -> float:
    """As many standard errors of a logarithm as Student's t has at ``quantile``; WIDEST at most."""
    import scipy.special

    return min(error * float(scipy.special.stdtrit(freedom, quantile)), WIDEST)


def get_ready() -> None:
    """The import, ahead of the first call."""
    import scipy.special  # noqa: F401


def __getattr__(name: str) -> Any:
    """``special.stdtr`` is ``scipy.special.stdtr``."""
    import scipy.special

    return getattr(scipy.special, name)
