"""Block: turns given to several contenders, with engines that are threads behind real pipes."""

from __future__ import annotations

import json
import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from webdyno import conduct
from webdyno.analyse.window import read_window
from webdyno.conduct import Bench, block, conduct_block, fence
from webdyno.conduct.block import RESTLESS, SERVICE_DIED, SHORT_QUEUE, STOWED, TOO_SLOW, UNANSWERED
from webdyno.load.engine import Engine
from webdyno.model.block import Rest, Turns
from webdyno.model.built import Built
from webdyno.model.errors import BuildError, MachineError, ServiceError, StartError
from webdyno.model.load import Load
from webdyno.model.run import Run

LOAD = Load(connections=10, duration_s=2.0, warmup_s=0.3)
NAMES = ("one", "two", "three")
ZEROS = dict.fromkeys(("bytes_in", "bytes_out", "connections_opened", "closes_announced", "closes_silent"), 0)
REST = dict.fromkeys(("stale_retries", "http10_answers", "in_flight", "cpu_user_ns", "cpu_system_ns"), 0)


class Machine:
    """A rig in which nothing is started: engines and servers are figures in a clock of their own."""

    can = Engine.can

    def __init__(self, folder: Path, **rates: float) -> None:
        self.folder, self.rates = folder, rates
        self.interrupted = threading.Event()
        self.turns: list[tuple[str, str, float]] = []
        """Whose, which phase, how long: in the order in which they were given."""
        self.alive: set[str] = set()
        self.most_alive = 0
        self.failing: dict[str, str] = {}
        """What goes wrong with whom."""
        self.cpu_ns: dict[str, int] = defaultdict(int)
        self.resting_cpu_ns = 0
        self.warmup_s: dict[str, float] = {}
        """Of those that take another than all the others."""
        self.warmup_requests: dict[str, int] = {}
        self.compiles: dict[str, int] = {}
        """For how many stretches of its warm-up each gets a fifth faster."""
        self.restless_looks: dict[str, float] = defaultdict(float)
        """How many more looks at each find that it used CPU meanwhile."""
        self.disturbed: list[str] = []
        """Whose turns began while somebody else was still at work."""
        self.ended: list[str] = []
        self.busy: dict[str, float] = defaultdict(lambda: 0.1)
        """Cores' worth of CPU that each uses under load; a lead costs it twice that."""
        self.leads: list[tuple[str, str, float]] = []
        self.looked = threading.Event()
        """At the CPU of a contender."""
        self.stowaways: list[int] = []
        self.alone: list[str] = []
        self.opened: dict[str, int] = defaultdict(int)
        """Connections that each opens anew in a stretch of load."""
        self.places: dict[str, int] = defaultdict(lambda: 128)
        """In the listen queue of each."""
        self.named: dict[int, str] = {}
        self.lock = threading.Lock()
        self.service: str | None = None
        self.ready: Any = None

    def bench(self) -> Bench:
        rig = msgspec.structs.replace(fakes.RIG, contender_cores=(0,))
        strapped: Any = SimpleNamespace(
            daemons=None,
            lost="",
            rig=rig,
            folder=lambda: self.folder,
            drop=lambda _: None,
            start=self.start,
            interrupted=self.interrupted,
            stowaways=lambda: self.stowaways,
        )
        mine: Any = self
        runs = [fakes.run(name) for name in self.rates]
        return Bench(
            plan=msgspec.structs.replace(
                fakes.plan(runs), turns=Turns(), workloads={"hello": fakes.workload(service=self.service)}
            ),
            strapped=strapped,
            services=mine,
            driver=mine,
            driver_version="1",
            contender_log=lambda trial: self.folder / f"{trial.contender}.log",
            driver_log=lambda trial: self.folder / f"{trial.contender}.driver.log",
            serve=self.serve,
        )

    @contextmanager
    def serve(self, contender: Any, *_: object) -> Iterator[Any]:
        name = contender.name
        if self.failing.get(name) == "start":
            raise StartError("it did not serve in time", exited=False)
        self.alive.add(name)
        self.most_alive = max(self.most_alive, len(self.alive))
        try:
            yield SimpleNamespace(
                **dict.fromkeys(("reused", "sound")),
                probe=SimpleNamespace(backlog=self.places[name]),
                **{empty: [] for empty in ("requests", "command", "notes")},
                **dict.fromkeys(("workers", "threads"), 1),
                **dict.fromkeys(("gil_modules", "compilers"), list),
                host="127.0.0.1",
                port=list(self.rates).index(name),
                environment={},
                group=Server(self, name),
                verify=lambda _: None,
                log_tail=lambda: "",
            )
        finally:
            self.alive.discard(name)
            self.ended.append(f"{name} after {len(self.turns)} turns")

    def start(self, command: Any) -> Any:
        return FakeEngine(self, command)

    def commands(self, order: Any) -> Any:
        """Who is conducted alone is not what is looked at here."""
        self.alone.append(list(self.rates)[order.port])
        return []

    read = Engine.read


