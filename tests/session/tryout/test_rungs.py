"""Rungs: settings measured in blocks, on a machine whose servers are figures."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.session.tryout.machine import Machine, machine_in
from webdyno.design.blocks import Room
from webdyno.model.block import Rest
from webdyno.session.tryout import bench as bench_module
from webdyno.session.tryout import rungs as module
from webdyno.session.tryout.command import CURRENT
from webdyno.session.tryout.rungs import SHORT, Rungs, is_waiting, too_slow


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(bench_module, "room_here", lambda: Room(memory_bytes=None))
    return machine_in(tmp_path)


def rungs(machine: Machine, *, current: bool = False) -> Rungs:
    return Rungs(machine, 0.001, 0.0, 9.0, with_current=current)


def test_settings_are_measured_in_one_block_of_short_turns(machine: Machine) -> None:
    seen = rungs(machine).measure("abcd", 0.5)
    assert [sorted(block) for block in machine.blocks] == [["a", "b", "c", "d"]]
    assert machine.plans[0].turns == SHORT
    assert {name: each.rate_per_s for name, each in seen.items()} == pytest.approx(
        {"a": 1000.0, "b": 2000.0, "c": 3000.0, "d": 4000.0}
    )
    assert len({each.met for each in seen.values()}) == 1
    assert all(each.met.in_turns for each in seen.values())


def test_blocks_are_numbered_on_and_each_is_a_round_of_its_own(machine: Machine) -> None:
    screening = rungs(machine)
    first, second = screening.measure("ab", 0.5), screening.measure("ac", 0.5)
    assert (first["a"].round, second["a"].round) == (1, 2)
    assert first["a"].met != second["a"].met


def test_the_current_server_is_measured_once_beside_the_first_and_is_none_of_the_field(machine: Machine) -> None:
    screening = rungs(machine, current=True)
    assert screening.members() == 7
    assert set(screening.measure("ab", 0.5)) == {"a", "b"}
    assert screening.members() == 8
    assert set(screening.measure("cd", 0.5)) == {"c", "d"}
    assert [sorted(block) for block in machine.blocks] == [["a", "b", CURRENT], ["c", "d"]]
    assert screening.own_s == 1.5


def test_who_fails_in_a_block_is_measured_again_alone_and_the_others_go_on(machine: Machine) -> None:
    machine.outcomes["b"] = ["exited-at-start", "exited-at-start"]
    seen = rungs(machine).measure("abc", 0.5)
    assert [len(block) for block in machine.blocks] == [3, 1]
    assert (seen["b"].rate_per_s, seen["b"].run.block) == (0.0, None)
    assert seen["a"].rate_per_s == pytest.approx(1000.0)
    assert machine.kept == {}


def test_who_failed_beside_others_only_is_alone_from_then_on(machine: Machine) -> None:
    machine.outcomes["b"] = ["exited-at-start"]
    screening = rungs(machine)
    seen = screening.measure("abc", 0.5)
    assert seen["b"].rate_per_s == pytest.approx(2000.0)
    assert not seen["b"].met.in_turns
    assert seen["b"].met.block == seen["a"].met.block
    assert machine.kept == {"b": "it failed beside others (it exited-at-start), but served alone"}
    screening.measure("abc", 0.5)
    assert sorted(map(sorted, machine.blocks[2:])) == [["a", "c"], ["b"]]


def test_an_application_that_cannot_run_twice_is_measured_alone_as_soon_as_two_say_so(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.outcomes |= {"b": ["exited-at-start"], "c": ["died"]}
    screening = rungs(machine)
    screening.measure("abc", 0.5)
    assert screening.members() == 1
    assert capsys.readouterr().err == (
        "from here on each setting is measured alone: b and c failed beside others and served alone: it may be the "
        "app\n"
    )
    screening.measure("ad", 0.5)
    assert sorted(machine.blocks[-2:]) == [["a"], ["d"]]


def test_who_does_not_rest_is_measured_alone_from_then_on(machine: Machine) -> None:
    machine.rests["a"] = Rest(time_ns=10**9, cpu_ns=10**8)
    screening = rungs(machine)
    screening.measure("abc", 0.5)
    screening.measure("abc", 0.5)
    assert sorted(map(sorted, machine.blocks[1:])) == [["a"], ["b", "c"]]


def test_several_that_listen_on_one_port_are_never_alive_at_once(machine: Machine) -> None:
    for name in "ab":
        machine.built[name] = msgspec.structs.replace(machine.built[name], port=8080)
    machine.built["c"] = msgspec.structs.replace(machine.built["c"], port=9090)
    rungs(machine).measure("abcd", 0.5)
    assert sorted(map(sorted, machine.blocks)) == [["a"], ["b"], ["c", "d"]]


@pytest.mark.parametrize("at", [1, 2])
def test_ctrl_c_ends_it_and_nothing_is_measured_after_it(machine: Machine, at: int) -> None:
    machine.stop_in = at
    screening = rungs(machine)
    if at == 2:
        screening.measure("ab", 0.5)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            screening.measure("ab", 0.5)
    assert len(machine.blocks) == at


def test_what_compiles_settles_and_is_measured_once_more(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.compilers = {"a": ["PyPy"]}

    def settle(bench: Machine, name: str, compilers: list[str], seconds: float) -> str:
        bench.give(name, 7.0)
        return f"{name}: {compilers[0]}, {seconds:g} s"

    monkeypatch.setattr(module, "settle", settle)
    screening = rungs(machine)
    seen = screening.measure("abc", 0.5)
    assert [sorted(block) for block in machine.blocks] == [["a", "b", "c"], ["a"]]
    assert seen["a"].run.trial.asked.warmup_s == 7.0
    screening.measure("abc", 0.5)
    assert len(machine.blocks) == 3


@pytest.mark.parametrize(
    ("outcomes", "last", "unused"),
    [
        (["ok", "ok"], 1000.0, 1),
        (["wrong-answer", "ok"], 1000.0, 0),
        (["wrong-answer", "wrong-answer", "ok"], 0.0, 1),
        (["died", "ok"], 0.0, 1),
    ],
)
def test_alone_who_answered_wrongly_once_is_asked_again_and_nobody_else(
    machine: Machine, outcomes: list[str], last: float, unused: int
) -> None:
    machine.all_alone, machine.outcomes["a"] = "tests", outcomes
    seen = rungs(machine).measure("a", 0.5)
    assert seen["a"].rate_per_s == pytest.approx(last)
    assert len(outcomes) == unused


def test_a_load_of_its_own_is_longer_than_one_in_turns(machine: Machine) -> None:
    machine.all_alone = "tests"
    assert rungs(machine).measure("a", 0.5)["a"].run.trial.load.duration_s == 0.7


@pytest.mark.parametrize(("connections", "alone_s", "slow"), [(32, 0.001, False), (32, 0.02, True), (4, 0.02, False)])
def test_turns_of_an_application_that_is_slow_would_take_the_whole_budget(
    connections: int, alone_s: float, slow: bool
) -> None:
    assert (too_slow(connections, alone_s) is not None) == slow


@pytest.mark.parametrize(
    ("used", "rate", "waits"),
    [
        (0.1, 80.0, True),  # 4 of 32 are worked on, and the core is idle
        (0.1, 630.0, False),  # all of them are
        (0.9, 80.0, False),
        (None, 80.0, False),
    ],
)
def test_who_waits_has_idle_cores_and_requests_that_queue(used: float | None, rate: float, waits: bool) -> None:
    run = SimpleNamespace(rig=SimpleNamespace(contender_cores=(0,)))
    window: Any = SimpleNamespace(contender_cores=used, rate_per_s=rate, run=run)
    assert is_waiting(window, 32, 0.05) is waits
