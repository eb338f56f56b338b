"""Merging is exact, figures agree with the definition, and damage is a sentence."""

from __future__ import annotations

import base64
import functools
import itertools
import math
import random
import zlib
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from webdyno.histogram import Histogram, counted, decode, encode, merge, pack
from webdyno.model.errors import UsageError

HIGHEST = 3_600_000_000_000
VALUES = some.lists(some.integers(1, HIGHEST), max_size=40)


def encoded(values: list[int]) -> str:
    return encode(Counter(values))


def merged(*parts: list[int]) -> Histogram:
    found = merge(encoded(part) for part in parts)
    assert found is not None
    return found


@given(some.lists(VALUES, min_size=1, max_size=5))
def test_merging_parts_is_exactly_one_histogram_of_all(parts: list[list[int]]) -> None:
    whole = merged([value for part in parts for value in part])
    assert merged(*parts).counts() == whole.counts()


@pytest.mark.slow
@given(VALUES, VALUES, VALUES)
def test_merging_is_associative_and_order_does_not_matter(one: list[int], two: list[int], three: list[int]) -> None:
    left = merge([merged(one, two).encode(), encoded(three)])
    right = merge([encoded(one), merged(three, two).encode()])
    assert left is not None
    assert right is not None
    assert left.counts() == right.counts()


@given(VALUES.filter(bool))
def test_encoding_loses_nothing(values: list[int]) -> None:
    once = merged(values)
    assert counted(once.encode()).counts.tolist() == [count for _, count in once.counts()]
    again = merge([once.encode()])
    assert again is not None
    assert again.counts() == once.counts()


@pytest.mark.slow
@settings(max_examples=30)
@given(values=some.dictionaries(some.integers(0, HIGHEST), some.integers(1, 1 << 40), max_size=40))
def test_the_package_hdrhistogram_reads_what_is_written_here_and_writes_what_is_read_here(
    values: dict[int, int], hdrhistogram: Any
) -> None:
    theirs = hdrhistogram(1, HIGHEST, 3)
    for value, times in values.items():
        theirs.record_value(value, times)
    assert hdrhistogram.decode(encode(values)).equals(theirs)
    assert decode(theirs.encode().decode()).counts() == decode(encode(values)).counts()


@pytest.mark.parametrize("of", [(1, 10_000, 1), (1000, 60_000_000, 2), (3, 7_000_000, 3)])
def test_histograms_of_other_settings_than_the_engines_are_read_as_that_package_reads_them(
    of: tuple[int, int, int], hdrhistogram: Any
) -> None:
    chance, theirs = random.Random(2), hdrhistogram(*of)
    for _ in range(60):
        theirs.record_value(chance.randrange(of[1]), chance.randrange(1, 9))
    ours = decode(theirs.encode().decode())
    counts = theirs.counts[: theirs.counts_len]
    there = [(theirs.get_value_from_index(at), count) for at, count in enumerate(counts) if count]
    assert ours.counts() == there
    assert ours.max == theirs.get_max_value()
    assert hdrhistogram.decode(ours.encode()).equals(theirs)


@given(VALUES.filter(bool), some.floats(0, 100))
def test_percentile_is_within_a_thousandth_of_the_nearest_rank(values: list[int], percent: float) -> None:
    rank = max(1, math.ceil(math.nextafter(percent, -math.inf) * len(values) / 100))
    exact = sorted(values)[rank - 1]
    found = merged(values).percentile(percent)
    assert found is not None
    assert exact <= found <= exact * 1.001 + 1


@given(VALUES.filter(bool))
def test_mean_spread_and_ends_are_within_a_thousandth(values: list[int]) -> None:
    found = merged(values)
    mean = math.fsum(values) / len(values)
    stdev = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    assert found.count == len(values)
    assert found.mean == pytest.approx(mean, rel=1e-3, abs=1)
    assert found.stdev == pytest.approx(stdev, rel=1e-3, abs=1e-3 * max(values) + 1)
    assert found.min == pytest.approx(min(values), rel=1e-3)
    assert found.max == pytest.approx(max(values), rel=1e-3)


