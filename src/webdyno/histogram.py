"""Histogram: latency as it was counted, merged without loss, in the texts that HdrHistogram's implementations exchange.

Slices carry HdrHistograms as text (V2, DEFLATE, base64). Their buckets are fixed by three settings, so adding the
counts of two that agree in them gives exactly what one histogram of all values would hold; percentiles of percentiles
are never taken. What is refused: text that is no histogram, and merging histograms of different settings, because
re-bucketing would move values. A text may come from a file that somebody mailed: what would take more room than its
length is worth is refused before room is made for it.

A bucket stands for a range of values. As in HdrHistogram's other implementations a percentile and ``max`` are the
highest value of their bucket, ``min`` is the lowest, and ``mean`` and ``stdev`` take the middle.

The texts are read and written here because the package ``hdrhistogram`` has no wheel for ARM64, where
installing webdyno would take a C compiler. The tests compare the two.
"""

from __future__ import annotations

import base64
import bisect
import itertools
import math
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from webdyno.model.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

_HEADER_BYTES = 8
_SETTINGS = struct.Struct(">4xIIIQQd")
"""Of the unpacked text: length of what follows, offset, digits, lowest and highest value, ratio to doubles."""
_WORD, _NO_SIZE, _COOKIES = 0x10, ~0xF0, [0x1C849304, 0x1C849303]
"""What the whole begins with, and what was packed, but for the size of a word, which V2 does not use."""
_MOST_DIGITS, _MOST_HIGHEST = 3, 1 << 42
"""The analysis keeps each value that can be kept apart: 35,000 of them, half a megabyte. 2^42 ns are 73 minutes."""
_MOST_BYTES, _BEYOND_COUNTING = 6, re.compile(rb"[\x80-\xff]{6}")
"""A count has seven bits in each byte, the last of which is below 0x80; two million millions need no seventh byte."""
_TOO_MANY, _TOO_LONG = "it counts more than there can be", "it has more counts than its settings"
_CUT = "its last count is cut"
_SMALL_BYTES, _MOST_PACKED = 4096, 16
"""A text unpacks to no more than the one, or than its own length times the other; latencies pack to a third."""
_MORE = 0x80
"""In a byte of a count: it goes on in the next."""
_ENGINE = (1, 3_600_000_000_000, 3)
"""Lowest and highest value in ns, and digits, of the engine's histograms (docs/reference/engine-protocol.md)."""
Settings = tuple[int, int, int]
"""Lowest value, highest value, digits: what two must agree in to be added."""


class Counted(NamedTuple):
    """A histogram by its places that counted something."""

    settings: Settings
    places: Integers
    counts: Integers


class Layout(NamedTuple):
    """How HdrHistogram lays its counters out."""

    half: int
    magnitude: int
    counters: int


class Histogram:
    """Counted values, read only. Times are in nanoseconds, because the Slices' are."""

    def __init__(self, settings: Settings, counters: Mapping[int, int]) -> None:
        """``counters``: counts by place; ``decode`` and ``merge`` are the ways to make one."""
        self._settings = settings
        self._counters = dict(sorted(counters.items()))
        self._values = [_lowest(place, settings) for place in self._counters]
        self._counts = list(self._counters.values())
        self._up_to = list(itertools.accumulate(self._counts))

    @property
    def count(self) -> int:
        """How many values."""
        return self._up_to[-1] if self._up_to else 0

    @property
    def min(self) -> int | None:
        """Lowest value; None when there is none, as for all figures here."""
        return self._values[0] if self._values else None

    @property
    def max(self) -> int | None:
        """Highest value."""
        return self._highest(self._values[-1]) if self._values else None

    @property
    def mean(self) -> float | None:
        """Arithmetic mean."""
        if not self._values:
            return None
        return math.fsum(middle * count for middle, count in self._middles) / self.count

    @property
    def stdev(self) -> float | None:
        """Standard deviation of the values counted (not an estimate for more of their kind)."""
        mean = self.mean
        if mean is None:
            return None
        return math.sqrt(math.fsum((middle - mean) ** 2 * count for middle, count in self._middles) / self.count)

    def percentile(self, percent: float) -> int | None:
        """The lowest value that at least ``percent`` of all values do not exceed."""
        if not 0 <= percent <= 100:
            raise ValueError(f"{percent} is not a percentile: give a number from 0 to 100")
        if not self._values:
            return None
        # a hair less, so that 99.9 / 100 * 1000 asks for the 999th value and not, by rounding, for the 1000th
        rank = max(1, math.ceil(math.nextafter(percent, -math.inf) * self.count / 100))
        return self._highest(self._values[bisect.bisect_left(self._up_to, rank)])

    def counts(self) -> list[tuple[int, int]]:
        """Every bucket that counted something: its lowest value and its count."""
        return list(zip(self._values, self._counts, strict=True))

    def encode(self) -> str:
        """As Slices and histogram logs carry it."""
        return pack(self._settings, self._counters)

    def _highest(self, value: int) -> int:
        return value + (1 << _shift(value, self._settings)) - 1

    @cached_property
    def _middles(self) -> list[tuple[float, int]]:
        return [((value + self._highest(value)) / 2, count) for value, count in self.counts()]


