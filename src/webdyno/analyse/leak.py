"""Leak: how much memory stays with every request, from looks at it while requests were counted.

Memory grows for many reasons that are no leak. A server that warms up, or fills a cache, grows ever less; an allocator
takes an arena at a time and stands still between; a collector lets garbage lie and then drops it. What a leak does and
they do not is to grow by the same amount for every request, to the end. So the second half of a round is what counts;
the first must be like it, no single step may be most of it, and it must be more than a heap takes for nothing. What is
told is the growth of the second half, over the requests answered in it, with its t interval over rounds.

What this cannot tell from a leak is a cache that would have levelled off after the round, and is said so.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from webdyno.analyse import special
from webdyno.analyse.estimate import CONFIDENCE
from webdyno.analyse.table import Cell
from webdyno.model.estimate import Estimate
from webdyno.model.run import Run
from webdyno.model.sample import Slice

LEAST_LOOKS = 3
ENOUGH_LOOKS = 9
"""In a single round, where no other round says how much chance there is."""
ALIKE = 0.5
"""Of the growth by request in one half, at least so much in the other."""
MOST_OF_A_STEP = 0.5
"""Of all growth, from five looks on."""
AFTER_NS = 250_000_000
"""The last look is taken when the driver has said that the phase is over."""
_MIB = 2.0**20
LEAST_BYTES = 8 * _MIB
LEAST_BYTES_COLLECTED = 64 * _MIB
"""Growth over a round, below which it is what heaps take: of one that counts references or frees by hand, and of one
that lets garbage lie for a while."""
LEAST_PART, LEAST_PART_COLLECTED = 0.1, 0.5
"""The same as a part of the memory at the round's begin."""
_FREED_AT_ONCE = ("cpython", "rust", "nginx", "lighttpd", "h2o")
"""Runtimes whose memory is given back when its last use ends, by the start of their names."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Of one round."""

    early: float
    """Bytes for each request answered, in its first half."""
    late: float
    """And in its second."""
    total_bytes: float
    begin_bytes: float
    requests: float
    looks: int
    largest_step: float
    """As a part of all growth."""

    @property
    def is_steady(self) -> bool:
        """The same to the end, and in no single step."""
        stepped = self.looks >= 5 and self.largest_step > MOST_OF_A_STEP
        return self.late > 0 and ALIKE <= self.early / self.late <= 1 / ALIKE and not stepped


def growth(run: Run) -> Growth | None:
    """None without three looks over a steady phase whose answers were counted by the second."""
    steady = [slice_ for slice_ in run.slices if slice_.phase == "steady"]
    if not steady or any(slice_.start_ns is None for slice_ in steady):
        return None
    seen = _seen(run, steady)
    if len(seen) < LEAST_LOOKS:
        return None
    looks = list(zip(_answered(steady, [at for at, _ in seen]), (memory for _, memory in seen), strict=True))
    if looks[-1][0] <= 0:
        return None
    (none, first), (every, last) = looks[0], looks[-1]
    middle = min(looks[1:-1], key=lambda look: abs(look[0] - (none + every) / 2))
    if not none < middle[0] < every:
        return None
    steps = [after - before for (_, before), (_, after) in pairwise(looks)]
    return Growth(
        early=(middle[1] - first) / (middle[0] - none),
        late=(last - middle[1]) / (every - middle[0]),
        total_bytes=last - first,
        begin_bytes=first,
        requests=every - none,
        looks=len(looks),
        largest_step=max(steps) / (last - first) if last > first else math.inf,
    )


def _seen(run: Run, steady: Sequence[Slice]) -> list[tuple[int, float]]:
    """The looks in the steady phase: when, and the memory then."""
    begin, end = steady[0].start_ns or 0, (steady[-1].start_ns or 0) + steady[-1].duration_ns + AFTER_NS
    return [
        (look.at_ns, float(look.rss_bytes))
        for look in run.readings
        if look.role == "contender" and look.rss_bytes is not None and begin <= look.at_ns <= end
    ]


def _answered(steady: Sequence[Slice], at_ns: Sequence[int]) -> list[float]:
    """Complete answers since the start of the steady phase, up to each time; evenly within a Slice.

    All times at once: one by one, ten rounds of a hundred contenders took longer than all else of their analysis.
    """
    starts = np.array([slice_.start_ns or 0 for slice_ in steady])
    lengths = np.array([slice_.duration_ns or math.inf for slice_ in steady])
    answers = [
        slice_.ok + sum(slice_.errors.get(kind, 0) for kind in ("wrong-status", "wrong-body")) for slice_ in steady
    ]
    parts = np.clip((np.array(at_ns, dtype=np.int64)[:, None] - starts) / lengths, 0.0, 1.0)
    return [float(total) for total in parts @ np.array(answers, dtype=float)]


def growths(cell: Cell) -> list[Growth]:
    """Of every round that served, those that ended at the memory limit too."""
    served = (run for run in cell.runs if run.outcome in ("ok", "out-of-memory"))
    return [found for run in served if (found := growth(run)) is not None]


def staying(found: Sequence[Growth]) -> Estimate | None:
    """Bytes that stay with each request; None without a round, without an interval where there is one."""
    lates = [each.late for each in found]
    if not lates:
        return None
    mean, low, high = statistics.fmean(lates), None, None
    if len(lates) > 1:
        error = statistics.stdev(lates) / math.sqrt(len(lates))
        reach = float(special.stdtrit(len(lates) - 1, (1 + CONFIDENCE) / 2)) * error
        low, high = mean - reach, mean + reach
    return Estimate(value=mean, low=low, high=high, rounds=len(lates), unit="bytes_per_request")


def is_leak(found: Sequence[Growth], runtime: str) -> bool:
    """Whether memory grew by the same amount for every request to the end of its rounds, beyond what heaps take."""
    estimate = staying(found)
    if estimate is None:
        return False
    if estimate.low is None:
        if found[0].looks < ENOUGH_LOOKS:
            return False
    elif estimate.low <= 0:
        return False
    freed = runtime.startswith(_FREED_AT_ONCE)
    least, part = (LEAST_BYTES, LEAST_PART) if freed else (LEAST_BYTES_COLLECTED, LEAST_PART_COLLECTED)
    grown = statistics.median(each.total_bytes - max(least, part * each.begin_bytes) for each in found)
    steady = sum(each.is_steady for each in found)
    return grown >= 0 and steady > len(found) / 2
