"""Latency: the histograms of several Slices added up exactly, and what is asked of the sum.

Percentiles cannot be averaged, histograms can be added; so a figure over a window always comes from the added counts.
All of it is numpy's: hdrhistogram has 34,000 counters for each, of which a few hundred counted something.

Gil Tene, HdrHistogram: a recorded value stands for its bucket; percentiles report the highest value of the bucket
(never less than the truth), the mean its middle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webdyno.histogram import damaged, packed
from webdyno.model.errors import UsageError

PERCENTILES = {"p50": 0.5, "p66": 0.66, "p75": 0.75, "p80": 0.8, "p90": 0.9, "p95": 0.95, "p98": 0.98, "p99": 0.99}
"""The percentiles that figures may be about: those of ab's table, which gives the longest time besides."""

_MORE = 0x80
"""In a byte of a count: it goes on in the next."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Counts by value in ns, ascending, only where the count is not zero."""

    middle_ns: NDArray[np.float64]
    highest_ns: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Number of recorded values."""
        return int(self.counts.sum())

    @property
    def mean_ns(self) -> float:
        """Arithmetic mean."""
        return float((self.middle_ns * self.counts).sum() / self.counts.sum())

    @property
    def stdev_ns(self) -> float:
        """Standard deviation of all recorded values."""
        return float(np.sqrt(((self.middle_ns - self.mean_ns) ** 2 * self.counts).sum() / self.counts.sum()))

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
    read = [_counted(blob) for blob in blobs]
    if len({layout for layout, _, _ in read}) > 1:
        raise UsageError("histograms of different layouts cannot be added; analyse these results separately")
    if not any(len(index) for _, index, _ in read):
        return None
    layout, index, counts = read[0]
    if len(read) > 1:
        index, where = np.unique(np.concatenate([each for _, each, _ in read]), return_inverse=True)
        added = np.concatenate([each for _, _, each in read])
        counts = np.zeros(len(index), dtype=np.int64)
        np.add.at(counts, where, added)
    return _latency(layout, index, counts)


def _counted(blob: str) -> tuple[_Layout, NDArray[np.intp], NDArray[np.int64]]:
    """Layout, and places with their counts where these are not zero. UsageError when it is damaged.

    Only what was counted is made room for; hdrhistogram's own makes 35,000 counters for each.
    """
    settings, packed_counts = packed(blob)
    layout = _layout(*settings)
    raw = np.frombuffer(packed_counts, dtype=np.uint8)
    ends = np.flatnonzero(raw < _MORE)
    if not len(raw):
        return layout, np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.int64)
    if not len(ends) or ends[-1] != len(raw) - 1:
        raise damaged(blob, ValueError("its last count is cut"))
    starts = np.append(0, ends[:-1] + 1)
    places = np.arange(len(raw)) - np.repeat(starts, ends - starts + 1)
    coded = np.add.reduceat((raw & (_MORE - 1)).astype(np.int64) << (7 * places), starts)
    values = (coded >> 1) ^ -(coded & 1)
    after = np.cumsum(np.where(values < 0, -values, 1))
    if after[-1] > layout.counters:
        raise damaged(blob, ValueError("it has more counts than its settings allow"))
    there = np.flatnonzero(values > 0)
    return layout, after[there] - 1, values[there]


class _Layout(NamedTuple):
    """How HdrHistogram lays its counters out."""

    half: int
    magnitude: int
    counters: int


@cache
def _layout(lowest: int, highest: int, digits: int) -> _Layout:
    half = 1 << max(math.ceil(math.log2(2 * 10**digits)) - 1, 0)
    magnitude = lowest.bit_length() - 1
    buckets, untrackable = 1, 2 * half << magnitude
    while untrackable <= highest:
        buckets, untrackable = buckets + 1, untrackable << 1
    return _Layout(half, magnitude, (buckets + 1) * half)


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


def _latency(layout: _Layout, index: NDArray[np.intp], counts: NDArray[np.int64]) -> Latency:
    """The value behind each counter: index = bucket and sub-bucket, as HdrHistogram lays them out."""
    bucket = np.maximum((index // layout.half) - 1, 0)
    sub_bucket = index - bucket * layout.half
    lowest = (sub_bucket << (bucket + layout.magnitude)).astype(np.float64)
    width = np.ldexp(1.0, bucket + layout.magnitude)
    return Latency(middle_ns=lowest + np.floor(width / 2), highest_ns=lowest + width - 1, counts=counts)