def decode(text: str) -> Histogram:
    """One histogram alone; UsageError when it is damaged."""
    return Histogram(*unpack(text))


def encode(counted: Mapping[int, int]) -> str:
    """Values in ns, each with how often it came, as a text in the settings the engine uses; for drivers that log."""
    counters: Counter[int] = Counter()
    for value, times in counted.items():
        counters[_place(min(value, _ENGINE[1]), _ENGINE)] += times
    return pack(_ENGINE, counters)


def merge(texts: Iterable[str]) -> Histogram | None:
    """All histograms as one; None when there are none. UsageError when one is damaged or of other settings."""
    merged: tuple[Settings, Counter[int]] | None = None
    for text in texts:
        settings, counters = unpack(text)
        if merged is None:
            merged = settings, Counter(counters)
        elif settings != merged[0]:
            raise UsageError(
                f"histograms of different settings cannot be merged without loss: {merged[0]} and "
                f"{settings} (lowest value, highest value, digits); analyse these results apart"
            )
        else:
            merged[1].update(counters)
    return None if merged is None else Histogram(*merged)


# Texts, one by one: without numpy, which takes a tenth of a second to import, and which a load by hand does not need


def unpack(text: str) -> tuple[Settings, dict[int, int]]:
    """Settings, and the counts that are not zero by their places; UsageError when the text is damaged.

    Every way the bytes can be wrong ends in one sentence: nobody can repair a histogram by its error's detail.
    """
    try:
        settings, packed = _opened(text)
        counters: dict[int, int] = {}
        place = 0
        for number in _numbers(packed):
            if number & 1:  # below zero: as many zeros
                place += (number >> 1) + 1
                continue
            if number:
                counters[place] = number >> 1
            place += 1
        if place > layout(settings).counters:
            raise ValueError(_TOO_LONG)
    except Exception as error:  # what base64, zlib, struct and the checks happen to raise
        raise damaged(text, error) from None
    return settings, counters


def pack(settings: Settings, counters: Mapping[int, int]) -> str:
    """The text of these counts by place."""
    lowest, highest, digits = settings
    packed, place = bytearray(), 0
    for there, count in sorted(counters.items()):
        if count:
            if there > place:
                _append(packed, 2 * (there - place) - 1)
            _append(packed, 2 * count)
            place = there + 1
    packed = packed or bytearray(1)  # a histogram of nothing has one zero
    outer, inner = ((cookie | _WORD).to_bytes(4, "big") for cookie in _COOKIES)
    head = _SETTINGS.pack(len(packed), 0, digits, lowest, highest, 1.0)[4:]
    whole = zlib.compress(inner + head + packed)
    return base64.b64encode(outer + len(whole).to_bytes(4, "big") + whole).decode("ascii")


def _opened(text: str) -> tuple[Settings, bytes]:
    """Settings of a text, and its counts as they are packed; any error where it is no histogram."""
    raw = base64.b64decode(text, validate=True)
    whole = _weighed(raw)
    if [int.from_bytes(each[:4], "big") & _NO_SIZE for each in (raw, whole)] != _COOKIES:
        raise ValueError("no histogram")
    if int.from_bytes(raw[4:_HEADER_BYTES], "big") != len(raw) - _HEADER_BYTES:
        raise ValueError("its length is wrong")
    _, _, digits, lowest, highest, _ = _SETTINGS.unpack_from(whole)
    return (lowest, highest, digits), whole[_SETTINGS.size :]


def _numbers(packed: bytes) -> Iterator[int]:
    """What ``_varints`` gives, one by one."""
    if _BEYOND_COUNTING.search(packed):
        raise ValueError(_TOO_MANY)
    if packed and packed[-1] & _MORE:
        raise ValueError(_CUT)
    number = shift = 0
    for byte in packed:
        number |= (byte & ~_MORE) << shift
        shift += 7
        if byte < _MORE:
            yield number
            number = shift = 0


def _append(packed: bytearray, number: int) -> None:
    """Seven bits in each byte, the lowest first."""
    while number >= _MORE:
        packed.append(number & (_MORE - 1) | _MORE)
        number >>= 7
    packed.append(number)


