"""Race: how long a plan may go on, and what it is to settle."""

from __future__ import annotations

import msgspec


class Race(msgspec.Struct, frozen=True, kw_only=True):
    """Rounds go only where they still decide something, until the question is settled or the time is spent."""

    budget_s: float | None = None
    """Seconds of measuring, without builds; None: as long as it takes, up to ``most_rounds``."""
    most_runs: int | None = None
    """Runs in all; None: as many as the rounds allow. So a study is raced in as many as its own rounds would take."""
    margin: float = 0.03
    """Contenders whose rates are certainly nearer than this share are equal."""
    top: int | None = 3
    """How many of the first places, and their order, are settled; None: the whole order."""
    least_rounds: int = 3
    """Of everything, before anybody is left out."""
    most_rounds: int = 8
    alpha: float = 0.05
    """Chance of any false "A beats B" among all tables and looks of the experiment."""
