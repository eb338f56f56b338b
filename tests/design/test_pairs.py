"""Pairs: turned order, looks that end them, and what stops them."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import msgspec
import pytest

from tests.analyse import fakes
from webdyno.analyse.sitting import made_of, most_of, planned
from webdyno.design import Block
from webdyno.design.blocks import Room
from webdyno.design.pairs import Pairs, order_of
from webdyno.model.block import Turns
from webdyno.model.load import Load
from webdyno.model.paired import Paired
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial, trial_of
from webdyno.session.lines import PairLines
from webdyno.session.loop import Loop
from webdyno.session.scratch import Scratch

LOAD = Load(connections=64, duration_s=2.0)
NAMES = ("old", "new")
PLAN = fakes.plan([fakes.run("old"), fakes.run("new")])


class Sides:
    """Carries blocks out at given rates, and remembers the order."""

    def __init__(self, head: float, *, noise: float = 0.002) -> None:
        self.rates = {"old": 10_000.0, "new": 10_000.0 * head}
        self.taken: list[tuple[str, int]] = []
        self.noise = itertools.cycle([1 - noise, 1.0, 1 + noise])
        self.interrupted = threading.Event()
        self.fails: set[str] = set()
        self.runs: list[Run] = []

    def carry_out(self, block: Block) -> list[Run]:
        return [self.take(trial) for trial in block]

    def take(self, trial: Trial) -> Run:
        self.taken.append((trial.contender, trial.round))
        like = {"trial": trial, "round_": trial.round, "load": trial.load}
        if trial.contender in self.fails:
            return fakes.run(trial.contender, outcome="died", message="ended under load", slices=[], **like)
        return fakes.run(trial.contender, rate=self.rates[trial.contender] * next(self.noise), **like)

    def pairs(self, *, most: int = 18, budget_s: float = 1e9, plan: Plan = PLAN) -> int:
        asked = Paired(load=LOAD, margin=0.03, most=most, budget_s=budget_s, looks="late")
        design = Pairs(plan=plan, names=NAMES, asked=asked, room=Room(memory_bytes=None))
        book = Scratch(Path("unused"))
        book.append_all(self.runs)
        loop = Loop(plan, book, self.carry_out, PairLines(design, self.runs), self.interrupted)
        loop.follow(design)
        self.runs = loop.runs
        return len(design.made(self.runs))


def test_a_contender_is_given_the_warm_up_that_its_file_asks_for() -> None:
    made = fakes.plan([fakes.run("old"), fakes.run("jvm")])
    slow = msgspec.structs.replace(made.contenders["jvm"], warmup_s=6.0)
    plan = msgspec.structs.replace(made, contenders={**made.contenders, "jvm": slow})
    assert [trial_of(plan, name, LOAD, 1).asked.warmup_s for name in ("old", "jvm")] == [LOAD.warmup_s, 6.0]


def test_the_order_turns_from_pair_to_pair() -> None:
    assert [order_of(pair) for pair in (1, 2, 3)] == [("base", "head"), ("head", "base"), ("base", "head")]
    sides = Sides(0.8)
    sides.pairs()
    assert sides.taken[:4] == [("old", 1), ("new", 1), ("new", 2), ("old", 2)]


@pytest.mark.parametrize(("head", "noise", "pairs"), [(0.9, 0.01, 4), (1.1, 0.01, 4), (1.0, 0.002, 6), (1.0, 0.015, 8)])
def test_a_look_that_decides_ends_them(head: float, noise: float, pairs: int) -> None:
    """Equality takes longer than a difference, and six pairs at least, however quiet the machine is."""
    assert Sides(head, noise=noise).pairs(most=12) == pairs


def test_what_cannot_be_told_goes_on_to_the_last_pair(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "webdyno")
    assert Sides(0.97, noise=0.05).pairs(most=7) == 7
    assert "pair 7 of at most 7: base 9,500/s" in caplog.text


def test_a_failure_ends_them_once_both_sides_had_their_turn(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "webdyno")
    sides = Sides(1.0)
    sides.fails = {"old"}
    assert sides.pairs() == 1
    assert sides.taken == [("old", 1), ("new", 1)]
    assert "old: died: ended under load" in caplog.text


def test_the_budget_ends_them() -> None:
    assert Sides(1.0).pairs(budget_s=0.0) == 1


def test_the_budget_says_how_many_pairs_there_will_be() -> None:
    asked = Paired(load=LOAD, margin=0.03, most=12, budget_s=60.0)
    assert asked.within_budget([]) == asked.within_budget([0.0, 0.0]) == 12  # what does not even start takes no time
    assert asked.within_budget([6.0, 7.0]) == 2 + 6  # 47 s are left, of 7 s each
    assert asked.within_budget([1.0]) == 12
    assert asked.within_budget([59.0, 2.0]) == 2


def test_pairs_that_are_planned_do_not_become_more_from_the_first_look_on() -> None:
    """What a look may spend depends on how many are to come: a slow first pair, and quick ones after it."""
    asked = Paired(load=LOAD, margin=0.03, most=12, budget_s=120.0, looks="late")
    took = [25.0, *[8.0] * 10]
    pairs = [{"old": fakes.run("old", seconds=each), "new": fakes.run("new", seconds=0.0)} for each in took]
    told = [most_of(asked, pairs[:made]) for made in range(12)]
    assert told[3] == 3 + 3  # 79 s are left, and the longest took 25
    assert told[4:] == [6, 6, 6, 6, 6, 6, 6, 6]


def test_older_comparisons_are_judged_as_they_were_made() -> None:
    assert planned(Paired(load=LOAD, margin=0.03, most=18, budget_s=1e9), []) is None
    assert planned(Paired(load=LOAD, margin=0.03, most=12, budget_s=1e9, looks="late"), []) == 12


def test_a_pair_of_which_one_alone_took_turns_counts_for_nobody() -> None:
    beside, alone = (msgspec.structs.replace(fakes.run("old"), block=block) for block in (1, None))
    other = msgspec.structs.replace(fakes.run("new"), block=1)
    assert len(made_of([beside, other], NAMES)) == 1
    assert made_of([alone, other], NAMES) == []


def test_they_go_on_where_they_were_stopped() -> None:
    whole, stopped = Sides(0.97, noise=0.05), Sides(0.97, noise=0.05)
    whole.pairs(most=7)
    first = stopped.take(trial_of(PLAN, "old", LOAD, 1))
    stopped.runs = [first, fakes.run("new", trial=trial_of(PLAN, "new", LOAD, 1), outcome="interrupted", slices=[])]
    assert stopped.pairs(most=7) == 7
    assert stopped.taken == whole.taken


def test_a_block_that_was_stopped_between_its_two_runs_is_measured_anew() -> None:
    """The side that is there took turns beside the other, and what is measured alone cannot be compared with it."""
    sides = Sides(0.9)
    plan = msgspec.structs.replace(PLAN, turns=Turns())
    asked = Paired(load=LOAD, margin=0.03, most=18, budget_s=1e9)
    design = Pairs(plan=plan, names=NAMES, asked=asked, room=Room(memory_bytes=None))
    whole = [msgspec.structs.replace(sides.take(trial_of(plan, name, LOAD, 1)), block=1) for name in NAMES]
    there = msgspec.structs.replace(sides.take(trial_of(plan, "new", LOAD, 2)), block=2)
    stopped = fakes.run("old", trial=trial_of(plan, "old", LOAD, 2), outcome="interrupted", slices=[])
    ((first, second),) = design([*whole, there, stopped])
    assert sorted([(first.contender, first.round), (second.contender, second.round)]) == [("new", 3), ("old", 3)]
    ((both,),) = [design([*whole, msgspec.structs.replace(stopped, block=2)])]
    assert [trial.round for trial in both] == [2, 2]
    ((alone,),) = design([*whole, msgspec.structs.replace(there, block=None), stopped])
    assert (alone.contender, alone.round) == ("old", 2)
