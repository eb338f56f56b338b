"""Service level objectives as people write them: ``p99<50ms, errors<0.1%, rate>5000``. Missed: exit code 1."""

from __future__ import annotations

import re

from webdyno.analyse.objectives import LATENCIES, Objective
from webdyno.commands.units import length_ns, part_of, rate_of
from webdyno.model.errors import UsageError

_TERM = re.compile(r"(?P<what>[a-z0-9.]+)\s*(?P<than>[<>])(?P<number>.+)")


def objectives(text: str) -> list[Objective]:
    """Every term of ``text``; UsageError for one that is none."""
    return [_objective(term.strip()) for term in text.split(",") if term.strip()]


def _objective(term: str) -> Objective:
    match = _TERM.fullmatch(term)
    if match:
        what, below, number = match["what"], match["than"] == "<", match["number"]
        value: float | None = None
        if what in LATENCIES and below:
            value = length_ns(number)
        elif what == "errors" and below:
            value = part_of(number)
        elif what == "rate" and not below:
            value = rate_of(number)
        if value is not None:
            return Objective(term, what, below, value)
    raise UsageError(
        f"--slo {term!r} is not an objective; write latencies as p99<50ms ({', '.join(LATENCIES)}), "
        "errors<0.1%, rate>5000"
    )
