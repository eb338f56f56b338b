"""Service level objectives as people write them: ``p99<50ms, errors<0.1%, rate>5000``. Missed: exit code 1."""

from __future__ import annotations

import re

from webdyno.analyse.objectives import LATENCIES, Objective
from webdyno.model.errors import UsageError

_TERM = re.compile(r"(?P<what>[a-z0-9.]+)\s*(?P<than>[<>])\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>us|ms|s|%)?")
_UNITS_NS = {"us": 1e3, "ms": 1e6, "s": 1e9}


def objectives(text: str) -> list[Objective]:
    """Every term of ``text``; UsageError for one that is none."""
    return [_objective(term.strip()) for term in text.split(",") if term.strip()]


def _objective(term: str) -> Objective:
    match = _TERM.fullmatch(term)
    if match:
        what, below, unit = match["what"], match["than"] == "<", match["unit"]
        number = float(match["number"])
        if what in LATENCIES and below and unit in _UNITS_NS:
            return Objective(term, what, below, number * _UNITS_NS[unit])
        if what == "errors" and below and unit == "%":
            return Objective(term, what, below, number / 100)
        if what == "rate" and not below and unit is None:
            return Objective(term, what, below, number)
    raise UsageError(
        f"--slo {term!r} is not an objective; write latencies as p99<50ms ({', '.join(LATENCIES)}), "
        "errors<0.1%, rate>5000"
    )