def _place(value: int, settings: Settings) -> int:
    shift = _shift(value, settings)
    return (shift - layout(settings).magnitude) * layout(settings).half + (value >> shift)


def _lowest(place: int, settings: Settings) -> int:
    """Value from which on a place counts."""
    half, magnitude, _ = layout(settings)
    bucket = max(place // half - 1, 0)
    return place - bucket * half << bucket + magnitude


def _shift(value: int, settings: Settings) -> int:
    """How many of its lowest bits a histogram does not keep of a value."""
    half, magnitude, _ = layout(settings)
    return magnitude + max((value >> magnitude).bit_length() - half.bit_length(), 0)


# Texts, by the thousand


def counted(text: str) -> Counted:
    """What was counted; UsageError when the text is damaged, or when a count has no place.

    Of 35,000 counters a few hundred counted something: only these are made room for.
    """
    import numpy as np  # a tenth of a second, and a load by hand needs none of it

    settings, coded, steps = _coded(text)
    there = np.flatnonzero((coded >> 1) & ((coded & 1) - 1))
    return Counted(settings, steps.cumsum()[there] - 1, coded[there] >> 1)


def checked(text: str) -> Settings:
    """The settings of a text that ``counted`` reads; UsageError where it does not."""
    return _coded(text)[0]


def _coded(text: str) -> tuple[Settings, Integers, Integers]:
    """Settings, the counts as they are coded, and how many places each takes."""
    try:
        settings, packed = _opened(text)
        coded = _varints(packed)
    except Exception as error:
        raise damaged(text, error) from None
    steps = (coded & 1) * (coded >> 1) + 1  # below zero: as many zeros
    most = layout(settings).counters
    if len(steps) and (steps.max() > most or steps.sum() > most):  # the sum of many large ones would begin anew
        raise damaged(text, ValueError(_TOO_LONG))
    return settings, coded, steps


def _varints(packed: bytes) -> Integers:
    """As zigzag has them: seven bits in each byte, the last of a number below 0x80. Nearly all are one byte.

    Bits are masked and nothing is divided: each Run has some thousand of them, and is read twice.
    """
    import numpy as np

    raw = np.frombuffer(packed, dtype=np.uint8)
    ends = np.flatnonzero(raw < _MORE)
    if len(ends) == len(raw):
        return raw.astype(np.int64)
    if not len(ends) or ends[-1] != len(raw) - 1:
        raise ValueError(_CUT)
    starts = np.zeros_like(ends)
    np.add(ends[:-1], 1, out=starts[1:])
    found: Integers = (raw & (_MORE - 1))[starts].astype(np.int64)
    longer, byte = np.flatnonzero(ends != starts), 1
    while len(longer):
        if byte == _MOST_BYTES:
            raise ValueError(_TOO_MANY)
        at = starts[longer] + byte
        found[longer] |= (raw[at] & (_MORE - 1)).astype(np.int64) << 7 * byte
        longer, byte = longer[ends[longer] > at], byte + 1
    return found


@lru_cache(maxsize=64)
def layout(settings: Settings) -> Layout:
    """That of a histogram's settings."""
    lowest, highest, digits = settings
    half = 1 << max(math.ceil(math.log2(2 * 10**digits)) - 1, 0)
    magnitude = lowest.bit_length() - 1
    buckets, untrackable = 1, 2 * half << magnitude
    while untrackable <= highest:
        buckets, untrackable = buckets + 1, untrackable << 1
    return Layout(half, magnitude, (buckets + 1) * half)


def damaged(text: str, error: Exception) -> UsageError:
    """What is said of a text that is no histogram."""
    return UsageError(
        f"a latency histogram is damaged ({type(error).__name__}: {error}), it begins with {text[:24]!r}: "
        "the results were changed or cut after they were written; use another copy"
    )


def _weighed(raw: bytes) -> bytes:
    """Unpacked; refuse what takes more room than any histogram needs, before room is made for it."""
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(raw[_HEADER_BYTES:], max(_SMALL_BYTES, _MOST_PACKED * len(raw)))
    if not unpacker.eof:
        raise ValueError("cut, or far too large")
    length, offset, digits, lowest, highest, _ = _SETTINGS.unpack_from(unpacked)
    if length != len(unpacked) - _SETTINGS.size:
        raise ValueError("its length is wrong")
    if offset or not 1 <= digits <= _MOST_DIGITS or not 1 <= lowest < highest <= _MOST_HIGHEST:
        raise ValueError(f"no settings for latencies: {digits} digits from {lowest} to {highest}")
    return unpacked
