"""What the forms of other tools need of a load, as their counters count it."""

from __future__ import annotations

from dataclasses import dataclass

from webdyno.histogram import Histogram
from webdyno.session.engine import Loaded

_SOCKET = ("reset", "truncated", "malformed", "tls")
_CONNECT = ("connect-refused", "connect-timeout")


@dataclass(frozen=True)
class Figures:
    """One load. What has no counter in such a tool (a wrong body, to wrk) is told on standard error beside it."""

    seconds: float
    answers: int
    """Complete answers, whatever they said."""
    late: int
    """Requests that timed out, or were never sent."""
    connect: int
    read: int
    bodies: int
    """Answers with a wrong length, type or content."""
    statuses: dict[str, int]
    bytes_in: int
    per_s: float
    """Answers, and requests that timed out, per second."""
    times: Histogram | None
    """Response times in ns."""


def figures(loaded: Loaded) -> Figures:
    """Of a finished load."""
    summary, errors = loaded.summary, loaded.summary["errors"]
    answers = summary["ok"] + errors.get("wrong-status", 0) + errors.get("wrong-body", 0)
    late = errors.get("timeout", 0) + errors.get("shed", 0)
    return Figures(
        seconds=loaded.seconds,
        answers=answers,
        late=late,
        connect=sum(errors.get(kind, 0) for kind in _CONNECT),
        read=sum(errors.get(kind, 0) for kind in _SOCKET),
        bodies=errors.get("wrong-body", 0),
        statuses=summary.get("statuses", {}),
        bytes_in=summary["bytes_in"],
        per_s=(answers + late) / loaded.seconds if loaded.seconds else 0.0,
        times=loaded.response,
    )


def of_status(statuses: dict[str, int], first: int, last: int) -> int:
    """Answers with a status from ``first`` to ``last``."""
    return sum(count for status, count in statuses.items() if first <= int(status) <= last)


def within_stdev(histogram: Histogram) -> float:
    """Share of the values within one standard deviation of the mean, in per cent."""
    mean, stdev = histogram.mean or 0.0, histogram.stdev or 0.0
    near = sum(count for value, count in histogram.counts() if abs(value - mean) <= stdev)
    return 100 * near / histogram.count if histogram.count else 0.0
