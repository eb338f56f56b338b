"""Objectives: whether a load met what was asked of the server. The one rule, for ``load --slo`` and ``capacity``.

A percentile at an open pace counts from due, and requests without an answer are in it at their age. What that cannot
show is looked at beside it: a request that had waited for longer than the objective when the load ended counts as an
error; clients that hang do not ask again, so at a closed pace the share of their time is what counts; and when nobody
was answered at the end at all, or a part of what was due was never sent, no objective is met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from webdyno.analyse.error_share import error_share
from webdyno.analyse.unanswered import SILENT_NS, ages, older_than, silence
from webdyno.analyse.words import count, per_cent, rate, time_ns
from webdyno.model.load import Load
from webdyno.model.sample import Slice

LATENCIES = ("p50", "p75", "p90", "p99", "p99.9", "max", "mean")
_TAILS = ("p90", "p99", "p99.9", "max")
"""Those that say how long one request may take; half of all may take longer than the median."""
OFFERED = 0.99
"""Share of the requests due that must be sent for a rate to count as offered."""


class Objective(NamedTuple):
    """One term: latency in ns, errors as a share, rate per second."""

    text: str
    what: str
    below: bool
    bound: float


@dataclass(frozen=True, slots=True)
class Course:
    """What objectives are checked against: the engine's last word over the steady phase, its Slices, what was asked."""

    summary: Mapping[str, Any]
    slices: Sequence[Slice]
    load: Load

    @property
    def sent_share(self) -> float:
        """Of the requests that were due, those that were sent."""
        due = self.summary["offered"]
        return (due - self.summary["errors"].get("shed", 0)) / due if due else 0.0

    @property
    def is_short(self) -> bool:
        """At an open pace: a part of what was due was never sent."""
        return self.load.is_open and bool(self.summary["offered"]) and self.sent_share < OFFERED


def missed(wanted: Sequence[Objective], course: Course) -> list[str]:
    """A sentence for each objective that this load missed, and for what misses them all."""
    if not wanted:
        return []
    patience_ns = _patience_ns(wanted, course)
    said = [sentence for each in wanted if (sentence := _missed(each, course, patience_ns))]
    if (found := silence(course.slices)) is not None:
        said.append(f"missed, {found.sentence}")
    if course.is_short:
        said.append(f"missed, {per_cent(1 - course.sent_share)} were never sent, because every connection was waiting")
    return said


def share_failed(course: Course, patience_ns: float | None = None) -> float:
    """The error share, with those that had waited for longer than ``patience_ns`` at the end."""
    waiting = 0 if patience_ns is None else older_than(course.slices, patience_ns)
    return error_share(course.summary["errors"], course.summary["ok"], waiting)


def _patience_ns(wanted: Sequence[Objective], course: Course) -> float:
    """How old a request without an answer may be, before it counts as an error.

    As the objectives say of single requests. Where they do not: a second, or as long as the slowest answer took.
    """
    bounds = [each.bound for each in wanted if each.what in _TAILS]
    slowest = (course.summary.get("latency_ns") or {}).get("max", 0.0)
    return max(bounds) if bounds else max(SILENT_NS, slowest)


def _missed(objective: Objective, course: Course, patience_ns: float) -> str | None:
    value = _value(objective.what, course, patience_ns)
    if value is None:
        return f"{objective.text}: missed, nothing was answered"
    if not (value < objective.bound if objective.below else value > objective.bound):
        of_these = _of_these(objective, course, patience_ns)
        return f"{objective.text}: missed, it was {_shown(objective.what, value)}{of_these}"
    if objective.what in LATENCIES:
        hung = _hung_share(course, objective.bound)
        if hung > _allowed(objective.what):
            never = "of the time in requests that had no answer at the end"
            return f"{objective.text}: missed, the clients spent {per_cent(hung)} {never}"
    return None


def _value(what: str, course: Course, patience_ns: float) -> float | None:
    summary = course.summary
    if what == "rate":
        return float(summary["ok"] * 1e9 / summary["duration_ns"]) if summary["duration_ns"] else None
    if what == "errors":
        return share_failed(course, patience_ns) if summary["offered"] else None
    points = summary.get("response_ns") or summary["latency_ns"]
    return None if not points else float(points[what])


def _shown(what: str, value: float) -> str:
    if what == "rate":
        return rate(value)
    return per_cent(value) if what == "errors" else time_ns(value)


def _of_these(objective: Objective, course: Course, patience_ns: float) -> str:
    """Which of the errors are requests that still waited."""
    waiting = older_than(course.slices, patience_ns) if objective.what == "errors" else 0
    return f" with {count(waiting, 'request')} that had no answer after {time_ns(patience_ns)}" if waiting else ""


def _hung_share(course: Course, bound_ns: float) -> float:
    """Of the time of all clients of a closed load, that which went by in requests that had no answer at its end."""
    load, left = course.load, ages(course.slices)
    if load.is_open or left is None or not course.summary["duration_ns"]:
        return 0.0
    hung = left.middle_ns > max(bound_ns, SILENT_NS)  # what is a little late at the end is no client that hangs
    clients = load.connections * load.pipeline * load.streams
    waited_ns = float((left.middle_ns * left.counts)[hung].sum())
    return waited_ns / clients / float(course.summary["duration_ns"])


def _allowed(what: str) -> float:
    """The part that a percentile leaves out. The mean leaves out nothing, but is no share: half."""
    return 1 - float(what[1:]) / 100 if what.startswith("p") else (0.5 if what == "mean" else 0.0)
