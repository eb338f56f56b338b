"""Figures of paired windows, by hand."""

from __future__ import annotations

import pytest

from bench.estimate import Estimate, median_with_interval, ratio, verdict


def test_the_ratio_is_the_median_of_the_rounds_and_not_the_ratio_of_medians() -> None:
    ours, theirs = [1.0, 2.0, 10.0], [2.0, 2.0, 15.0]  # ratios 2, 1, 1.5; medians 2 and 2
    found = ratio(ours, theirs)
    assert found is not None
    assert found.median == 1.5
    assert found.rounds == 3


def test_a_round_without_a_figure_on_either_side_is_left_out() -> None:
    found = ratio([1.0, None, 1.0], [2.0, 9.0, None])
    assert found == Estimate(2.0, 2.0, 2.0, 1)
    assert ratio([None], [1.0]) is None


def test_the_same_rounds_give_the_same_interval() -> None:
    values = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 9.0]
    assert median_with_interval(values) == median_with_interval(values)


def test_the_interval_holds_the_median_and_stays_within_the_rounds() -> None:
    found = median_with_interval([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 9.0])
    assert 1.0 <= found.low <= found.median == 1.3 <= found.high <= 9.0


def test_no_rounds_are_no_figure() -> None:
    with pytest.raises(ValueError, match="no rounds"):
        median_with_interval([])


@pytest.mark.parametrize(
    ("reached", "said"),
    [
        (Estimate(1.5, 1.45, 1.6, 9), "met"),
        (Estimate(1.5, 1.3, 1.6, 9), "met (interval holds the goal)"),
        (Estimate(1.26, 1.2, 1.3, 9), "missed by 10 %"),
        (Estimate(1.26, 1.2, 1.5, 9), "missed by 10 % (interval holds the goal)"),
    ],
)
def test_a_verdict_says_when_the_rounds_cannot_tell(reached: Estimate, said: str) -> None:
    assert verdict(reached, 1.4) == said