class Server:
    """Its group."""

    clock_ahead_ns, lost = 0, ""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine, self.name = machine, name
        self.pid = os.getpid()

    def pids(self) -> list[int]:
        return []

    def has_ended(self) -> bool:
        return self.machine.failing.get(self.name) == "dead"

    def cpu_ns(self) -> tuple[int, int]:
        self.machine.looked.set()
        if self.machine.restless_looks[self.name] > 0:
            self.machine.restless_looks[self.name] -= 1
            self.machine.cpu_ns[self.name] += 10**8
        return self.machine.cpu_ns[self.name], 0

    def last_words(self) -> str:
        return "SIGSEGV"

    def oom_killed(self) -> bool:
        return False

    refused_forks = flooded = oom_killed

    def outside(self, *, whole: bool = False) -> str | None:
        """Once it had a turn."""
        is_out = self.machine.failing.get(self.name) == "outside" and self.machine.turns and not whole
        return "process 7 (sly) may run on cores 0, 1, and was given core 0" if is_out else None

    def throttled_ns(self) -> None:
        return None

    memory_peak_bytes = throttled_ns


class FakeEngine(Server):
    """Reads its order and its turns from one pipe, and answers on another, in no time."""

    def __init__(self, machine: Machine, command: Any) -> None:
        super().__init__(machine, "engine")
        reading, self.to = os.pipe()
        self.back, writing = os.pipe()
        self.stdin, self.stdout = os.fdopen(self.to, "wb"), os.fdopen(self.back, "rb")
        self.thread = threading.Thread(target=self.work, args=(os.fdopen(reading), os.fdopen(writing, "w")))
        self.thread.start()

    def has_ended(self) -> bool:
        return False

    def work(self, orders: Any, out: Any) -> None:
        with orders, out:
            order = json.loads(orders.readline())
            assert order["schema"] == 4
            assert order["turns"] is True
            name = list(self.machine.rates)[order["target"]["port"]]
            say(out, event="started", schema=4)
            say(out, event="ready", connections=order["pace"]["connections"])
            for number, line in enumerate(orders):
                asked = json.loads(line)
                if "end" in asked:
                    say(out, event="summary", ended="end", duration_ns=0, offered=0, ok=0, errors={})
                    return
                if not self.take(name, number, out, **asked["turn"]):
                    return

    def take(
        self, name: str, number: int, out: Any, duration_ns: int, phase: str, histograms: bool, lead_ns: int = 0
    ) -> bool:
        machine = self.machine
        if lead_ns:
            self.lead(name, number, out, lead_ns, phase)
        with machine.lock:
            machine.turns.append((name, phase, duration_ns / 1e9))
            if phase == "turn" and any(left > 0 for other, left in machine.restless_looks.items() if other != name):
                machine.disturbed.append(name)
            machine.cpu_ns[name] += round(duration_ns * machine.busy[name])
            for other in set(machine.rates) - {name}:
                machine.cpu_ns[other] += machine.resting_cpu_ns
        if machine.failing.get(name) == "engine" and phase == "turn":
            return False
        compiled = max(0, machine.compiles.get(name, 0) - number) if phase == "warmup" else 0
        ok = round(machine.rates[name] * duration_ns / 1e9 / 1.2**compiled)
        hangs = int(
            phase in {"hangs": ("turn",), "hangs always": ("warmup", "turn")}.get(machine.failing.get(name, ""), ())
        )
        if machine.failing.get(name) == "stop" and phase == "turn":
            machine.interrupted.set()
        say(
            out,
            event="slice",
            phase=phase,
            index=number,
            turn=number,
            start_ns=number * 10**9,
            duration_ns=duration_ns,
            offered=ok + hangs,
            ok=ok,
            errors={"timeout": hangs},
            latency_hdr=None,
            connect_hdr=None,
            drained_ns=1,
            reopened=0,
            **{**ZEROS, "connections_opened": machine.opened[name]},
            **REST,
        )
        return True

    def lead(self, name: str, number: int, out: Any, lead_ns: int, phase: str) -> None:
        machine = self.machine
        with machine.lock:
            machine.leads.append((name, phase, lead_ns / 1e9))
            machine.cpu_ns[name] += round(2 * lead_ns * machine.busy[name])
        machine.looked.clear()
        say(
            out,
            event="slice",
            phase="lead",
            index=number,
            turn=number,
            start_ns=number * 10**9 - lead_ns,
            duration_ns=lead_ns,
            offered=9,
            ok=8,
            errors={"reset": 1},
            latency_hdr=None,
            connect_hdr=None,
            drained_ns=0,
            reopened=0,
            **ZEROS,
            **REST,
        )
        # The CPU of the turn comes after the look at that of its lead.
        assert machine.looked.wait(5)

    def wait(self, timeout_s: float) -> int:
        return -9

    def last_words(self) -> str:
        return "SIGKILL"

    def terminate(self) -> None:
        with suppress(BrokenPipeError):
            os.write(self.to, b'{"end": true}\n')

    def end(self, grace_s: float) -> list[str]:
        with suppress(BrokenPipeError):
            self.stdin.close()
        self.thread.join()
        self.stdout.close()
        return []


