"""Capacity: the highest rate at which a server meets its objectives, searched by noisy bisection.

The history of trials is all there is: from it comes the rate to try next, or the answer. Nothing is remembered in
between, so a search can be told again, years later, from its Runs.

1. Bracket: double the rate while it is met; from a first rate that is missed go down by fourths.
2. Bisect: try the rate that, by all trials so far, is as likely above the capacity as below it. Stay at a rate until a
   sequential test of "it is met" decides (two more of one kind than of the other: odds of more than 30 to 1 where 85 %
   of the starts go one way) or five trials have not: then it lies so near the capacity that more there would tell
   little.
3. End when the interval is narrow enough, when time is up, or at the highest rate that can be offered.

R. Waeber, P. I. Frazier, S. G. Henderson (2013), Bisection search with noisy responses. SIAM Journal on Control and
Optimization 51; A. Wald (1945), Sequential tests of statistical hypotheses. Annals of Mathematical Statistics 16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from statistics import median
from typing import Literal

import msgspec

from webdyno.analyse.knee import Knee, fit_knee
from webdyno.analyse.threshold import Quantiles, Threshold, threshold
from webdyno.model.estimate import Estimate

LEAD = 2
"""More of one kind than of the other, from which a rate counts as met or missed."""
MOST_AT_A_RATE = 5
LEAST_TRIALS = 8
_UP, _DOWN = 2.0, 4.0

Result = Literal["met", "missed", "not-offered"]
"""not-offered: the load generator could not, which says nothing of the server."""
Ended = Literal["known", "not-known-yet", "never-met", "always-met"]


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """One trial: a fresh start of the server under one rate. Unknown is None."""

    rate_per_s: float
    result: Result
    missed: list[str] = []
    """A sentence for each objective that was missed."""
    ok_per_s: float = 0.0
    offered: float = 1.0
    """Share of the requests due that were sent."""
    p50_ns: float | None = None
    p99_ns: float | None = None
    error_ratio: float = 0.0
    cores: float | None = None
    """Cores' worth of CPU the server used."""
    memory_bytes: int | None = None


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """Where to begin, how far to go, and how sure to be."""

    first_per_s: float = 100.0
    lowest_per_s: float = 1.0
    highest_per_s: float = 1e6
    precision: float = 0.05
    """Half the length of the interval, as a part of the rate, that ends the search."""
    most_trials: int = 60


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """All trials at one rate: a point of the curve of latency against rate."""

    rate_per_s: float
    trials: int
    met: int
    ok_per_s: float
    p50_ns: float | None
    p99_ns: float | None
    error_ratio: float
    cores: float | None
    memory_bytes: float | None


class Capacity(msgspec.Struct, frozen=True, kw_only=True):
    """The answer."""

    ended: Ended
    rate: Estimate | None
    """The rate that half of all starts meet; None when it lies outside of what was tried."""
    nine_of_ten: Estimate | None
    """The rate that nine of ten starts meet."""
    at_least_per_s: float | None
    """The highest rate that was met, where none was missed."""
    per_core: Estimate | None
    """Correct answers per second and core's worth of CPU used, at rates from half the capacity up to it."""
    per_gb: Estimate | None
    """The capacity by the GB (10**9 bytes) of memory used there."""
    knee: Knee | None
    curve: list[Point]
    trials: int


def next_rate(tried: Sequence[Tried], search: Search) -> float | None:
    """The rate to try next; None when the search is over."""
    if not tried:
        return min(search.first_per_s, search.highest_per_s)
    if len(tried) >= search.most_trials:
        return None
    highest = offerable(tried, search)
    told = [each for each in tried if each.result != "not-offered"]
    if not told:
        return _shorter(highest / _UP) if highest / _UP >= search.lowest_per_s else None
    last = told[-1].rate_per_s
    lead, here = _lead(told, last)
    if all(each.result == "met" for each in told):
        if last < highest:
            return min(last * _UP, highest)
        return None if lead >= LEAD else last
    if all(each.result == "missed" for each in told):
        if lead > -LEAD:
            return last
        return None if last <= search.lowest_per_s else max(_shorter(last / _DOWN), search.lowest_per_s)
    if abs(lead) < LEAD and here < MOST_AT_A_RATE:
        return last
    half = _known(told).half()
    if _is_known(half, told, search):
        return None
    return min(_shorter(half.middle), highest)


