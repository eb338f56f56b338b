"""What rules say of a contender that something else held back, and what a part of the time that was taken can cost."""

from __future__ import annotations

import math

from webdyno.model.load import Load

COST = 3.0
"""A rate loses at most this many times the stolen share of the CPU; A/A experiments showed 1.5 times."""
MOST_LOST = 0.9


def follows(load: Load) -> str:
    """What such a Doubt means for the figures, as the end of its sentence."""
    return "its latency may be lower" if load.is_open else "its rate is a floor; it may be faster"


def lost(share: float | str) -> float:
    """How many times faster it may be when others took that part of the time from cores; infinite: it is not known."""
    return 1 / (1 - min(COST * float(share), MOST_LOST)) if share != math.inf else math.inf
