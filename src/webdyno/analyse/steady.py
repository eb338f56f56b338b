"""Steady: where the warm-up of one Run ends, found in its course instead of taken from the study.

A JIT, a pool that fills, a cache: how long they take is a fact about the contender. The rates of a Run's Slices,
warm-up phase included, are cut where their level changes (least squares, and a price for each change). The
Run is steady from the first stretch on after which at most a fourth lies on another level than the longest stretch of
its second half; levels within 3 %, or within the noise, are one. A second rule that knows no stretches checks it:
MSER cuts where the standard error of the mean of what remains is least. The first is the answer; where it leaves less
than half of the steady phase (a saw-tooth of a garbage collector, a neighbour's burst near the end), the second is;
where that too leaves less, the Run never settled, and its figures are of the whole phase.

Where answers decided on the warm-up, it was given in stretches before the driver began. These are no such Slices: they
are longer, and on connections of their own. They only say since when a rate was reached that was there from the first
Slice on.

What is cut off is never less than the study's own warm-up. Fewer than eight whole Slices say nothing about levels:
then the study's warm-up stands alone. So it does where the rate is the schedule's and not the server's.

B. Jackson et al. (2005), An algorithm for optimal partitioning of data on an interval. IEEE Signal Processing Letters
12. R. Killick, P. Fearnhead, I. A. Eckley (2012), Optimal detection of changepoints with a linear computational cost.
JASA 107 (PELT, which finds the same). E. Barrett et al. (2017), Virtual machine warmup blows hot and cold. OOPSLA.
K. P. White (1997), An effective truncation heuristic for bias reduction in simulation output. Simulation 69 (MSER; a
Slice is its batch here).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webdyno.model.run import Run
from webdyno.model.sample import Phase, Slice

ENOUGH = 8
"""Whole Slices needed to speak of levels."""
SAME = 0.03
"""Levels nearer than this are one."""
SHORTEST = 2
"""Slices of a level: a single one that is far off is a disturbance."""
REACHED = 0.95
DISTURBED = 0.25
"""Share of the rest that may lie on another level: a neighbour's burst passes, and the level is there again."""
PENALTY = 8.0
"""Per change, in units of the noise's variance times log n: seconds of a server hang together (AR(1), up to 0.8), and
neighbours then differ less than their level wanders; 2 would be right for independent ones."""
SURE = 4.0
"""Standard errors that a level must be away to be another one; for the same reason not 2."""
Vector = NDArray[np.floating]
_PHASE = attrgetter("phase")


@dataclass(frozen=True, slots=True)
class Course:
    """What the Slices of one Run say about its warm-up; times in ns from the start of the load."""

    read: bool
    """False: too few Slices, or a rate that is not the server's; then nothing else is known."""
    settled: bool = False
    settled_ns: int | None = None
    to_95_ns: int | None = None
    levels_ns: int | None = None
    """Where change points alone put the start of the steady state."""
    mser_ns: int | None = None
    """Where MSER puts it."""


class _Part(NamedTuple):
    """What matters here of a Slice."""

    phase: Phase
    duration_ns: int
    ok: int


class _Stretch(NamedTuple):
    """The same of one that was given before the driver began."""

    duration_ns: int
    loaded_ns: int
    ok: int

    @property
    def rate_per_s(self) -> float:
        return self.ok * 1e9 / max(self.loaded_ns, 1)


def course(run: Run) -> Course:
    """The warm-up of one Run, as its Slices show it."""
    in_turns = "turn" in map(_PHASE, run.slices)  # of which each is a load of its own
    if len(run.slices) < ENOUGH or run.trial.load.pace != "closed" or in_turns:
        return Course(read=False)
    stretches = tuple(_Stretch(one.duration_ns, one.loaded_ns, one.ok) for one in run.slices if one.is_stretch)
    parts = (_Part(one.phase, one.duration_ns, one.ok) for one in run.slices if not one.is_stretch)
    return _course(tuple(parts), stretches)


@lru_cache(maxsize=8192)
def _course(parts: tuple[_Part, ...], stretches: tuple[_Stretch, ...] = ()) -> Course:
    """Kept, because figures, warm-ups, doubts and every look of a race ask again for the same Runs."""
    starts, slices = _whole(parts, sum(stretch.duration_ns for stretch in stretches))
    rates = np.array([slice_.ok / slice_.duration_ns * 1e9 for slice_ in slices])
    if len(slices) < ENOUGH or not rates.all():
        return Course(read=False)
    planned = sum(slice_.phase == "warmup" for slice_ in slices)
    if planned == len(slices):  # interrupted before it began
        return Course(read=False)
    latest = planned + (len(slices) - planned) // 2
    logs = np.log(rates)
    levels, least_error = level_begin(logs), mser(logs)
    begin = levels if levels <= latest else least_error
    settled = begin <= latest
    steady = float(rates[max(begin, planned) if settled else planned :].mean())
    early_ns = _reached(stretches, steady)
    return Course(
        read=True,
        settled=settled,
        settled_ns=(starts[begin] if begin else _since(stretches, steady)) if settled else None,
        to_95_ns=starts[int(np.argmax(rates >= REACHED * steady))] if early_ns is None else early_ns,
        levels_ns=starts[levels],
        mser_ns=starts[least_error],
    )