def say(out: Any, **line: object) -> None:
    out.write(json.dumps(line) + "\n")
    out.flush()


def conducted(machine: Machine, **missing: BuildError) -> dict[str, Run]:
    trials = [
        msgspec.structs.replace(
            fakes.trial(name, load=LOAD),
            warmup_s=machine.warmup_s.get(name),
            warmup_requests=machine.warmup_requests.get(name),
        )
        for name in machine.rates
    ]
    names = list(machine.rates)
    built = {
        name: Built(contender=name, key="k", directory="/", environment={}, versions={}, log="l", seconds=0.0)
        for name in names
    }
    runs = conduct_block(4, trials, machine.bench(), {**built, **missing}, Turns())
    assert [run.trial for run in runs] == trials
    assert not machine.alive
    return {run.trial.contender: run for run in runs}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path, one=1_000.0, two=2_000.0, three=4_000.0)


def test_all_are_alive_at_once_and_each_pass_gives_everybody_one_turn(machine: Machine) -> None:
    runs = conducted(machine)
    assert machine.most_alive == 3
    assert {run.outcome for run in runs.values()} == {"ok"}
    warm = [name for name, phase, _ in machine.turns if phase == "warmup"]
    assert sorted(warm) == sorted(NAMES)
    turns = [name for name, phase, _ in machine.turns if phase == "turn"]
    passes = [turns[at : at + 3] for at in range(0, len(turns), 3)]
    assert all(sorted(each) == sorted(NAMES) for each in passes)
    assert len({tuple(each) for each in passes}) > 2, "in a random order"
    steady = [name for name, phase, _ in machine.turns if phase == "steady"]
    assert sorted(steady) == sorted(NAMES)
    for run in runs.values():
        assert (run.block, len(run.beside)) == (4, 2)
        assert [slice_.turn for slice_ in run.slices if slice_.phase == "turn"] == list(range(len(passes)))


