"""Turns: what contenders of one block did, pass by pass. Expected values are worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.analyse.turning import turn
from webdyno.analyse.turns import Turned, turned
from webdyno.model.sample import Slice


def block(**answers: Sequence[float | None]) -> dict[str, Turned]:
    """Turns of 100 ms each; None: it had none in this pass."""
    return turned(
        {
            name: [turn(at, ok=round(ok)) for at, ok in enumerate(given) if ok is not None]
            for name, given in answers.items()
        }
    )


def test_what_a_pass_does_to_all_is_nobodys() -> None:
    found = block(one=[100, 200, 300], other=[50, 100, 150])
    assert found["one"].rate_per_s == pytest.approx(2000)  # 600 answers in 0.3 s
    assert found["other"].rate_per_s == pytest.approx(1000)
    assert found["one"].variance == pytest.approx(0, abs=1e-12)


def test_who_missed_the_fast_pass_is_no_slower_for_it() -> None:
    """By its own 0.2 s it would be at 750 per second, against 2000 of the other."""
    found = block(one=[100, 200, 300], other=[50, 100, None])
    assert found["one"].rate_per_s / found["other"].rate_per_s == pytest.approx(2)
    assert found["other"].passes == 2


def test_a_long_drain_in_a_slow_pass_counts_by_its_speed() -> None:
    """The second pass is at half speed, and one waited there for as long again."""
    turns = {"one": [turn(0, ok=100), turn(1, ok=100, ms=200)], "other": [turn(0, ok=100), turn(1, ok=50)]}
    found = turned(turns)
    assert found["one"].rate_per_s == pytest.approx(found["other"].rate_per_s)


def test_who_stands_still_moves_no_pass() -> None:
    found = block(still=[100, 100, 0, 100], one=[100] * 4, other=[200] * 4)
    assert found["other"].rate_per_s == pytest.approx(2000)
    assert found["still"].rate_per_s == pytest.approx(750)


def test_a_pass_in_which_nobody_was_answered_costs_all_alike() -> None:
    found = block(one=[100, 0, 100, 100], other=[50, 0, 50, 50])
    assert found["one"].rate_per_s == pytest.approx(750)
    assert found["other"].rate_per_s == pytest.approx(375)


def test_who_never_answered_is_left_out() -> None:
    assert set(block(one=[100, 100], dead=[0, 0])) == {"one"}
    assert turned({"dead": [turn(0, ok=0)]}) == {}


def test_one_turn_far_off_is_drawn_in_and_two_are_its_own() -> None:
    """The others lie within 98 to 102: median 100, median distance 1, so the fence stands at 4.4478 from 100."""
    usual = [98, 99, 100, 101, 102] * 4
    quiet = [100] * 21
    once = block(one=[*usual, 10], other=quiet, third=quiet)["one"]
    assert once.drawn_in
    assert once.rate_per_s == pytest.approx((2000 + 100 - 4.4478) / 2.1, rel=1e-3)
    twice = block(one=[*usual, 10, 10], other=[*quiet, 100], third=[*quiet, 100])["one"]
    assert not twice.drawn_in
    assert twice.rate_per_s == pytest.approx(2020 / 2.2)


def test_cpu_of_an_answer_is_by_turns_too() -> None:
    """Half of the machine's speed in the second pass: each answer costs twice the CPU then, whoever gave it."""
    busy = [turn(0, ok=100, cpu_ms=100), turn(1, ok=50, cpu_ms=100)]
    half = [turn(0, ok=100, cpu_ms=50), turn(1, ok=50, cpu_ms=50)]
    found = turned({"busy": busy, "half": half})
    assert found["busy"].cores == pytest.approx(1.0)
    assert found["half"].cores == pytest.approx(0.5)
    assert found["busy"].cpu_per_request_ns == pytest.approx(200e6 / 150)
    assert found["half"].cpu_per_request_ns == pytest.approx(100e6 / 150)


def test_unknown_cpu_stays_unknown() -> None:
    found = turned({"one": [turn(0, ok=100, cpu_ms=100), turn(1, ok=100)], "other": [turn(0, ok=100, cpu_ms=50)]})
    assert found["one"].cpu_per_request_ns is None
    assert found["one"].cores is None
    assert found["other"].cpu_per_request_ns == pytest.approx(0.5e6)


@pytest.mark.parametrize("contenders", [2, 3, 8])
def test_the_variance_is_that_of_blocks_made_again(contenders: int) -> None:
    """Each turn 5 % off by itself, 30 of them: a rate is off by 5 % / sqrt(30), as far as a block can tell.

    The median of three is farther from each than their mean would be: there it is told as a quarter too large.
    """
    rng = np.random.default_rng(3)
    names = [f"c{at}" for at in range(contenders)]
    told, logs = [], []
    for _ in range(150):
        machine = np.exp(rng.normal(0, 0.15, 30))
        found = block(**{name: 10_000 * machine * np.exp(rng.normal(0, 0.05, 30)) for name in names})
        told.append(found["c0"].variance)
        logs.append(np.log(found["c0"].rate_per_s / found["c1"].rate_per_s))
    assert np.mean(told) == pytest.approx((1.23 if contenders == 3 else 1.0) * 0.05**2 / 30, rel=0.10)
    assert np.var(logs) == pytest.approx(2 * 0.05**2 / 30, rel=0.35)


def slices() -> list[Slice]:
    return [turn(1, ok=5), turn(0, ok=4)]


def test_passes_need_not_come_in_their_order() -> None:
    found = turned({"one": slices(), "other": [turn(0, ok=8), turn(1, ok=10)]})
    assert found["other"].rate_per_s / found["one"].rate_per_s == pytest.approx(2)
