"""Latency: the histograms of several Slices added up exactly, and what is asked of the sum.

Percentiles cannot be averaged, histograms can be added; so a figure over a window always comes from the added counts.
Decoding is hdrhistogram's, the arithmetic numpy's: asking hdrhistogram itself walks its 34,000 counters in Python.

Gil Tene, HdrHistogram: a recorded value stands for its bucket; percentiles report the highest value of the bucket
(never less than the truth), the mean its middle.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webdyno.histogram import unpack
from webdyno.model.errors import UsageError

PERCENTILES = {"p50": 0.5, "p66": 0.66, "p75": 0.75, "p80": 0.8, "p90": 0.9, "p95": 0.95, "p98": 0.98, "p99": 0.99}
"""The percentiles that figures may be about: those of ab's table, which gives the longest time besides."""


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


def merge(blobs: Iterable[str]) -> Latency | None:
    """Sum of HdrHistograms (V2, DEFLATE, base64); None when there is nothing in them.

    UsageError when one is damaged, or of another layout than the rest: re-bucketing would move values.
    """
    total: NDArray[np.int64] | None = None
    layout: Any = None
    for blob in blobs:
        histogram = unpack(blob)
        counts = np.frombuffer(histogram.counts, dtype=np.int64)
        if total is None:
            total, layout = counts.copy(), histogram
        elif _shape(histogram) != _shape(layout):
            raise UsageError("histograms of different layouts cannot be added; analyse these results apart")
        else:
            total += counts
    if total is None or not total.any():
        return None
    return _latency(layout, total)


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


def _shape(histogram: Any) -> tuple[int, int, int]:
    return histogram.bucket_count, histogram.sub_bucket_count, histogram.unit_magnitude


def _latency(layout: Any, counts: NDArray[np.int64]) -> Latency:
    """The value behind each counter: index = bucket and sub-bucket, as HdrHistogram lays them out."""
    index = np.flatnonzero(counts)
    half = layout.sub_bucket_half_count
    bucket = np.maximum((index // half) - 1, 0)
    sub_bucket = index - bucket * half
    lowest = (sub_bucket << (bucket + layout.unit_magnitude)).astype(np.float64)
    width = np.ldexp(1.0, bucket + layout.unit_magnitude)
    return Latency(middle_ns=lowest + np.floor(width / 2), highest_ns=lowest + width - 1, counts=counts[index])