def offerable(tried: Sequence[Tried], search: Search) -> float:
    """The highest rate worth asking for: what could not be offered once is not asked for again."""
    failed = [each.rate_per_s for each in tried if each.result == "not-offered"]
    return min([search.highest_per_s, *(_shorter(rate * 0.9) for rate in failed)])


def capacity_of(tried: Sequence[Tried], search: Search) -> Capacity:
    """The answer, as far as these trials give one."""
    told = [each for each in tried if each.result != "not-offered"]
    results = {each.result for each in told}
    known = _known(told) if results == {"met", "missed"} else None
    half = None if known is None else known.half()
    ended: Ended = "not-known-yet"
    if half is not None:
        ended = "known" if _is_known(half, told, search) else ended
    elif told and next_rate(tried, search) is None and len(tried) < search.most_trials:
        ended = "always-met" if results == {"met"} else "never-met"
    below = [t for t in told if half and t.result == "met" and half.middle / 2 <= t.rate_per_s <= half.high]
    return Capacity(
        ended=ended,
        rate=_estimate(half, len(told)),
        nine_of_ten=None if known is None else _estimate(known.nine_of_ten(), len(told)),
        at_least_per_s=max((t.rate_per_s for t in told), default=None) if results == {"met"} else None,
        per_core=_mean(below, lambda t: t.ok_per_s / t.cores if t.cores else None, "per_core_s"),
        per_gb=None if half is None else _by_memory(below, half),
        knee=_knee(told, math.inf if half is None else half.middle),
        curve=list(_points(told)),
        trials=len(tried),
    )


def _known(told: Sequence[Tried]) -> Threshold:
    return threshold([each.rate_per_s for each in told], [each.result == "met" for each in told])


def _lead(told: Sequence[Tried], rate: float) -> tuple[int, int]:
    """How many more trials at ``rate`` met than missed, and how many there were."""
    here = [each.result == "met" for each in told if each.rate_per_s == rate]
    return 2 * sum(here) - len(here), len(here)


def _is_known(half: Quantiles, told: Sequence[Tried], search: Search) -> bool:
    return len(told) >= LEAST_TRIALS and (half.high - half.low) / 2 / half.middle <= search.precision


def _shorter(rate: float) -> float:
    """Three digits, as people would ask for it."""
    return round(rate, 2 - math.floor(math.log10(rate)))


def _estimate(found: Quantiles | None, trials: int) -> Estimate | None:
    if found is None:
        return None
    return Estimate(value=found.middle, low=found.low, high=found.high, rounds=trials, unit="per_s")


def _mean(tried: Sequence[Tried], figure: Callable[[Tried], float | None], unit: str) -> Estimate | None:
    """Mean of the logarithms over starts, with a t interval from two on."""
    from webdyno.analyse.estimate import fit

    cells = {("it", number): value for number, each in enumerate(tried) if (value := figure(each))}
    fitted = fit(cells)
    return None if fitted is None else fitted.estimate("it", unit)


def _by_memory(below: Sequence[Tried], half: Quantiles) -> Estimate | None:
    """The capacity by the GB; its interval is as wide as those of the memory and of the capacity make it together."""
    found = _mean(below, lambda t: half.middle * 1e9 / t.memory_bytes if t.memory_bytes else None, "per_s_per_gb")
    if found is None or found.low is None or found.high is None:
        return found
    low, high = found.low * half.low / half.middle, found.high * half.high / half.middle
    return msgspec.structs.replace(found, low=low, high=high)


def _knee(told: Sequence[Tried], capacity_per_s: float) -> Knee | None:
    """Only up to the capacity: past it, how long one has waited says how long the trial was."""
    kept = [(t.rate_per_s, t.p99_ns) for t in told if t.p99_ns and t.rate_per_s <= capacity_per_s]
    return fit_knee([rate for rate, _ in kept], [p99 for _, p99 in kept])


def _points(told: Sequence[Tried]) -> Iterator[Point]:
    ordered = sorted(told, key=lambda each: each.rate_per_s)
    for rate, group in groupby(ordered, key=lambda each: each.rate_per_s):
        here = list(group)
        yield Point(
            rate_per_s=rate,
            trials=len(here),
            met=sum(each.result == "met" for each in here),
            ok_per_s=median(each.ok_per_s for each in here),
            p50_ns=_middle([each.p50_ns for each in here]),
            p99_ns=_middle([each.p99_ns for each in here]),
            error_ratio=median(each.error_ratio for each in here),
            cores=_middle([each.cores for each in here]),
            memory_bytes=_middle([each.memory_bytes for each in here]),
        )


def _middle(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
