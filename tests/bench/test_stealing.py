"""The worlds of theft, small; the whole table: bench.trust stolen."""

from __future__ import annotations

import math

import pytest

from bench.trust import stealing

WORLDS = stealing.worlds()
CHANCE = [name for name in WORLDS if "taken from one" not in name]
"""What a contender brings upon itself three rounds do not tell from chance."""
SMALL = 60


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANCE)
def test_rates_as_of_usual_theft_make_no_more_false_claims(name: str) -> None:
    """In 60 worlds 5 % are 3, and at most 8 in 199 of 200 tries."""
    seen = [stealing.of_world(WORLDS[name], seed, usual=True) for seed in range(SMALL)]
    assert sum(each.false for each in seen) <= 8
    assert sum(each.held for each in seen) / sum(each.of for each in seen) > 0.9


def test_intervals_are_narrower_by_half_where_theft_costs_much() -> None:
    world = WORLDS["8 equals, 3 rounds, 1 % costs 4.4 %"]
    seen, usual = (
        sorted(stealing.of_world(world, seed, usual=usual).half for seed in range(20))[10] for usual in (False, True)
    )
    assert usual < 0.7 * seen


def test_the_same_seed_is_the_same_world() -> None:
    world = WORLDS["8, one 15 % ahead, 3 rounds, 1 % costs 4.4 %"]
    first, second = (stealing.of_world(world, 7, usual=True) for _ in range(2))
    assert first == second and not math.isnan(first.half)
