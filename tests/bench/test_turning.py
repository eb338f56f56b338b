"""The worlds of blocks, small; the whole table: bench.trust blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.trust import turning
from bench.trust.sharing import BUSY, Contender, Machine, Sheet, by_turns, name_of, one_by_one
from bench.trust.simulated import interval

CASES = turning.cases()
SMALL = 40


def apart(blocks: bool, sittings: int = 60) -> float:
    """Standard deviation of the logarithm of two equals' ratio, among seven; in blocks by thirty turns of 50 ms."""
    found = []
    for seed in range(sittings):
        machine, sheet = Machine(np.random.default_rng(seed), BUSY), Sheet()
        field = [Contender()] * 7
        if blocks:
            by_turns(machine, field, np.zeros(7), 1, 1, list(range(7)), sheet, passes=30, lead=0, turn=1)
        else:
            one_by_one(machine, field, np.zeros(7), 1, sheet)
        found.append(math.log(sheet.cells[name_of(0), 1] / sheet.cells[name_of(1), 1]))
    return float(np.std(found))


def test_the_machine_is_the_one_that_was_measured() -> None:
    """0.192 by windows and 0.043 by turns of 50 ms; of 60 sittings each is known to a tenth of itself."""
    assert apart(blocks=False) == pytest.approx(0.192, rel=0.3)
    assert apart(blocks=True) == pytest.approx(0.043, rel=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_blocks_make_no_false_claims_and_their_intervals_hold(name: str) -> None:
    seen = [CASES[name](seed, True) for seed in range(SMALL)]
    assert interval(sum(each.false for each in seen), SMALL)[0] <= 0.05
    of = sum(each.of for each in seen)
    assert not of or sum(each.held for each in seen) / of >= 0.88


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("2, one 5 % faster, 60 s, starts 2 %", 0.4),
        ("compare: head 5 % slower, starts 2 %", 0.85),
        ("compare: equal, starts alike", 0.5),
    ],
)
def test_what_windows_seldom_find_blocks_do(name: str, least: float) -> None:
    by = {blocks: np.mean([CASES[name](seed, blocks).found for seed in range(SMALL)]) for blocks in (False, True)}
    assert by[True] >= least > by[False]


def test_the_table_has_a_line_for_each_world_asked_for() -> None:
    lines = turning.run(2, 1, "2 equals, 60 s, starts")
    assert lines[0] == "2 worlds each, seeds 1 to 2"
    assert len([line for line in lines if line.startswith("2 equals, 60 s, starts")]) == 3


def test_windows_are_given_the_time_of_blocks() -> None:
    """A block of two takes 0.6 + 2 * 2.4 s = 5.4 s; a round of two windows 2 * 2.5 s = 5 s: 11 of the one, 12 of the
    other."""
    world = turning.worlds()["2 equals, 60 s, starts alike"]
    assert world.rounds == 11
    assert turning._rounds_of_windows(world, 2) == 12


def test_who_stands_still_in_a_tenth_of_its_turns_is_slower_by_a_twentieth() -> None:
    rng = np.random.default_rng(1)
    served = Contender(stalls=0.1).served(rng, np.zeros(200_000), 0.0)
    assert math.log(served.mean() / 500) == pytest.approx(Contender(stalls=0.1).truth, abs=0.002)
