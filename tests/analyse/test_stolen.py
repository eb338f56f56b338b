"""Stolen: what theft costs is found within contenders, and taken from no rate where it is not known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from webdyno.analyse.stolen import MOST_SHARE, NOTHING, Loss, Stolen, read_stolen

SHARES = [[0.0, 0.02, 0.05], [0.01, 0.08, 0.0], [0.03, 0.0, 0.01], [0.0, 0.04, 0.02], [0.06, 0.0, 0.03]]
FAST = [1000.0, 1500.0, 900.0, 2000.0, 400.0]


Rows = list[tuple[str, list[Loss]]]


def losses(cost: float, noise: float = 0.01, shares: list[list[float]] = SHARES * 2, seed: int = 1) -> Rows:
    rng = np.random.default_rng(seed)
    return [
        (f"c{at}", [Loss(fast * math.exp(-cost * share + rng.normal(0, noise)), share) for share in row])
        for at, (fast, row) in enumerate(zip(FAST * 4, shares, strict=False))
    ]


def test_the_cost_is_found_and_rates_are_as_of_the_usual_theft() -> None:
    found = read_stolen(losses(4.0))
    assert found.cost == pytest.approx(4.0, rel=0.1)
    assert found.usual == pytest.approx(np.mean(SHARES))
    assert found.speed(found.usual) == 1.0
    assert found.speed(0.05) / found.speed(0.0) == pytest.approx(math.exp(-0.05 * found.cost))


def test_how_fast_contenders_are_does_not_matter() -> None:
    """Those from whom most is stolen may be the fastest of all."""
    doubled = [
        (name, [Loss(loss.rate_per_s * (1 + 9 * row[0].share), loss.share) for loss in row])
        for name, row in losses(4.0)
    ]
    assert read_stolen(doubled).cost == pytest.approx(read_stolen(losses(4.0)).cost)


def test_what_is_chance_costs_little_or_nothing() -> None:
    costs = [read_stolen(losses(0.0, 0.05, SHARES * 4, seed)).cost for seed in range(40)]
    assert np.median(costs) < 0.3
    assert all(cost >= 0 for cost in costs)


def test_theft_that_comes_with_speed_costs_nothing() -> None:
    assert read_stolen(losses(-4.0)).cost == 0.0


def test_few_rounds_say_nothing() -> None:
    assert read_stolen(losses(4.0, shares=SHARES)) == NOTHING
    assert read_stolen([]) == NOTHING
    assert read_stolen((name, [loss]) for name, row in losses(4.0) * 2 for loss in row) == NOTHING


def test_where_nothing_was_stolen_nothing_is_known() -> None:
    assert read_stolen(losses(4.0, shares=[[0.0] * 4] * 8)) == NOTHING


def test_where_some_lose_more_than_others_they_may_have_a_part_in_it() -> None:
    """And a contender that uses more than the hypervisor allows is as slow as it is."""
    one = [[share + (0.06 if at == 0 else 0.0) for share in row] for at, row in enumerate(SHARES * 2)]
    both_loads = losses(4.0, shares=one) + losses(4.0, shares=one, seed=2)
    assert read_stolen(both_loads) == NOTHING
    assert read_stolen(losses(4.0) + losses(4.0, seed=2)).cost > 3


def test_more_than_was_ever_seen_costs_no_more_than_the_most_that_was() -> None:
    found = Stolen(4.0, 0.02)
    assert found.speed(0.5) == found.speed(MOST_SHARE)
