"""Histograms are added exactly and asked for percentiles."""

import base64
import zlib
from typing import Any

import numpy as np
import pytest

from tests.analyse.fakes import histogram
from webdyno.analyse import latency
from webdyno.analyse.latency import merge, together
from webdyno.histogram import encode, pack
from webdyno.model.errors import UsageError


def test_agrees_with_hdrhistogram_on_every_question(hdrhistogram: Any) -> None:
    values = np.random.default_rng(1).lognormal(15, 1.2, 5_000)
    reference = hdrhistogram.decode(histogram(values))
    merged = merge([histogram(values)])
    assert merged is not None
    shares = [0.01, 0.5, 0.9, 0.99, 0.999, 1.0]
    assert merged.percentiles_ns(shares) == [reference.get_value_at_percentile(100 * share) for share in shares]
    assert merged.mean_ns == pytest.approx(reference.get_mean_value(), rel=1e-12)
    assert merged.count == 5_000


def test_values_recorded_by_hdrhistogram_itself_come_back(hdrhistogram: Any) -> None:
    recorded = hdrhistogram(1, 3_600_000_000_000, 3)
    for value in (1, 1023, 1024, 2047, 2048, 4095, 123_456_789, 3_500_000_000_000):
        recorded.record_value(value)
    merged = merge([recorded.encode().decode()])
    assert merged is not None
    assert list(merged.highest_ns[:5]) == [1, 1023, 1024, 2047, 2049]
    assert merged.max_ns == pytest.approx(3_500_000_000_000, rel=1e-3)


def test_adding_slices_equals_one_histogram_of_all() -> None:
    values = np.random.default_rng(2).lognormal(14, 0.8, 3_000)
    apart = merge([histogram(part) for part in np.array_split(values, 3)])
    together = merge([histogram(values)])
    assert apart is not None
    assert together is not None
    assert apart.percentiles_ns([0.5, 0.99]) == together.percentiles_ns([0.5, 0.99])
    assert apart.count == together.count


def test_nothing_recorded_is_none() -> None:
    assert merge([]) is None
    assert merge([encode({})]) is None


def test_histograms_of_different_layouts_are_refused() -> None:
    with pytest.raises(UsageError, match="different layouts"):
        merge([histogram([5.0]), pack((1, 3_600_000_000_000, 2), {5: 1})])


@pytest.mark.parametrize("blob", ["", "!", "HISTFAAAA", histogram([5.0])[:-8], histogram([5.0])[:40]])
def test_a_damaged_histogram_is_one_sentence(blob: str) -> None:
    with pytest.raises(UsageError, match="a latency histogram is damaged"):
        merge([blob])


def test_rounds_added_later_equal_one_histogram_of_all() -> None:
    values = np.random.default_rng(3).lognormal(14, 0.8, 3_000)
    parts = [merge([histogram(part)]) for part in np.array_split(values, 3)]
    whole, added = merge([histogram(values)]), together([part for part in parts if part is not None])
    assert whole is not None
    assert added is not None
    assert added.percentiles_ns([0.5, 0.999]) == whole.percentiles_ns([0.5, 0.999])
    assert added.mean_ns == pytest.approx(whole.mean_ns)
    assert together([]) is None


@pytest.mark.parametrize(
    "settings", [(1, 3_600_000_000_000, 3), (1, 10_000, 1), (1000, 60_000_000, 2), (3, 7_000_000, 3)]
)
def test_counts_are_found_where_hdrhistogram_has_them(settings: tuple[int, int, int], hdrhistogram: Any) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        recorded = hdrhistogram(*settings)
        for value in np.exp(rng.uniform(0, np.log(settings[1]), rng.integers(1, 60))).astype(int).tolist():
            recorded.record_value(min(value, settings[1]), int(rng.integers(1, 1 << int(rng.integers(1, 40)))))
        merged = merge([recorded.encode().decode()])
        assert merged is not None
        there = [(int(high), int(count)) for high, count in zip(merged.highest_ns, merged.counts, strict=True)]
        counted = [(index, count) for index, count in enumerate(recorded.counts[: recorded.counts_len]) if count]
        assert there == [
            (recorded.get_highest_equivalent_value(recorded.get_value_from_index(index)), count)
            for index, count in counted
        ]


def test_any_flipped_byte_is_a_histogram_or_a_sentence_here_too() -> None:
    good = base64.b64decode(histogram(np.random.default_rng(1).lognormal(15, 1.2, 500)))
    whole = zlib.decompress(good[8:])
    for at in range(len(whole)):
        for flip in (0x01, 0x80):
            changed = bytearray(whole)
            changed[at] ^= flip
            text = base64.b64encode(good[:8] + zlib.compress(bytes(changed))).decode()
            try:
                found = merge([text])
            except UsageError as error:
                assert "histogram is damaged" in str(error)
                continue
            assert found is None or found.counts.min() > 0


def test_what_a_run_and_its_table_both_ask_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics say a Run by itself and in its table: half of a first scrape was reading the same again."""
    read: list[str] = []
    counted = latency.counted
    monkeypatch.setattr(latency, "counted", lambda text: read.append(text) or counted(text))
    texts = [histogram(np.full(3, 900.0 + at)) for at in range(5)]
    for _ in range(2):
        assert [merge([text]) is not None for text in texts] == [True] * 5
    assert sorted(read) == sorted(texts)
