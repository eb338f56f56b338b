"""Drawn comparisons and the bias of turns, on figures whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.trust import bias
from bench.trust.bias import Sums
from bench.trust.comparing import comparisons
from bench.trust.studies import Recorded, of_contenders
from tests.analyse.fakes import FINGERPRINT, plan, run

PAIR = ("base", "head")


def recorded(head: float, noise: float = 0.01, rounds: int = 24) -> Recorded:
    """Rounds of base, head and another; what the machine does falls on all of a round."""
    rng = np.random.default_rng(5)
    machine = np.exp(rng.normal(0, 0.1, rounds))
    rates = {"base": 10_000, "head": 10_000 * head, "other": 500}
    runs = [
        run(name, round_=number, rate=rate * machine[number - 1] * math.exp(rng.normal(0, noise)))
        for number in range(1, rounds + 1)
        for name, rate in rates.items()
    ]
    return Recorded(plan(runs), FINGERPRINT, runs)


def test_a_slower_head_is_found_and_an_equal_one_is_the_same() -> None:
    for head, verdict in ((0.9, "slower"), (1.0, "same"), (1.1, "faster")):
        found = list(comparisons(of_contenders(recorded(head), PAIR), PAIR, 10, 1e6))
        assert sum(each.verdict == verdict for each in found) >= 9, head
        assert all(each.half_width < 0.1 for each in found)


def test_each_comparison_has_its_own_order_and_ends_when_it_decides_or_its_time_is_up() -> None:
    made = of_contenders(recorded(0.9, noise=0.05), PAIR)
    found = list(comparisons(made, PAIR, 10, 1e6))
    assert len({each.half_width for each in found}) > 5
    assert {each.pairs for each in found} <= {4, 6, 8, 10, 12}
    pair_s = found[0].seconds / found[0].pairs
    [short] = comparisons(made, PAIR, 1, 5.5 * pair_s)
    assert short.pairs <= 5


def test_equals_that_differ_by_luck_in_all_their_rounds_are_seldom_called_different() -> None:
    made = of_contenders(recorded(1.02, noise=0.03), PAIR)
    assert sum(each.verdict == "faster" for each in comparisons(made, PAIR, 40, 1e6)) > 4
    drawn = [each.verdict for each in comparisons(made, PAIR, 40, 1e6, equals=True)]
    assert sum(verdict in ("slower", "faster") for verdict in drawn) <= 4


def passes(turn: float, window: float, number: int = 40, noise: float = 0.02) -> list[tuple[Sums, Sums]]:
    rng = np.random.default_rng(7)
    made = []
    for machine in np.exp(rng.normal(0, 0.2, number)):
        ok = [rate * machine * math.exp(rng.normal(0, noise)) for rate in (turn * 0.1, window * 0.5)]
        made.append(((ok[0], 0.1, 0.09), (ok[1], 0.5, 0.45)))
    return made


def test_what_turns_take_from_one_of_a_block_is_found_and_what_they_take_from_all_is_not() -> None:
    found = bias.biases({"fair": passes(90, 100), "harmed": passes(81, 100), "other": passes(900, 1000)}, 1)
    harm = math.log(0.9)
    assert found["harmed"].log == pytest.approx(harm * 2 / 3, abs=0.01)
    assert found["fair"].log == pytest.approx(-harm / 3, abs=0.01)
    assert all(0.001 < each.error < 0.01 for each in found.values())


def test_more_cpu_for_an_answer_is_a_bias_of_its_cost() -> None:
    costly = [((ok, s, 1.2 * cpu), window) for (ok, s, cpu), window in passes(100, 100)]
    found = bias.biases({"one": costly, "other": passes(100, 100)}, 2)
    assert found["one"].log - found["other"].log == pytest.approx(math.log(1.2), abs=0.01)
    assert str(found["one"]).startswith("+9.")