def test_who_warms_up_longest_is_first_so_that_the_others_do_not_wait_for_it(machine: Machine) -> None:
    machine.warmup_s = {"two": 45.0, "three": 8.0}
    conducted(machine)
    assert machine.turns[:3] == [("two", "warmup", 45.0), ("three", "warmup", 8.0), ("one", "warmup", 0.3)]


def test_a_warm_up_that_counts_answers_ends_with_them_however_fast_the_machine_is(machine: Machine) -> None:
    machine.warmup_s, machine.warmup_requests = {"two": 10.0, "three": 10.0}, {"two": 5_000, "three": 5_000}
    conducted(machine)
    warm = [name for name, phase, _ in machine.turns if phase == "warmup"]
    assert warm == ["two"] * 6 + ["three"] * 6 + ["one"], "looked at every second, but six show whether it climbs"
    machine.turns.clear()
    machine.warmup_requests = {"two": 14_001, "three": 14_001}
    conducted(machine)
    warm = [name for name, phase, _ in machine.turns if phase == "warmup"]
    assert warm == ["two"] * 8 + ["three"] * 6 + ["one"], "at 2,000 and 4,000 a second"


def test_a_warm_up_that_counts_answers_goes_on_while_the_contender_gets_faster(machine: Machine) -> None:
    machine.warmup_s, machine.warmup_requests = {"two": 10.0}, {"two": 100}
    machine.compiles["two"] = 12
    conducted(machine)
    warm = [name for name, phase, _ in machine.turns if phase == "warmup" and name == "two"]
    assert 12 < len(warm) < 30


def test_a_warm_up_whose_answers_do_not_come_ends_all_the_same(machine: Machine) -> None:
    machine.warmup_s, machine.warmup_requests = {"two": 10.0}, {"two": 1_000_000}
    runs = conducted(machine)
    assert sum(length for name, phase, length in machine.turns if (name, phase) == ("two", "warmup")) == 30.0
    assert runs["two"].outcome == "ok"
    assert sum(slice_.phase == "warmup" for slice_ in runs["two"].slices) == 30


def test_the_same_seed_gives_the_same_order(tmp_path: Path) -> None:
    orders = []
    for _ in range(2):
        machine = Machine(tmp_path, one=1_000.0, two=2_000.0, three=4_000.0)
        conducted(machine)
        orders.append(machine.turns)
    assert orders[0] == orders[1]


def test_a_turn_holds_five_cycles(tmp_path: Path) -> None:
    # 10 connections at 200 answers in a second: 50 ms for one on each
    machine = Machine(tmp_path, one=200.0, two=50_000.0)
    conducted(machine)
    lengths = {(name, seconds) for name, phase, seconds in machine.turns if phase == "turn"}
    assert lengths == {("one", 0.25), ("two", 0.1)}


