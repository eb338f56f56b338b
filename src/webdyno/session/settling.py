"""How long a server needs that compiles while it serves: learnt from one longer Run, and given to every start after it.

The Runs of a sweep last a second or two, which is too short to see in them when a compiler is done.
"""

from __future__ import annotations

import math

from webdyno.analyse.steady import course
from webdyno.model.run import Run

WARMUP_S = 0.5
"""What every server is given, compiler or not."""
LEAST_S, MOST_S = 9.0, 20.0
"""Of the Run that is learnt from; one that is shorter shows no levels."""
SHARE = 0.2
"""Of the budget, for all of them together; no less than the least, however many there are."""


def settling_s(budget_s: float, bases: int) -> float:
    """Length of one such Run."""
    return min(MOST_S, max(LEAST_S, SHARE * budget_s / max(bases, 1)))


def warmup_of(run: Run) -> float | None:
    """Seconds until its level held; None: it never did, or the Run failed."""
    settled_ns = course(run).settled_ns
    return None if settled_ns is None else max(WARMUP_S, math.ceil(settled_ns / 1e9))
