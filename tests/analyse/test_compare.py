"""All pairs at once."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from webdyno.analyse.compare import apart, equal, rounds_needed, slow_starts_allowed
from webdyno.analyse.estimate import Contrast, Fit, fit


def table(logs: dict[str, float], rounds: int = 4, noise: float = 0.01) -> Fit:
    rng = np.random.default_rng(11)
    made = fit({(n, r): math.exp(level + rng.normal(0, noise)) for n, level in logs.items() for r in range(rounds)})
    assert made is not None
    return made


def test_far_apart_is_told_and_near_is_not() -> None:
    told = apart(table({"a": 1.0, "b": 0.999, "c": 0.5}), ["a", "b", "c"])
    assert told == {frozenset("ac"), frozenset("bc")}


def test_who_is_ahead_must_be_so_by_more_than_the_other_was_held_back() -> None:
    made = table({"a": 1.0, "b": 0.5})  # 1.66 times, 1.63 to 1.68
    assert apart(made, ["a", "b"], {("a", "b"): 1.5}) == {frozenset("ab")}
    assert apart(made, ["a", "b"], {("a", "b"): 1.64}) == set()
    assert apart(made, ["a", "b"], {("a", "b"): math.inf}) == set()
    assert apart(made, ["a", "b"], {("b", "a"): math.inf}) == {frozenset("ab")}  # who was held back may lead


def test_pairs_with_one_held_back_are_asked_like_all_others() -> None:
    near = {"a": 1.0, "b": 0.98, "c": 0.5, "d": 0.1}
    made = table(near, noise=0.013)
    held = {(one, other): math.inf for one in "ab" for other in "cd"} | {("c", "d"): math.inf}
    assert frozenset("ab") in apart(made, list(near))
    assert frozenset("ab") not in apart(made, list(near), held)  # first of six, where it was the last


def test_two_rounds_are_too_few_to_beat_anybody() -> None:
    made = table({"a": 1.0, "b": 0.5}, rounds=2)
    assert made.contrast("a", "b") is not None
    assert apart(made, ["a", "b"]) == set()


def test_holm_stops_at_the_first_pair_that_fails() -> None:
    # three pairs at p = 0.02 each: 0.02 > 0.05/3, so none is told although each alone would be
    made = table({"a": 1.0, "b": 1.0, "c": 1.0}, rounds=6)
    assert apart(made, ["a", "b", "c"]) == set()


def test_equal_needs_the_whole_interval_within_three_percent_and_six_starts() -> None:
    assert equal(table({"a": 1.0, "b": 1.0}, rounds=6, noise=0.004), "a", "b")
    assert not equal(table({"a": 1.0, "b": 1.0}, rounds=5, noise=0.004), "a", "b")
    assert not equal(table({"a": 1.0, "b": 1.0}, rounds=6, noise=0.03), "a", "b")
    assert not equal(table({"a": 1.05, "b": 1.0}, rounds=6, noise=0.001), "a", "b")


def test_equality_does_not_borrow_its_variance_from_the_table() -> None:
    """One slow start of eight: among quiet ones a pooled variance would drown it."""
    quiet = {(name, r): math.exp((at * r % 5) / 2500) for at, name in enumerate("abcdefgh") for r in range(8)}
    made = fit(quiet | {("a", 3): 0.9})
    assert made is not None
    assert equal(made, "b", "c")
    assert not equal(made, "a", "b")


@pytest.mark.parametrize(("pooled", "plain", "is_equal"), [(1, 1, True), (1, 9, False), (9, 1, False)])
def test_equality_takes_both_intervals(pooled: float, plain: float, is_equal: bool) -> None:
    """In thousandths, the error of each way to compare them; 3 % is the margin."""
    made: Any = SimpleNamespace(
        contrast=lambda one, other: Contrast(log=0.02, error=pooled / 1000, freedom=30),
        paired=lambda one, other: Contrast(log=0.02, error=plain / 1000, freedom=30),
    )
    assert equal(made, "a", "b") is is_equal


def test_so_many_good_starts_allow_so_many_slow_ones() -> None:
    assert slow_starts_allowed(8) == pytest.approx(1 - 0.05 ** (1 / 8))  # 31 %
    assert slow_starts_allowed(18) == pytest.approx(0.153, abs=0.001)
    assert slow_starts_allowed(8, 1) > slow_starts_allowed(8)
    assert slow_starts_allowed(3, 3) == 1


def test_rounds_needed_follow_the_square_of_the_noise() -> None:
    # section 1 of the design: n = 2 ((4.3 + 0.84) sigma / d)^2 with 435 pairs, sigma 2 %, d 5 % is 9
    sigma, rounds = 0.02, 3
    found = rounds_needed(Contrast(log=0.05, error=sigma * (2 / rounds) ** 0.5, freedom=50), rounds, pairs=435)
    assert found in (8, 9)
    assert rounds_needed(Contrast(log=0.0, error=0.1, freedom=9), 3, 10) is None
    near = Contrast(log=0.2, error=0.05, freedom=9)
    assert (rounds_needed(near, 4, 10, handicap=1.1) or 0) > (rounds_needed(near, 4, 10) or 0) > 0
    assert rounds_needed(near, 4, 10, handicap=1.3) is None
