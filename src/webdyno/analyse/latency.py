"""Latency: the histograms of several Slices added up exactly, and what is asked of the sum.

Percentiles cannot be averaged, histograms can be added; so a figure over a window always comes from the added counts.
All of it is numpy's: a histogram has 34,000 counters, of which a few hundred counted something.

Gil Tene, HdrHistogram: a recorded value stands for its bucket; percentiles report the highest value of the bucket
(never less than the truth), the mean its middle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from webdyno.histogram import Settings, counted, layout
from webdyno.model.errors import UsageError

Integers = NDArray[np.int64]
PERCENTILES = {"p50": 0.5, "p66": 0.66, "p75": 0.75, "p80": 0.8, "p90": 0.9, "p95": 0.95, "p98": 0.98, "p99": 0.99}
"""The percentiles that figures may be about: those of ab's table, which gives the longest time besides."""


@dataclass(frozen=True)
class Latency:
    """Counts by value in ns, ascending, only where the count is not zero."""

    middle_ns: NDArray[np.float64]
    highest_ns: NDArray[np.float64]
    counts: Integers

    @cached_property
    def count(self) -> int:
        """Number of recorded values."""
        return int(self.counts.sum())

    @cached_property
    def mean_ns(self) -> float:
        """Arithmetic mean."""
        return float(self.middle_ns @ self.counts / self.count)

    @property
    def stdev_ns(self) -> float:
        """Standard deviation of all recorded values."""
        return math.sqrt((self.middle_ns - self.mean_ns) ** 2 @ self.counts / self.count)

    @property
    def max_ns(self) -> float:
        """Highest value of the last bucket."""
        return float(self.highest_ns[-1])

    def percentiles_ns(self, shares: Iterable[float]) -> list[float]:
        """Smallest values that ``shares`` (0 to 1) of all values do not exceed."""
        reached = np.cumsum(self.counts)
        wanted = np.maximum(np.ceil(np.fromiter(shares, float) * reached[-1] - 1e-9), 1)
        at = np.minimum(np.searchsorted(reached, wanted), len(reached) - 1)
        return [float(value) for value in self.highest_ns[at]]

    def within(self, limits_ns: Iterable[float]) -> list[int]:
        """How many values certainly took at most each of these."""
        up_to = np.searchsorted(self.highest_ns, np.fromiter(limits_ns, float), side="right")
        return [int(number) for number in np.append(0, np.cumsum(self.counts))[up_to]]


def merge(blobs: Iterable[str]) -> Latency | None:
    """Sum of HdrHistograms (V2, DEFLATE, base64); None when there is nothing in them.

    UsageError when one is damaged, or of another layout than the rest: re-bucketing would move values.
    """
    return _merged(tuple(blobs))


@lru_cache(maxsize=2048)
def _merged(blobs: tuple[str, ...]) -> Latency | None:
    """Kept, some 7 KB each: what is said of a single Run and of its table is made of the same."""
    read = [counted(blob) for blob in blobs]
    if len({each.settings for each in read}) > 1:
        raise UsageError("histograms of different layouts cannot be added; analyse these results separately")
    if not any(len(each.places) for each in read):
        return None
    settings, places, counts = read[0]
    if len(read) > 1:
        places, where = np.unique(np.concatenate([each.places for each in read]), return_inverse=True)
        added = np.concatenate([each.counts for each in read])
        counts = np.zeros(len(places), dtype=np.int64)
        np.add.at(counts, where, added)
    return _latency(settings, places, counts)


def together(parts: Iterable[Latency]) -> Latency | None:
    """Sum of histograms that were decoded before, as of several rounds."""
    all_parts = list(parts)
    if not all_parts:
        return None
    highest, first, where = np.unique(
        np.concatenate([part.highest_ns for part in all_parts]), return_index=True, return_inverse=True
    )
    middle = np.concatenate([part.middle_ns for part in all_parts])[first]
    counts = np.zeros(len(highest), dtype=np.int64)
    np.add.at(counts, where, np.concatenate([part.counts for part in all_parts]))
    return Latency(middle_ns=middle, highest_ns=highest, counts=counts)


def _latency(settings: Settings, places: Integers, counts: Integers) -> Latency:
    middle, highest = _values(settings)
    return Latency(middle_ns=middle[places], highest_ns=highest[places], counts=counts)


@lru_cache(maxsize=8)
def _values(settings: Settings) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The middle and the highest value behind each counter: its place is made of a bucket and one within it.

    Half a megabyte; a file of somebody else's may name other settings in every Run.
    """
    laid = layout(settings)
    place = np.arange(laid.counters)
    bucket = np.maximum(place // laid.half - 1, 0)
    lowest = ((place - bucket * laid.half) << (bucket + laid.magnitude)).astype(np.float64)
    width = np.ldexp(1.0, bucket + laid.magnitude)
    return lowest + np.floor(width / 2), lowest + width - 1
