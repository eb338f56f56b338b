"""Service level objectives as people write them: ``p99<50ms, errors<0.1%, rate>5000``. Missed: exit code 1."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from webdyno.analyse.window import NOT_AN_ERROR
from webdyno.analyse.words import per_cent, rate, time_ns
from webdyno.model.errors import UsageError

_TERM = re.compile(r"(?P<what>[a-z0-9.]+)\s*(?P<than>[<>])\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>us|ms|s|%)?")
LATENCIES = ("p50", "p75", "p90", "p99", "p99.9", "max", "mean")
_UNITS_NS = {"us": 1e3, "ms": 1e6, "s": 1e9}


class Objective(NamedTuple):
    """One term: latency in ns, errors as a share, rate per second."""

    text: str
    what: str
    below: bool
    bound: float


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
        f"--slo {term!r} is no objective; write latencies as p99<50ms ({', '.join(LATENCIES)}), errors<0.1%, rate>5000"
    )


def missed(wanted: list[Objective], summary: dict[str, Any]) -> list[str]:
    """A sentence for each objective that this load missed. Latency is from due where there is a schedule."""
    said = []
    for objective in wanted:
        value = _value(objective.what, summary)
        if value is None:
            said.append(f"{objective.text}: missed, nothing was answered")
        elif not (value < objective.bound if objective.below else value > objective.bound):
            said.append(f"{objective.text}: missed, it was {_shown(objective.what, value)}")
    return said


def _value(what: str, summary: dict[str, Any]) -> float | None:
    if what == "rate":
        return float(summary["ok"] * 1e9 / summary["duration_ns"]) if summary["duration_ns"] else None
    if what == "errors":
        failed = sum(number for kind, number in summary["errors"].items() if kind != NOT_AN_ERROR)
        return float(failed / summary["offered"]) if summary["offered"] else None
    points = summary.get("response_ns") or summary["latency_ns"]
    return None if not points else float(points[what])


def _shown(what: str, value: float) -> str:
    if what == "rate":
        return rate(value)
    return per_cent(value) if what == "errors" else time_ns(value)
