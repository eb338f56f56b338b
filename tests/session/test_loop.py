"""The loop: what a design wants is carried out, written down and told, and nothing after an interruption."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, SECOND, plan, run
from webdyno.design import Block, done_in
from webdyno.load.driver import Event, Summary
from webdyno.model.block import Turns
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.run import Run
from webdyno.session import loop
from webdyno.session.listeners import Kept, Listeners
from webdyno.session.loop import Loop, OnContenders
from webdyno.store import Store

RUNS = [run(name, round_=round_) for round_ in (1, 2) for name in ("a", "b")]
BY_ID = {each.trial.id: each for each in RUNS}
TRIALS = [each.trial for each in RUNS]


class Ear:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def begin(self, block: Block) -> None:
        self.heard.append("+".join(f"{trial.contender}{trial.round}" for trial in block))

    def event(self, event: Event) -> None: ...

    def end(self, run: Run) -> None:
        self.heard.append(f"{run.trial.contender}{run.trial.round}.")


def blocks_of(*sizes: int) -> list[Block]:
    left = list(TRIALS)
    return [[left.pop(0) for _ in range(size)] for size in sizes]


def looped(
    tmp_path: Path, blocks: Sequence[Block], stop_in: int = 99, sleep_in: int = 99
) -> tuple[list[str], list[Run], int]:
    """What was heard, what is written, and how many Trials the plan has afterwards, if it began with the first."""
    interrupted, ear, carried, slept = threading.Event(), Ear(), list[Block](), [17 * SECOND]

    def conduct(block: Block) -> list[Run]:
        carried.append(block)
        if len(carried) == stop_in:
            interrupted.set()
        if len(carried) == sleep_in:
            slept.append(4 * 3600 * SECOND)
        return [BY_ID[trial.id] for trial in block]

    def design(runs: Sequence[Run]) -> Sequence[Block]:
        done = done_in(runs)
        return [block for block in blocks if block[0].id not in done][:2]

    made = plan(RUNS[:1], contenders=plan(RUNS).contenders)
    with Store.create(tmp_path / "r", made, FINGERPRINT) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "slept_ns", lambda: sum(slept))
        Loop(made, store, conduct, ear, interrupted).follow(design)
        return ear.heard, store.runs(), len(store.plan().trials)


def test_a_design_is_asked_again_until_it_wants_nothing_more(tmp_path: Path) -> None:
    heard, runs, planned = looped(tmp_path, blocks_of(1, 1, 1, 1))
    assert heard == ["a1", "a1.", "b1", "b1.", "a2", "a2.", "b2", "b2."]
    assert [each.trial.id for each in runs] == [trial.id for trial in TRIALS]
    assert planned == 4


def test_trials_of_a_block_begin_together_and_each_run_is_told(tmp_path: Path) -> None:
    heard, runs, _ = looped(tmp_path, blocks_of(2, 2))
    assert heard == ["a1+b1", "a1.", "b1.", "a2+b2", "a2.", "b2."]
    assert len(runs) == 4


@pytest.mark.parametrize("moment", ["event", "log", "end"])
def test_a_folder_that_is_removed_ends_the_block_in_flight_and_nothing_is_made_anew(
    tmp_path: Path, moment: str
) -> None:
    made = plan(RUNS[:1], contenders=plan(RUNS).contenders)
    went_on: list[str] = []
    with Store.create(tmp_path / "r", made, FINGERPRINT) as store:
        told = Listeners([Kept(store.refuse_moved)])

        def conduct(block: Block) -> list[Run]:
            shutil.rmtree(tmp_path / "r")
            if moment == "log":
                raise FileNotFoundError(2, "No such file or directory", "a log in it")
            if moment == "event":
                told.event(Summary({}))
                went_on.append("no further")
            return [BY_ID[trial.id] for trial in block]

        with pytest.raises(MachineError, match=r"/r was removed, moved or replaced while webdyno wrote to it"):
            Loop(made, store, conduct, told, threading.Event()).carry_out(TRIALS[:1])
    assert not went_on
    assert not (tmp_path / "r").exists()


def test_blocks_of_a_plan_that_goes_on_are_numbered_on() -> None:
    """Contenders are compared within their blocks: two of one number would be taken for one."""
    done = [msgspec.structs.replace(each, block=number) for each, number in zip(RUNS, (1, 1, 2, None), strict=True)]
    book: Any = SimpleNamespace(runs=lambda: done)
    ready: Any = SimpleNamespace(plan=SimpleNamespace(turns=Turns()), built={})
    numbers: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "conduct_block", lambda number, *_: numbers.append(number))
        patch.setattr(OnContenders, "bench", lambda *_: None)
        carry_out = OnContenders(ready=ready, strapped=None, services=None, book=book).conduct()  # type: ignore[arg-type]
        carry_out(TRIALS[:2])
        carry_out(TRIALS[2:])
    assert numbers == [3, 4]


def test_an_interrupted_block_is_written_down_and_is_the_last(tmp_path: Path) -> None:
    heard, runs, planned = looped(tmp_path, blocks_of(1, 1, 1, 1), stop_in=3)
    assert heard[-1] == "a2."
    assert (len(runs), planned) == (3, 3)


def test_a_block_in_which_the_machine_slept_is_written_down_as_interrupted_and_measured_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "webdyno")
    heard, runs, _ = looped(tmp_path, blocks_of(2, 2), sleep_in=1)
    assert heard[:6] == ["a1+b1", "a1.", "b1.", "a1+b1", "a1.", "b1."]
    assert [each.outcome for each in runs] == ["ok"] * 4, "the last Run of each Trial counts"
    with closing(sqlite3.connect(tmp_path / "r" / "results.sqlite")) as written:
        rows = written.execute("SELECT outcome, json_extract(body, '$.message') FROM run ORDER BY number").fetchall()
    assert rows[:2] == [("interrupted", "the machine slept for 4 h 0 min while it was measured")] * 2
    assert [outcome for outcome, _ in rows[2:]] == ["ok"] * 4
    assert caplog.messages == ["note: the machine slept for 4 h 0 min while it was measured, so once more: a and b"]


def test_what_the_user_stopped_in_a_machine_that_slept_is_not_measured_again(tmp_path: Path) -> None:
    heard, runs, _ = looped(tmp_path, blocks_of(1, 1), stop_in=1, sleep_in=1)
    assert heard == ["a1", "a1."]
    assert [each.outcome for each in runs] == ["interrupted"]


class Hosts:
    """Of loads: those that are lost, one after the other, as blocks are carried out."""

    def __init__(self, spare: list[str]) -> None:
        self.lost, self.spare = "", spare

    def replace_lost(self) -> list[str]:
        if not self.lost:
            return []
        if not self.spare:
            raise MachineError("the cluster has no other host for the load")
        self.lost = ""
        return [f"load comes from {self.spare.pop(0)} from now on"]


def looped_with(hosts: Hosts, tmp_path: Path, lost_in: Sequence[int]) -> tuple[list[str], list[tuple[str, str]]]:
    """What was heard, and how each Run ended that is written down; a host is lost in these blocks."""
    ear, carried = Ear(), list[Block]()

    def conduct(block: Block) -> list[Run]:
        carried.append(block)
        runs = [BY_ID[trial.id] for trial in block]
        if len(carried) in lost_in:
            hosts.lost = "10.0.0.2 is gone"
            runs[0] = msgspec.structs.replace(runs[0], outcome="interrupted", message=hosts.lost)
        return runs

    with Store.create(tmp_path / "r", plan(RUNS, contenders=plan(RUNS).contenders), FINGERPRINT) as store:
        made = Loop(store.plan(), store, conduct, ear, threading.Event(), hosts)
        for block in blocks_of(2, 2):
            made.carry_out(block)
        return ear.heard, [(run.outcome, run.message) for _, run in store.numbered(replaced=True)]


def test_a_block_whose_load_lost_its_host_is_measured_again_whole_from_another_and_no_other_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A Run of it that was complete would else stand beside the one that replaces it."""
    caplog.set_level("INFO", "webdyno")
    heard, written = looped_with(Hosts(["10.0.0.3"]), tmp_path, [1])
    assert heard[:9] == ["a1+b1", "a1.", "b1.", "a1+b1", "a1.", "b1.", "a2+b2", "a2.", "b2."]
    assert written == [("interrupted", "10.0.0.2 is gone")] * 2 + [("ok", "")] * 4
    assert caplog.messages == [
        "note: load comes from 10.0.0.3 from now on",
        "note: 10.0.0.2 is gone, so once more: a and b",
    ]


