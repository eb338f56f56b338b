"""Now: the Trial in flight, as far as it has come. Only for those who watch; never evidence."""

from __future__ import annotations

import msgspec

from webdyno.model.sample import Phase
from webdyno.model.trial import Trial


class Now(msgspec.Struct, frozen=True, kw_only=True):
    """What `webdyno view` shows of a Trial before its Run is written."""

    trial: Trial
    done: int
    """Trials done before it."""
    total: int | None
    """Trials of the plan, of a race the most; None where the next is decided only after the one before."""
    left_s: float | None
    """Seconds the plan will still take, as far as can be told."""
    phase: Phase | None = None
    """Of the last Slice; None: starting."""
    warmup: list[float] = []
    """Correct answers per second, Slice by Slice; a stretch of three seconds as three."""
    steady: list[float] = []
    errors: int = 0
    """Requests that went wrong in this phase so far."""
    beside: list[str] = []
    """All contenders of the block in flight; empty: one is measured alone. What follows is of the block."""
    contender: str = ""
    """Who was loaded last."""
    rate_per_s: float | None = None
    """Then."""
    turn: int | None = None
    """Pass of that turn, from 0."""
    passes: int | None = None
    turns: dict[str, list[tuple[float, float]]] = {}
    """By contender: seconds from the first turn of the block, and correct answers per second."""
    left_out: int = 0
    """Slices at the start of the steady phase that are in ``steady`` no more."""
