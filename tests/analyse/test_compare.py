"""All pairs at once."""

import math

import numpy as np

from webdyno.analyse.compare import apart, equal, rounds_needed
from webdyno.analyse.estimate import Contrast, Fit, fit


def table(logs: dict[str, float], rounds: int = 4, noise: float = 0.01) -> Fit:
    rng = np.random.default_rng(11)
    made = fit({(n, r): math.exp(level + rng.normal(0, noise)) for n, level in logs.items() for r in range(rounds)})
    assert made is not None
    return made


def test_far_apart_is_told_and_near_is_not() -> None:
    told = apart(table({"a": 1.0, "b": 0.999, "c": 0.5}), ["a", "b", "c"])
    assert told == {frozenset("ac"), frozenset("bc")}


def test_pairs_that_are_not_comparable_are_never_told() -> None:
    told = apart(table({"a": 1.0, "b": 0.5}), ["a", "b"], untold=[frozenset("ab")])
    assert told == set()


def test_holm_stops_at_the_first_pair_that_fails() -> None:
    # three pairs at p = 0.02 each: 0.02 > 0.05/3, so none is told although each alone would be
    made = table({"a": 1.0, "b": 1.0, "c": 1.0}, rounds=6)
    assert apart(made, ["a", "b", "c"]) == set()


def test_equal_needs_the_whole_interval_within_three_percent() -> None:
    assert equal(Contrast(log=0.005, error=0.004, freedom=20))
    assert not equal(Contrast(log=0.005, error=0.03, freedom=20))
    assert not equal(Contrast(log=0.05, error=0.001, freedom=20))


def test_rounds_needed_follow_the_square_of_the_noise() -> None:
    # section 1 of the design: n = 2 ((4.3 + 0.84) sigma / d)^2 with 435 pairs, sigma 2 %, d 5 % is 9
    sigma, rounds = 0.02, 3
    found = rounds_needed(Contrast(log=0.05, error=sigma * (2 / rounds) ** 0.5, freedom=50), rounds, pairs=435)
    assert found in (8, 9)
    assert rounds_needed(Contrast(log=0.0, error=0.1, freedom=9), 3, 10) is None
