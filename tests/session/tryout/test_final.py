"""The last comparison: who is alive at once, and what is said of who is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analyse.turning import block_run
from tests.session.tryout.machine import Machine, machine_in
from webdyno.analyse.blocks import meetings, read_windows
from webdyno.design.blocks import Room
from webdyno.design.grid import rounds_within
from webdyno.design.halving import Field
from webdyno.model.block import Rest, Turns
from webdyno.model.run import Run
from webdyno.session.tryout import bench as bench_module
from webdyno.session.tryout.budget import Budget
from webdyno.session.tryout.command import CURRENT
from webdyno.session.tryout.evidence import _alone
from webdyno.session.tryout.final import final_plan
from webdyno.session.tryout.steps import _turns

NAMES = ["a", "b", CURRENT]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(bench_module, "room_here", lambda: Room(memory_bytes=None))
    return machine_in(tmp_path)


def final(machine: Machine, rounds: int = 3) -> list[Run]:
    plan = final_plan(machine, NAMES, rounds, 1.5, Turns(), [], "try a:b")
    loop = machine.loop(plan)
    loop.follow(rounds_within(plan, machine.room, 0.0, rounds))
    return loop.runs


def test_finalists_and_the_current_server_are_one_block_in_each_round(machine: Machine) -> None:
    runs = final(machine)
    assert [sorted(block) for block in machine.blocks] == [["a", "b", CURRENT]] * 3
    met = meetings(read_windows(runs))
    assert {met[name, 1] for name in NAMES} == {met["a", 1]}
    assert _alone(machine, runs) == []


def test_one_that_fails_in_the_block_is_a_run_and_the_others_are_compared(machine: Machine) -> None:
    machine.outcomes["b"] = ["died"]
    runs = final(machine)
    assert [(run.trial.contender, run.trial.round) for run in runs if run.outcome == "died"] == [("b", 1)]
    windows = read_windows(runs)
    assert sum(window.run.trial.contender == "a" for window in windows) == 3
    assert sum(window.run.trial.contender == "b" for window in windows) == 2


def test_who_cannot_share_is_measured_alone_and_that_is_said(machine: Machine) -> None:
    machine.kept["b"] = "it failed beside others (it died), but served alone"
    machine.rests[CURRENT] = Rest(time_ns=10**9, cpu_ns=10**8)
    runs = final(machine)
    assert sorted(map(sorted, machine.blocks[:2])) == [["a", CURRENT], ["b"]]
    assert sorted(map(sorted, machine.blocks[2:5])) == [["a"], ["b"], [CURRENT]]
    assert set(_alone(machine, runs)) == {
        "b, 1 worker, 1 thread was measured alone: it failed beside others (it died), but served alone",
        "current, 1 worker, 1 thread was measured alone: it uses 10.0 % of a core while it rests",
    }


def test_an_interruption_ends_it_with_the_runs_so_far(machine: Machine) -> None:
    machine.stop_in = 2
    assert [run.outcome for run in final(machine)] == ["ok"] * 3 + ["interrupted"] * 3
    assert len(machine.blocks) == 2


BUDGET = Budget(typed="60s", seconds=60.0, bases=3, current=True, project=True, ready_s=0.5)


@pytest.mark.parametrize(
    ("rate", "a_round_s", "least_s", "alone"),
    [
        (8000.0, 20.0, 1.5, False),
        (8000.0, -9.0, 1.5, False),
        (40.0, 20.0, 2.7, False),
        (40.0, 5.0, 1.5, True),
    ],  # 8 connections
)
def test_turns_of_slow_servers_take_longer_runs_or_none_where_these_do_not_fit(
    machine: Machine, rate: float, a_round_s: float, least_s: float, alone: bool
) -> None:
    field = Field(runs={name: [block_run(name, [round(rate / 10)] * 8)] for name in NAMES})
    _, each_s = _turns(machine, field, NAMES, BUDGET, a_round_s)
    assert (each_s, machine.all_alone is not None) == (least_s, alone)