def _since(stretches: Sequence[_Stretch], rate_per_s: float) -> int:
    """When they came to that rate to stay, in ns; their end where they never did."""
    kept = list(stretches)
    while kept and REACHED <= kept[-1].rate_per_s / rate_per_s <= 1 / REACHED:
        kept.pop()
    return sum(stretch.duration_ns for stretch in kept)


def _reached(stretches: Sequence[_Stretch], rate_per_s: float) -> int | None:
    """When the first of them began that had that rate, nearly; None: none had."""
    passed = 0
    for stretch in stretches:
        if stretch.rate_per_s >= REACHED * rate_per_s:
            return passed
        passed += stretch.duration_ns
    return None


def steady_slices(run: Run) -> list[Slice]:
    """The Slices that figures are made from: the steady phase, without what the contender still took to settle."""
    phase = [slice_ for slice_ in run.slices if slice_.phase == "steady"]
    settled_ns = course(run).settled_ns
    if settled_ns is None:
        return phase
    passed, kept = sum(slice_.duration_ns for slice_ in run.slices if slice_.phase == "warmup"), []
    for slice_ in phase:
        if passed >= settled_ns:
            kept.append(slice_)
        passed += slice_.duration_ns
    return kept or phase


def level_begin(logs: Vector) -> int:
    """Index from which on the level stays; ``logs`` of rates, evenly spaced in time. ``len(logs)``: it never does.

    The level is that of the longest stretch of the second half, the later of two like ones.
    """
    ends = _changes(logs)
    spans = list(pairwise([0, *ends]))
    half = len(logs) // 2
    low, high = max(spans, key=lambda span: (span[1] - max(span[0], half), span[1]))
    level = logs[low:high]
    other = [not _alike(logs[a:b], level, _noise(logs)) for a, b in spans]
    strange = [(b - a) * differs for (a, b), differs in zip(spans, other, strict=True)]
    for at, (begin, _) in enumerate(spans):
        if not other[at] and sum(strange[at:]) <= DISTURBED * (len(logs) - begin):
            return begin
    return len(logs)


def _alike(some: Vector, level: Vector, noise: float) -> bool:
    error: float = noise * math.sqrt(1 / len(some) + 1 / len(level))
    return abs(float(some.mean()) - float(level.mean())) <= max(SAME, SURE * error)


def mser(values: Vector) -> int:
    """Index at which the standard error of the mean of what remains is least; ``len(values)`` when that is never.

    Beyond the half, too little remains for its error to be believed (White 1997): a least one there is none.
    """
    number = len(values)
    errors = [float(values[at:].var()) / (number - at) for at in range(max(number - 2, 1))]
    best = int(np.argmin(errors))
    return best if best <= number // 2 else number


def _changes(logs: Vector) -> list[int]:
    """Where levels end, the last being the end of all: the cuts of least squared error, when each has its price.

    Optimal partitioning: for each end the start of its level that costs least. PELT prunes starts, which is worth its
    bookkeeping only beyond some thousand Slices.
    """
    number = len(logs)
    sums = np.concatenate([[0.0], np.cumsum((logs - logs.mean()) / _noise(logs))])
    lengths = np.arange(number, SHORTEST - 1, -1.0)
    costs, begins = np.full(number + 1, np.inf), [0] * (number + 1)
    costs[0] = 0.0  # squared errors less the sum of all squares, which no cut changes
    for end in range(SHORTEST, number + 1):
        last = end - SHORTEST + 1
        with_begin = costs[:last] - (sums[end] - sums[:last]) ** 2 / lengths[number - end :]
        begins[end] = int(with_begin.argmin())
        costs[end] = with_begin[begins[end]] + PENALTY * math.log(number)
    ends = [number]
    while begins[ends[-1]]:
        ends.append(begins[ends[-1]])
    return ends[::-1]


def _noise(logs: Vector) -> float:
    """Standard deviation of one Slice around its level, from neighbours' differences, which no level change sways.

    1.4826 times the median absolute deviation is the standard deviation of normal noise. Never taken for less than a
    fourth of ``SAME``: a server without noise would else have a level for every hair.
    """
    return float(max(1.4826 * np.median(np.abs(np.diff(logs))) / 2**0.5, SAME / 4))


def _whole(slices: Sequence[_Part], passed_ns: int) -> tuple[list[int], list[_Part]]:
    """Slices and when they begin, without those cut short by the end of a phase: they are noisier than the rest.

    The end of all stands behind the last begin; the first one's is ``passed_ns``.
    """
    ends = list(accumulate((slice_.duration_ns for slice_ in slices), initial=passed_ns))
    longest = max((slice_.duration_ns for slice_ in slices), default=0)
    kept = [at for at, slice_ in enumerate(slices) if slice_.duration_ns >= longest / 2 and slice_.duration_ns > 0]
    return [ends[at] for at in kept] + ends[-1:], [slices[at] for at in kept]
