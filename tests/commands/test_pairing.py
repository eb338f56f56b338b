"""Pairs: turned order, looks that end them, and what stops them."""

from __future__ import annotations

import itertools
import threading

import msgspec
import pytest

from tests.analyse import fakes
from webdyno.commands.pairing import make_pairs, order_of
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.session.sitting import trial_of

LOAD = Load(connections=64, duration_s=2.0)
NAMES = ("old", "new")


class Bench:
    """Takes runs at given rates, and remembers the order."""

    def __init__(self, head: float, *, noise: float = 0.002) -> None:
        self.rates = {"old": 10_000.0, "new": 10_000.0 * head}
        self.taken: list[tuple[str, int]] = []
        self.noise = itertools.cycle([1 - noise, 1.0, 1 + noise])
        self.interrupted = threading.Event()
        self.fails: set[str] = set()

    def take(self, name: str, load: Load, round_: int) -> Run:
        self.taken.append((name, round_))
        if name in self.fails:
            return fakes.run(name, round_=round_, load=load, outcome="died", message="ended under load", slices=[])
        rate = self.rates[name] * next(self.noise)
        return fakes.run(name, round_=round_, load=load, rate=rate)

    def pairs(self, *, most: int = 18, budget_s: float = 1e9) -> int:
        make_pairs(self.take, NAMES, LOAD, 0.03, most=most, budget_s=budget_s, interrupted=self.interrupted)
        return max(round_ for _, round_ in self.taken)


def test_a_contender_is_given_the_warm_up_that_its_file_asks_for() -> None:
    made = fakes.plan([fakes.run("old"), fakes.run("jvm")])
    slow = msgspec.structs.replace(made.contenders["jvm"], warmup_s=6.0)
    plan = msgspec.structs.replace(made, contenders={**made.contenders, "jvm": slow})
    assert [trial_of(plan, name, LOAD, 1).asked.warmup_s for name in ("old", "jvm")] == [LOAD.warmup_s, 6.0]


def test_the_order_turns_from_pair_to_pair() -> None:
    assert [order_of(pair) for pair in (1, 2, 3)] == [("base", "head"), ("head", "base"), ("base", "head")]
    bench = Bench(0.8)
    bench.pairs()
    assert bench.taken[:4] == [("old", 1), ("new", 1), ("new", 2), ("old", 2)]


@pytest.mark.parametrize(("head", "noise", "pairs"), [(0.9, 0.01, 4), (1.1, 0.01, 4), (1.0, 0.002, 6), (1.0, 0.01, 9)])
def test_a_look_that_decides_ends_them(head: float, noise: float, pairs: int) -> None:
    """Equality takes longer than a difference, and six pairs at least, however quiet the machine is."""
    assert Bench(head, noise=noise).pairs() == pairs


def test_what_cannot_be_told_goes_on_to_the_last_pair(capsys: pytest.CaptureFixture[str]) -> None:
    assert Bench(0.97, noise=0.05).pairs(most=7) == 7
    assert "pair 7 of at most 7: base 9,500/s" in capsys.readouterr().err


def test_a_failure_ends_them_once_both_sides_had_their_turn(capsys: pytest.CaptureFixture[str]) -> None:
    bench = Bench(1.0)
    bench.fails = {"old"}
    assert bench.pairs() == 1
    assert bench.taken == [("old", 1), ("new", 1)]
    assert "old: died: ended under load" in capsys.readouterr().err


def test_the_user_and_the_budget_end_them(capsys: pytest.CaptureFixture[str]) -> None:
    bench = Bench(1.0)
    bench.interrupted.set()
    bench.pairs()
    assert bench.taken == [("old", 1)]
    spent = Bench(1.0)
    assert spent.pairs(budget_s=0.0) == 1
    assert "the budget is spent after 1 pairs" in capsys.readouterr().err
