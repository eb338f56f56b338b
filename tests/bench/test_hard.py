"""Worlds that mislead, small: no claim that is not true, and power where it was lost. The whole: bench.trust worlds."""

from __future__ import annotations

import math

import pytest

from bench.trust import hard
from bench.trust.simulated import interval

CASES = {case.name: case for case in hard.cases()}
SMALL = 60


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_no_world_gives_more_than_five_per_cent_of_false_claims_nor_intervals_that_miss(name: str) -> None:
    seen = [CASES[name].one(seed) for seed in range(SMALL)]
    assert interval(sum(each.false for each in seen), SMALL)[0] <= 0.05
    of = sum(each.of for each in seen)
    assert not of or sum(each.held for each in seen) / of >= 0.90


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("14, one of them 10 % faster, 3 rounds", 0.65),
        ("8, one wild, one 5 % faster, 4 rounds", 0.6),  # 6 % by the mean of the rounds
        ("compare: equal, starts 2 % unlike", 0.8),
        ("compare: head 8 % slower, starts 2 % unlike", 0.95),
    ],
)
def test_what_is_there_is_found(name: str, least: float) -> None:
    found = [CASES[name].one(seed).found for seed in range(SMALL)]
    assert sum(found) / len(found) >= least


def test_slow_starts_of_equals_are_told_to_be_nobodys() -> None:
    """Three of these were, when a contender without a slow start was taken for as quiet as it looked."""
    seen = [CASES["14 equals, a start in five 20 % slower, 3 rounds"].one(seed) for seed in range(40)]
    assert sum(each.false for each in seen) <= 1


def test_the_table_has_a_line_for_each_world() -> None:
    lines = hard.run(2, 1)
    assert lines[0] == "2 worlds each, seeds 1 to 2"
    assert all(any(line.startswith(name) for line in lines) for name in CASES)


def test_a_row_tells_what_there_is() -> None:
    seen = [hard.Seen(True, 3, 5, 0.5), hard.Seen(False, 5, 5)]
    assert hard._row("x", seen) == ["x", "1 (50.0%)", "1.3% to 98.7%", "80.0%", "50.0%"]
    assert hard._row("x", [hard.Seen(False)])[3:] == ["-", "-"]
    assert math.isnan(hard.Seen(False).found)
