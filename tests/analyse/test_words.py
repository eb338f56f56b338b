"""Numbers as people read them."""

import pytest

from webdyno.analyse import words
from webdyno.model.verdict import Estimate


def estimate(value: float, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(value=value, low=low, high=high, rounds=3, unit="per_s")


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (48_244, 47_952, 48_698, "48,200 requests/s (48,000-48,700)"),
        (48_244, 48_230, 48_260, "48,244 requests/s (48,230-48,260)"),
        (48_244, None, None, "48,200 requests/s"),
        (52.34, 51.1, 53.6, "52.3 requests/s (51.1-53.6)"),
        (9_650, 4_000, 20_000, "10,000 requests/s (4,000-20,000)"),
        (1_000, 59, 17_000, "1,000 requests/s (59-17,000)"),  # far from zero, though the width has no place for it
        (0.4, -0.002, 0.9, "0.4 requests/s (-0.0020-0.9)"),
        (10, 0, 30, "10 requests/s (0-30)"),
        (0.91, 1e-10, 1e10, "0.9 requests/s (unknown)"),
    ],
)
def test_a_figure_has_the_digits_its_interval_supports(value: float, low: float, high: float, text: str) -> None:
    assert words.with_interval(estimate(value, low, high), "requests/s") == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (532, "532 ns"),
        (1_234, "1.23 µs"),
        (14_550_000, "14.6 ms"),
        (1.5e9, "1.50 s"),
        (999.7e6, "1,000 ms"),
        (0, "0 ns"),
    ],
)
def test_durations_choose_their_unit(ns: float, text: str) -> None:
    assert words.time_ns(ns) == text


def test_a_ratio_of_which_two_rounds_tell_nothing_has_no_ends() -> None:
    assert words.of_best(estimate(0.91, 1e-10, 1e10)) == "0.91x (unknown)"
    assert words.of_best(estimate(0.91, 0.1, 8.3)) == "0.91x (0.10-8.30)"


def test_a_duration_with_a_wide_interval_loses_its_digits() -> None:
    assert words.time_ns(Estimate(value=14_550_000, low=9e6, high=22e6, rounds=3, unit="ns")) == "15 ms"


@pytest.mark.parametrize(
    ("size", "text"), [(61_234_567, "58.4 MiB"), (512 << 20, "512 MiB"), (25 << 30, "25.0 GiB"), (900, "900 bytes")]
)
def test_sizes(size: float, text: str) -> None:
    assert words.size(size) == text


@pytest.mark.parametrize(
    ("part", "text"), [(0, "0 %"), (0.0000001, "< 0.01 %"), (0.0031, "0.31 %"), (0.031, "3.1 %"), (0.31, "31 %")]
)
def test_shares_never_round_something_to_nothing(part: float, text: str) -> None:
    assert words.per_cent(part) == text


def test_lists_and_counts() -> None:
    assert words.listing(["a"]) == "a"
    assert words.listing(["a", "b", "c"]) == "a, b and c"
    assert words.listing(list("abcdefgh"), 3) == "a, b, c and 5 more"
    assert words.listing([]) == ""
    assert words.count(1, "round") == "1 round"
    assert words.count(1200, "round") == "1,200 rounds"
    assert words.count(1200) == "1,200"


@pytest.mark.parametrize(
    ("seconds", "text"), [(45, "45 s"), (320, "5 min 20 s"), (600, "10 min"), (7_500, "2 h 5 min")]
)
def test_spans(seconds: float, text: str) -> None:
    assert words.length(seconds) == text