def test_where_no_host_is_left_for_loads_what_was_measured_is_kept_and_the_sentence_says_how_to_go_on(
    tmp_path: Path,
) -> None:
    hosts = Hosts([])
    with pytest.raises(MachineError, match=r"no other host for the load; continue with --resume .*/r$"):
        looped_with(hosts, tmp_path, [2])
    with Store.open(tmp_path / "r") as store:
        assert [run.outcome for run in store.runs()] == ["ok", "ok", "interrupted", "interrupted"]
        assert len(store.done()) == 2


def test_a_host_that_is_lost_when_its_load_is_over_costs_no_run(tmp_path: Path) -> None:
    hosts = Hosts(["10.0.0.3"])
    hosts.lost = "10.0.0.2 is gone"
    _, written = looped_with(hosts, tmp_path, [])
    assert written == [("ok", "")] * 4 and hosts.spare == []


def test_a_host_that_is_lost_in_the_last_load_of_a_plan_is_not_missed(tmp_path: Path) -> None:
    hosts, ear = Hosts([]), Ear()

    def conduct(block: Block) -> list[Run]:
        hosts.lost = "10.0.0.2 is gone"  # once all was said
        return [BY_ID[trial.id] for trial in block]

    with Store.create(tmp_path / "r", plan(RUNS, contenders=plan(RUNS).contenders), FINGERPRINT) as store:
        Loop(store.plan(), store, conduct, ear, threading.Event(), hosts).carry_out(TRIALS)
        assert [run.outcome for run in store.runs()] == ["ok"] * 4


@pytest.mark.parametrize(("there", "fits"), [("4.2.0", True), ("4.1.0", False)])
def test_a_host_fits_that_has_the_load_tools_of_those_before(
    there: str, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready: Any = SimpleNamespace(drivers={"wrk": "4.2.0"})
    nothing: Any = None
    way = OnContenders(ready=ready, strapped=nothing, services=nothing, book=nothing)
    monkeypatch.setattr(loop, "driver_versions", lambda names, _: dict.fromkeys(names, there))
    host: Any = SimpleNamespace(name="10.0.0.3")
    if fits:
        way._fit(host)
        return
    with pytest.raises(UsageError, match=r"10\.0\.0\.3 has wrk 4\.1\.0, and the load came from wrk 4\.2\.0"):
        way._fit(host)