def test_percentile_does_not_round_up_to_the_next_value() -> None:
    found = merged([*range(1, 1001)])
    assert found.percentile(99.9) == 999
    assert found.percentile(50) == 500
    assert found.percentile(100) == 1000
    assert found.percentile(0) == 1


def test_histogram_of_nothing_has_no_figures() -> None:
    found = merged([])
    assert found.count == 0
    assert (found.min, found.max, found.mean, found.stdev, found.percentile(50)) == (None,) * 5


def test_no_histograms_are_none() -> None:
    assert merge([]) is None


@pytest.mark.parametrize("percent", [-1, 100.1, math.nan])
def test_percentile_outside_its_range_is_refused(percent: float) -> None:
    with pytest.raises(ValueError, match="is not a percentile: give a number from 0 to 100"):
        merged([1]).percentile(percent)


def test_histograms_of_other_settings_are_not_rebucketed() -> None:
    with pytest.raises(UsageError, match="different settings cannot be merged without loss"):
        merge([encoded([1]), pack((1, 10_000, 3), {1: 1})])


@functools.cache
def good() -> bytes:
    return base64.b64decode(encoded([10, 20, 1_000_000]))


def text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


BOMB = good()[:8] + zlib.compress(b"\0" * 40_000_000)


@pytest.mark.parametrize(
    "damaged",
    [
        "",
        "HISTF",
        "not base64 at all!",
        text(b"\0" * 40),
        text(good()[:4]),
        text(good()[:-6]),  # cut
        text(good() + b"more"),  # longer than its header says
        text(b"\0\0\0\0" + good()[4:]),  # another cookie
        text(BOMB),
        text(good()[:8] + zlib.compress(b"\x1c\x84\x93\x13" + b"\xff" * 60)),  # senseless settings
    ],
)
def test_damage_is_one_clear_sentence(damaged: str) -> None:
    for read in (decode, counted):
        with pytest.raises(UsageError, match=r"a latency histogram is damaged .*use another copy"):
            read(damaged)


def test_any_flipped_byte_is_a_histogram_or_a_sentence() -> None:
    chance = random.Random(1)
    for _ in range(300):
        raw = bytearray(good())
        raw[chance.randrange(len(raw))] ^= chance.randrange(1, 256)
        try:
            merge([text(bytes(raw))])
        except UsageError as error:
            assert "damaged" in str(error)


def test_one_by_one_and_by_the_thousand_the_same_is_read_and_the_same_refused() -> None:
    raw = base64.b64decode(encode({10: 300, 20: 1, 1_000_000: 70_000}))
    whole = zlib.decompress(raw[8:])
    for at, flip in itertools.product(range(len(whole)), (0x01, 0x04, 0x80)):
        changed = bytearray(whole)
        changed[at] ^= flip
        packed = zlib.compress(bytes(changed))
        one = text(raw[:4] + len(packed).to_bytes(4, "big") + packed)
        try:
            found = counted(one)
        except UsageError:
            with pytest.raises(UsageError, match="damaged"):
                decode(one)
        else:
            assert [count for _, count in decode(one).counts()] == found.counts.tolist()


@pytest.mark.slow
@given(some.text(max_size=80))
def test_any_text_is_a_histogram_or_a_sentence(anything: str) -> None:
    with pytest.raises(UsageError, match="damaged"):
        decode(anything)


def test_counted_values_become_what_the_engine_would_have_written() -> None:
    histogram = decode(encode({0: 1, 1_000: 2, 2_000_000: 1}))
    assert (histogram.count, histogram.min) == (4, 0)
    assert histogram.percentile(50) == pytest.approx(1_000, rel=1e-3)
    assert histogram.max == pytest.approx(2_000_000, rel=1e-3)


def test_a_value_beyond_the_highest_is_the_highest() -> None:
    assert decode(encode({10**13: 1})).max == pytest.approx(3.6e12, rel=1e-3)
