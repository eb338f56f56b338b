"""Warming: a contender that is measured alone is warmed up by its answers as one in a block is, and then measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from tests.conduct.test_block import LOAD, Machine
from tests.conduct.test_trial import BUILT, Loading
from webdyno.analyse.parts import gain
from webdyno.analyse.window import read_window
from webdyno.conduct import conduct, conduct_block, fence
from webdyno.conduct.block import SHORT_QUEUE
from webdyno.load.driver import DriverCommand, Event, Order, PhaseEdge, Summary
from webdyno.load.engine import Engine
from webdyno.model.block import Taken, Turns
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.sample import Slice
from webdyno.model.trial import Trial

COMPILING = msgspec.structs.replace(fakes.trial("one", load=LOAD), warmup_s=10.0, warmup_requests=5_000)
WARMING, *STEADY = fakes.slices([1_000.0, 1_000.0])


class Alone(Machine):
    """Whose driver also carries out a whole order by itself."""

    def __init__(self, folder: Path, **rates: float) -> None:
        super().__init__(folder, **rates)
        self.orders: list[Order] = []
        self.told: list[Event | Taken] = []
        self.reused = False
        self.stopped_after = 0
        """Events, at which the user wants an end; 0: never."""

    @contextmanager
    def serve(self, contender: Any, *given: object) -> Iterator[Any]:
        with super().serve(contender, *given) as served:
            served.reused = self.reused
            yield served

    def start(self, command: Any) -> Any:
        return Loading(command) if command.argv == ["load"] else super().start(command)

    def commands(self, order: Order) -> list[DriverCommand]:
        self.orders.append(order)
        return [DriverCommand(phase=None, argv=["load"], order=order)]

    def read(self, command: DriverCommand, lines: Iterator[str]) -> Iterator[Event]:
        if command.argv != ["load"]:
            yield from Engine.read(self, command, lines)  # type: ignore[arg-type]
            return
        assert list(lines) == []
        yield from (WARMING, PhaseEdge("steady", 7), *STEADY, PhaseEdge("ended", 9), Summary({"ended": "duration"}))

    def watch(self, event: Event | Taken) -> None:
        self.told.append(event)
        if len(self.told) == self.stopped_after:
            self.interrupted.set()

    def conducted(self, trial: Trial = COMPILING) -> Run:
        return conduct(trial, replace(self.bench(), watch=self.watch), BUILT)

    @property
    def stretches(self) -> list[float]:
        """Seconds of each."""
        return [seconds for _, phase, seconds in self.turns if phase == "warmup"]


@pytest.fixture
def machine(tmp_path: Path) -> Alone:
    return Alone(tmp_path, one=1_000.0)


def test_who_is_measured_alone_is_warmed_up_by_its_answers_and_then_for_one_stretch(machine: Alone) -> None:
    run = machine.conducted()
    assert run.outcome == "ok"
    assert machine.stretches == [1.0] * 6, "5,000 at 1,000 a second, and six show whether it climbs"
    (order,) = machine.orders
    assert (order.load.warmup_s, order.load.duration_s) == (1.0, LOAD.duration_s)
    assert [slice_.phase for slice_ in run.slices] == ["warmup"] * 7 + ["steady"] * 2
    assert [slice_.is_stretch for slice_ in run.slices] == [True] * 6 + [False] * 3
    assert [slice_.index for slice_ in run.slices] == list(range(9))
    assert (run.steady_start_ns, run.steady_end_ns, run.driver_command) == (7, 9, ["load"])
    assert run.summary == {"ended": "duration"}
    assert (run.block, run.rest, gain(run)) == (None, None, pytest.approx(1.0))


def test_its_figures_are_those_of_its_order_alone(machine: Alone) -> None:
    window = read_window(machine.conducted())
    assert window is not None
    assert (window.rate_per_s, window.turned) == (1_000.0, None)


def test_who_watches_sees_its_stretches_as_seconds_of_warm_up(machine: Alone) -> None:
    run = machine.conducted()
    told = [event for event in machine.told if isinstance(event, Slice)]
    assert [msgspec.structs.replace(each, index=at) for at, each in enumerate(told)] == run.slices
    assert not any(isinstance(event, Taken) for event in machine.told)


def test_alone_too_a_warm_up_goes_on_while_the_contender_gets_faster_and_ends_in_any_case(machine: Alone) -> None:
    machine.compiles["one"] = 12
    machine.conducted()
    assert 12 < len(machine.stretches) < 30
    machine.turns.clear()
    run = machine.conducted(msgspec.structs.replace(COMPILING, warmup_requests=10**6))
    assert (sum(machine.stretches), run.outcome) == (30.0, "ok")


def test_a_server_that_was_loaded_before_has_only_to_show_that_it_gets_no_faster(machine: Alone) -> None:
    machine.reused = True
    run = machine.conducted(msgspec.structs.replace(COMPILING, warmup_requests=10**6))
    assert (len(machine.stretches), run.reused) == (6, True)


def test_its_last_warm_up_is_long_enough_to_open_its_connections(machine: Alone) -> None:
    slowly = msgspec.structs.replace(LOAD, warmup_s=10.0, opening_s=3.0)
    machine.conducted(msgspec.structs.replace(COMPILING, load=slowly))
    assert [order.load.warmup_s for order in machine.orders] == [3.0]
    machine.conducted(
        msgspec.structs.replace(COMPILING, load=msgspec.structs.replace(LOAD, warmup_s=0.1), warmup_s=0.1)
    )
    assert machine.orders[-1].load.warmup_s == 0.1, "never more than asked"


@pytest.mark.parametrize(
    "changes",
    [
        {"warmup_requests": None},
        {"driver": "ab"},
        {"load": Load(connections=4, count=1_000)},
        {"load": Load(connections=4, duration_s=1.0, drivers=2)},
        {"load": Load(connections=4, max_connections=4, rate_per_s=9.0, duration_s=1.0)},
        {"load": Load(connections=4, duration_s=1.0, warmup_s=9.0, opening_s=9.0)},
    ],
)
def test_other_drivers_and_other_loads_are_given_their_seconds(changes: dict[str, Any]) -> None:
    assert COMPILING.counts_answers
    assert not msgspec.structs.replace(COMPILING, **changes).counts_answers


def test_who_counts_no_answers_has_one_order_with_all_of_its_warm_up(machine: Alone) -> None:
    run = machine.conducted(msgspec.structs.replace(COMPILING, warmup_requests=None))
    assert (machine.stretches, [order.load.warmup_s for order in machine.orders]) == ([], [10.0])
    assert run.slices == [WARMING, *STEADY]


def test_who_dies_in_its_warm_up_has_died_and_is_not_loaded_any_more(machine: Alone) -> None:
    machine.failing["one"] = "dead"
    assert (machine.conducted().outcome, machine.orders) == ("died", [])


def test_who_leaves_its_cores_in_its_warm_up_is_found_there(machine: Alone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fence, "LOOK_S", 0.0)
    monkeypatch.setattr(fence, "REST", 0)
    machine.failing["one"] = "outside"
    run = machine.conducted()
    assert (run.outcome, machine.orders) == ("escaped", [])
    assert len(machine.stretches) < 6


def test_an_interruption_in_a_warm_up_ends_the_trial(machine: Alone) -> None:
    machine.stopped_after = 3
    run = machine.conducted()
    assert (run.outcome, machine.orders, len(machine.stretches)) == ("interrupted", [], 3)


def test_who_is_set_aside_by_its_block_is_warmed_up_alone_by_its_answers_again(tmp_path: Path) -> None:
    machine = Alone(tmp_path, one=900.0, two=900.0)
    machine.opened["one"], machine.places["one"] = 900, 5
    trials = [msgspec.structs.replace(COMPILING, id=name, contender=name) for name in machine.rates]
    runs = conduct_block(1, trials, machine.bench(), dict.fromkeys(machine.rates, BUILT), Turns())
    assert [run.set_aside for run in runs] == [SHORT_QUEUE, ""]
    assert [name for name, phase, _ in machine.turns if phase == "warmup"] == ["one"] * 6 + ["two"] * 6 + ["one"] * 6
    assert sum(slice_.is_stretch for slice_ in runs[0].slices) == 6
