"""Unanswered: what a load left without an answer, for no percentile of answers shows a server that has stopped.

Clients that wait for an answer before they ask again (a closed load) stop asking when the server hangs: 4 of 504
requests are open at the end, and every percentile is that of the time before. So two things are looked at beside the
percentiles: how old the requests were that were under way at the end, and how long nothing had come by then. A server
whose answers take seconds by nature is silent for that long by nature, and is left in peace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webdyno.analyse.error_share import NOT_AN_ERROR, failed
from webdyno.analyse.latency import Latency, merge
from webdyno.analyse.words import count, time_ns
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.sample import Slice

SILENT_NS = 1e9
"""So long without a byte, while requests were under way."""
_ANSWERED = ("wrong-status", "wrong-body")
"""Errors that are answers."""


def could_have_failed(run: Run, soon_ns: float | None) -> int:
    """Requests without an answer at the end of a load that may never get one, which no count of errors knows.

    Those under way for longer than ``soon_ns`` (None, or ages that the driver does not tell: all), and no less than the
    clients that never got an answer. A driver that drops what is under way at the end had one with each of its clients.
    """
    load, steady = run.trial.load, [slice_ for slice_ in run.slices if slice_.phase == "steady"]
    if run.driver_can is not None and not run.driver_can.unfinished:
        return 0 if load.count is not None else load.max_connections or load.connections
    aged = soon_ns is not None and any(slice_.unfinished_hdr for slice_ in steady)
    under_way = sum(slice_.errors.get(NOT_AN_ERROR, 0) for slice_ in steady)
    waiting = older_than(steady, soon_ns) if aged and soon_ns is not None else under_way
    return max(waiting, never_answered(run) or 0)


def never_answered(run: Run) -> int | None:
    """Connections that never got an answer; None where the driver does not tell."""
    number = run.summary.get("connections_unanswered")
    return number if isinstance(number, int) else None


def connections_served(load: Load, runs: Sequence[Run]) -> int | None:
    """How many of the connections of a closed load got an answer at all, in the run with the fewest; None where the
    load is open, or the driver does not tell."""
    never = [number for run in runs if (number := never_answered(run)) is not None]
    return None if load.is_open or not never else load.connections - max(never)


def share_served(run: Run) -> float | None:
    """Of the connections of a closed load, those that got an answer at all; None as of ``connections_served``."""
    served = connections_served(run.trial.load, [run])
    return None if served is None else served / run.trial.load.connections


@dataclass(frozen=True, slots=True)
class Silence:
    """The end of a load, in which nobody was answered."""

    ns: float
    unanswered: int
    """Requests under way at the end, and those that failed meanwhile."""

    @property
    def sentence(self) -> str:
        """Without its subject."""
        return (
            f"no request was answered in the last {time_ns(self.ns)}, while {count(self.unanswered, 'request')} waited"
        )


def ages(slices: Sequence[Slice]) -> Latency | None:
    """How old the requests were, since due, that were under way at the end; None where the driver tells none."""
    steady = (slice_ for slice_ in slices if slice_.phase == "steady")
    return merge(slice_.unfinished_hdr for slice_ in steady if slice_.unfinished_hdr)


def older_than(slices: Sequence[Slice], bound_ns: float) -> int:
    """Requests that had been under way for longer than that when the load ended."""
    left = ages(slices)
    return 0 if left is None else int(left.counts[left.middle_ns > bound_ns].sum())


def silence(slices: Sequence[Slice]) -> Silence | None:
    """None when somebody was answered near the end, or nobody waited."""
    steady = [slice_ for slice_ in slices if slice_.phase == "steady"]
    tail = _silent_tail(steady)
    silent_ns = float(sum(slice_.duration_ns for slice_ in tail))
    if silent_ns < 0.99 * SILENT_NS:  # mostly so, and found without reading a histogram
        return None
    first_bytes = merge(slice_.ttfb_hdr for slice_ in steady if slice_.ttfb_hdr)
    natural_ns = max(SILENT_NS, first_bytes.max_ns if first_bytes else 0.0)
    if silent_ns < 0.99 * natural_ns:  # slices end a hair early or late
        return None
    lost = sum(failed(slice_.errors) for slice_ in tail)
    left = ages(tail)
    if not lost and (left is None or left.max_ns < 0.99 * natural_ns):
        return None
    return Silence(silent_ns, lost + sum(slice_.errors.get(NOT_AN_ERROR, 0) for slice_ in tail))


def _silent_tail(steady: Sequence[Slice]) -> list[Slice]:
    """The last Slices, as many as have neither an answer nor a byte of one."""
    tail: list[Slice] = []
    for slice_ in reversed(steady):
        if slice_.ok or slice_.bytes_in is None or slice_.bytes_in or any(slice_.errors.get(k) for k in _ANSWERED):
            break
        tail.append(slice_)
    return tail