def test_what_is_busy_is_loaded_for_a_while_before_its_turns_count(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conduct.seat, "ENOUGH_REST_NS", -(10**12))  # its clock is not the real one
    machine.busy["two"] = 0.9
    runs = conducted(machine)
    assert {seconds for _, _, seconds in machine.leads} == {0.05}
    assert {phase for name, phase, _ in machine.leads if name == "two"} == {"turn", "steady"}, "and its window too"
    assert {name for name, _, _ in machine.leads} == {"two", "three"}, "the third has its answers in no time"
    slices = [slice_ for slice_ in runs["two"].slices if slice_.turn is not None]
    assert [slice_.phase for slice_ in slices] == ["lead", "turn"] * (len(slices) // 2)
    assert {slice_.contender_cpu_ns for slice_ in slices} == {90_000_000}, "each its own: in leads twice as fast"
    rest = runs["two"].rest
    assert rest is not None
    assert rest.cpu_ns == 0, "a lead is no rest"
    assert not [slice_ for slice_ in runs["one"].slices if slice_.phase == "lead"]


def test_what_waits_has_a_lead_only_where_half_an_answer_on_each_connection_is_little_of_a_turn(tmp_path: Path) -> None:
    # 10 connections at a tenth of a core: a cycle takes 0.2 ms, 5 ms and 50 ms.
    machine = Machine(tmp_path, one=50_000.0, two=2_000.0, three=200.0)
    conducted(machine)
    assert {name for name, _, _ in machine.leads} == {"one"}


def test_what_goes_wrong_in_a_lead_is_an_error_and_its_answers_are_in_no_rate(machine: Machine) -> None:
    machine.busy["two"] = 0.9
    run = conducted(machine)["two"]
    window = read_window(run)
    assert window is not None
    assert window.rate_per_s == pytest.approx(machine.rates["two"])
    assert window.errors == {"reset": sum(slice_.phase == "lead" for slice_ in run.slices)}


def in_turns(machine: Machine) -> float:
    """Seconds of all turns with their leads."""
    return sum(seconds for _, phase, seconds in [*machine.turns, *machine.leads] if phase == "turn")


def test_turns_with_leads_take_no_longer_than_turns_without(machine: Machine) -> None:
    machine.rates = dict.fromkeys(machine.rates, 1_000.0)
    conducted(machine)
    without = in_turns(machine)
    assert not machine.leads
    machine.turns.clear()
    machine.busy = defaultdict(lambda: 0.9)
    conducted(machine)
    assert machine.leads
    assert in_turns(machine) == pytest.approx(without, rel=0.1)


def test_the_slow_take_longer_turns_from_the_time_of_all(tmp_path: Path) -> None:
    machine = Machine(tmp_path, one=400.0, two=50_000.0)
    conducted(machine)
    assert in_turns(machine) == pytest.approx(2 * 4 / 3, rel=0.1)


def test_turns_and_steady_phase_are_as_long_together_as_the_load_alone(machine: Machine) -> None:
    runs = conducted(machine)
    under_load = [each.duration_ns for run in runs.values() for each in run.slices if each.phase != "warmup"]
    assert sum(under_load) == pytest.approx(3 * 2e9, rel=0.06)


def test_cpu_of_turns_and_of_rest_are_kept_apart(machine: Machine) -> None:
    machine.resting_cpu_ns = 1_000
    runs = conducted(machine)
    for run in runs.values():
        turns = [each for each in run.slices if each.phase == "turn"]
        assert [each.contender_cpu_ns for each in turns] == [each.duration_ns // 10 for each in turns]


def test_who_does_not_start_is_data_and_the_others_go_on(machine: Machine) -> None:
    machine.failing["two"] = "start"
    runs = conducted(machine)
    assert {name: run.outcome for name, run in runs.items()} == {"one": "ok", "two": "never-ready", "three": "ok"}
    assert {name for name, _, _ in machine.turns} == {"one", "three"}


def test_who_is_not_built_is_not_waited_for(machine: Machine) -> None:
    runs = conducted(machine, one=BuildError("no compiler"))
    assert {name: run.outcome for name, run in runs.items()} == {"one": "build-failed", "two": "ok", "three": "ok"}


def test_an_engine_that_ends_in_a_turn_fails_its_own_run_alone(machine: Machine) -> None:
    machine.failing["three"] = "engine"
    runs = conducted(machine)
    assert {name: run.outcome for name, run in runs.items()} == {"one": "ok", "two": "ok", "three": "driver-failed"}
    assert "ended without a summary" in runs["three"].message
    assert runs["three"].message.endswith(" (it was ended by SIGKILL)")


def test_a_server_that_is_dead_after_its_turns_has_died(machine: Machine) -> None:
    machine.failing["one"] = "dead"
    runs = conducted(machine)
    assert {name: run.outcome for name, run in runs.items()} == {"one": "died", "two": "ok", "three": "ok"}


def test_who_left_its_cores_for_a_turn_fails_its_own_run_alone(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block, "LOOK_S", 0.001)
    monkeypatch.setattr(fence, "LOOK_S", 0.0)
    machine.failing["two"] = "outside"
    runs = conducted(machine)
    assert {name: run.outcome for name, run in runs.items()} == {"one": "ok", "two": "escaped", "three": "ok"}
    assert "process 7 (sly) may run on cores 0, 1" in runs["two"].message


def test_who_shared_a_block_with_a_process_that_hid_whose_it_is_is_measured_alone(machine: Machine) -> None:
    machine.stowaways = [os.getpid()]
    runs = conducted(machine)
    assert sorted(machine.alone) == sorted(NAMES)
    assert {run.set_aside for run in runs.values()} == {STOWED}


def test_who_hangs_at_the_end_of_two_turns_is_measured_alone(machine: Machine) -> None:
    machine.failing["two"] = "hangs"
    runs = conducted(machine)
    assert sum(name == "two" and phase == "turn" for name, phase, _ in machine.turns) == 2
    assert machine.alone == ["two"]
    assert (runs["two"].block, runs["two"].set_aside) == (None, UNANSWERED)
    assert runs["one"].block == 4


def test_who_hangs_from_the_warm_up_on_takes_one_turn_and_the_others_all_of_theirs(
    machine: Machine, tmp_path: Path
) -> None:
    healthy = Machine(tmp_path, **machine.rates)
    conducted(healthy)
    machine.failing["two"] = "hangs always"
    runs = conducted(machine)
    assert sum(name == "two" and phase == "turn" for name, phase, _ in machine.turns) == 1
    assert (machine.alone, runs["two"].set_aside) == (["two"], UNANSWERED)
    for name in ("one", "three"):
        taken, usual = ([turn for turn in each.turns if turn[0] == name] for each in (machine, healthy))
        assert taken == usual


def test_who_takes_seconds_for_one_answer_on_each_connection_is_measured_alone(tmp_path: Path) -> None:
    machine = Machine(tmp_path, one=5.0, two=2_000.0)
    runs = conducted(machine)
    assert runs["one"].set_aside == TOO_SLOW
    assert {seconds for name, phase, seconds in machine.turns if phase == "turn"} == {0.1}


def test_who_has_no_place_for_all_that_connect_at_once_is_measured_alone(tmp_path: Path) -> None:
    """In a turn all of them come anew together, and wait a second where a longer load lets them come one by one."""
    rates = {"one": 900.0, "keeps": 900.0, "long": 900.0}
    machine = Machine(tmp_path, **rates)
    machine.opened |= dict.fromkeys(("one", "long"), 180)  # as many as there are answers in 200 ms
    machine.places |= {"one": 5, "keeps": 5, "long": LOAD.connections}
    runs = conducted(machine)
    assert {name: run.set_aside for name, run in runs.items()} == {"one": SHORT_QUEUE, "keeps": "", "long": ""}
    assert machine.alone == ["one"]
    assert not any(name == "one" for name, phase, _ in machine.turns if phase == "turn")


def test_who_does_not_rest_leaves_before_anybody_has_a_turn_and_is_measured_alone(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conduct.block, "SETTLE_S", 0.0)
    machine.restless_looks["two"] = 10**6
    runs = conducted(machine)
    assert machine.ended[0] == "two after 3 turns", "the warm-ups"
    assert machine.alone == ["two"]
    assert {name: run.set_aside for name, run in runs.items()} == {"one": "", "two": RESTLESS, "three": ""}
    assert {name for name, phase, _ in machine.turns if phase == "turn"} == {"one", "three"}


def test_who_does_not_rest_between_its_turns_leaves_and_the_others_begin_anew(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resting(seat: conduct.seat.Seat) -> Rest:
        return Rest(time_ns=10**9, cpu_ns=10**8 if seat.trial.contender == "two" else 10**7)

    monkeypatch.setattr(conduct.seat.Seat, "resting", resting)
    runs = conducted(machine)
    assert machine.ended[0] == "two after 9 turns", "three warm-ups and two passes"
    assert machine.alone == ["two"]
    assert {name: run.set_aside for name, run in runs.items()} == {"one": "", "two": RESTLESS, "three": ""}
    for name in ("one", "three"):
        taken = [slice_.turn for slice_ in runs[name].slices if slice_.phase == "turn"]
        assert taken == list(range(len(taken))), "of the passes without it alone"
        assert len(taken) == sum(each[:2] == (name, "turn") for each in machine.turns) - 2
        assert next(slice_.phase for slice_ in runs[name].slices) == "warmup"


def test_all_may_leave_a_block(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conduct.seat.Seat, "resting", lambda _: Rest(time_ns=10, cpu_ns=9))
    runs = conducted(machine)
    assert sorted(machine.alone) == sorted(NAMES)
    assert {run.set_aside for run in runs.values()} == {RESTLESS}


def test_what_is_still_at_work_after_its_warm_up_is_waited_for(machine: Machine) -> None:
    machine.restless_looks["two"] = 22 + 9  # those after its warm-up, and more
    runs = conducted(machine)
    assert {run.set_aside for run in runs.values()} == {""}
    assert machine.disturbed == []
    assert {name for name, phase, _ in machine.turns if phase == "turn"} == set(NAMES)


def test_an_interruption_in_a_turn_ends_all_of_them(machine: Machine) -> None:
    machine.failing["two"] = "stop"
    runs = conducted(machine)
    assert {run.outcome for run in runs.values()} == {"interrupted"}
    assert sum(name == "two" and phase == "turn" for name, phase, _ in machine.turns) == 1


@pytest.mark.parametrize("works", [True, False])
def test_a_service_is_made_ready_once_and_by_the_thread_that_outlives_the_block(machine: Machine, works: bool) -> None:
    asked: list[threading.Thread] = []

    def ready(name: str, delay_ms: int) -> Any:
        asked.append(threading.current_thread())
        if not works:
            raise ServiceError("it does not answer")
        return SimpleNamespace(backing=None, given={}, group=None, fault=lambda: None)

    machine.ready, machine.service = ready, "redis"
    runs = conducted(machine)
    assert asked == [threading.current_thread()]
    assert {run.outcome for run in runs.values()} == {"ok" if works else "service-failed"}


def test_everybody_whose_service_died_is_measured_alone_for_it_may_have_been_a_neighbour(machine: Machine) -> None:
    made = SimpleNamespace(backing=None, given={}, group=None, fault=lambda: ServiceError("it ended"))
    machine.ready, machine.service = lambda _, delay_ms: made, "redis"
    runs = conducted(machine)
    assert sorted(machine.alone) == sorted(NAMES)
    assert {(run.block, run.set_aside) for run in runs.values()} == {(None, SERVICE_DIED)}


def test_what_the_rig_cannot_do_is_raised_once_all_have_ended(machine: Machine) -> None:
    def start(command: Any) -> Any:
        raise MachineError("the cgroup could not be set up")

    bench = machine.bench()
    bench.strapped.start = start  # type: ignore[method-assign]
    trials = [fakes.trial(name, load=LOAD) for name in machine.rates]
    built: Any = {
        name: Built(contender=name, key="k", directory="/", environment={}, versions={}, log="l", seconds=0.0)
        for name in NAMES
    }
    with pytest.raises(MachineError, match="cgroup"):
        conduct_block(1, trials, bench, built, Turns())
    assert not machine.alive
