"""Conduct: what a Trial becomes that the user stopped, wherever it was, and that a failure before that stays one."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from webdyno.conduct import Bench, conduct
from webdyno.conduct.trial import events_of
from webdyno.load.driver import DriverCommand, Event, Fault, Order, PhaseEdge
from webdyno.model.built import Built
from webdyno.model.errors import AnswerError, LostError, ServiceError, StartError
from webdyno.model.run import Outcome, Run
from webdyno.model.sample import Slice

BUILT = Built(contender="go", key="k", directory="/", environment={}, versions={}, log="log", seconds=0.0)
WARMING, STEADY, _ = fakes.slices([1_000.0, 1_000.0])
STEPS: dict[Outcome, str] = {
    "service-failed": "service",
    "never-ready": "start",
    "no-success": "load",
    "driver-failed": "fault",
    "wrong-answer": "verify",
}
"""Where each of these failures arises."""


class Serving:
    """The group of a server that lives on."""

    members: Sequence[Sequence[int]] = ()
    """Its processes, look for look."""
    clock_ahead_ns, lost = 0, ""

    def pids(self) -> list[int]:
        here, *self.members = self.members or [()]
        return list(here)

    def has_ended(self) -> bool:
        return False

    def cpu_ns(self) -> None:
        return None

    throttled_ns = memory_peak_bytes = oom_killed = refused_forks = flooded = cpu_ns

    left_at = 0
    """The look at which it is no more where it was put; 0: never."""

    def outside(self, *, whole: bool = False) -> str | None:
        self.left_at -= 1
        return None if self.left_at else "process 7 (sly) left its cgroup and was found in /sys/fs/cgroup"


class Loading(Serving):
    """The group of a driver that has said all that it had to say."""

    def __init__(self, command: object) -> None:
        reading, writing = os.pipe()
        os.close(writing)
        self.stdout = os.fdopen(reading, "rb")

    status = 0

    def terminate(self) -> None:
        """It has ended."""

    def wait(self, timeout_s: float) -> int:
        return self.status

    def last_words(self) -> str:
        return "SIGKILL"

    def end(self, grace_s: float) -> list[str]:
        self.stdout.close()
        return []


class Bed:
    """All that is around a Trial; something fails at one step, and the user stops it right before or after that."""

    can = fakes.run().driver_can

    def __init__(self, folder: Path, failing: str, stopped: str) -> None:
        self.folder, self.failing, self.stopped = folder, failing, stopped
        self.interrupted = threading.Event()
        self.service_lives = True
        self.server, self.stowaways, self.loads = Serving(), [], 0
        self.start_error = StartError("it did not serve in time", exited=False)
        self.lost = ""

    def stop(self, when: str) -> None:
        if when == self.stopped:
            self.interrupted.set()

    def fail(self, step: str, error: Exception) -> None:
        if step == self.failing:
            self.stop("before")
            raise error

    def ready(self, name: str, delay_ms: int) -> Any:
        self.fail("service", ServiceError("it does not answer"))
        return SimpleNamespace(
            backing=None,
            given={},
            group=None,
            fault=lambda: None if self.service_lives else ServiceError("it ended"),
        )

    @contextmanager
    def serve(self, *_: object) -> Iterator[Any]:
        self.fail("start", self.start_error)
        try:
            yield SimpleNamespace(
                **dict.fromkeys(("probe", "reused", "sound")),
                **{name: [] for name in ("requests", "command", "notes")},
                **dict.fromkeys(("workers", "threads", "port"), 1),
                **dict.fromkeys(("gil_modules", "compilers"), list),
                host="127.0.0.1",
                log_tail=str,
                environment={},
                group=self.server,
                verify=lambda _: self.fail("verify", AnswerError("expected status 200, got 500")),
            )
        finally:
            self.stop("after")

    def commands(self, order: Order) -> list[DriverCommand]:
        self.loads += 1
        return [DriverCommand(phase=None, argv=["load"], order=order)]

    def read(self, command: DriverCommand, lines: Iterator[str]) -> Iterator[Event]:
        yield WARMING
        if self.failing in ("load", "fault"):
            self.stop("before")
        if self.failing == "fault":
            yield Fault(message="it was told to end")
        if self.failing != "load":
            yield STEADY
        assert list(lines) == []

    def bench(self) -> Bench:
        made: Any = SimpleNamespace(
            daemons=None,
            far=(),
            lost=self.lost,
            rig=fakes.RIG,
            folder=lambda: self.folder,
            drop=lambda _: None,
            start=Loading,
            interrupted=self.interrupted,
            stowaways=lambda: self.stowaways,
        )
        mine: Any = self
        workloads = {"hello": fakes.workload(service="redis")}
        return Bench(
            plan=msgspec.structs.replace(fakes.plan([fakes.run()]), workloads=workloads),
            strapped=made,
            services=mine,
            driver=mine,
            driver_version="1",
            contender_log=lambda _: self.folder / "log",
            driver_log=lambda _: self.folder / "driver.log",
            serve=self.serve,
        )


def conducted(folder: Path, failing: str, stopped: str) -> Run:
    bench = Bed(folder, failing, stopped).bench()
    return conduct(fakes.trial(), bench, BUILT)


@pytest.mark.parametrize(("outcome", "step"), STEPS.items())
def test_what_fails_by_itself_is_called_by_its_name(outcome: Outcome, step: str, tmp_path: Path) -> None:
    assert conducted(tmp_path, step, "never").outcome == outcome


@pytest.mark.parametrize("step", ["nothing", "load", "verify"])
def test_what_a_contender_makes_of_a_service_that_failed_is_the_services_failure(step: str, tmp_path: Path) -> None:
    bed = Bed(tmp_path, step, "never")
    bed.service_lives = False
    run = conduct(fakes.trial(), bed.bench(), BUILT)
    assert (run.outcome, run.message) == ("service-failed", "it ended")


@pytest.mark.parametrize("step", STEPS.values())
def test_what_fails_once_the_user_stopped_it_is_no_failure_of_the_contender(step: str, tmp_path: Path) -> None:
    run = conducted(tmp_path, step, "before")
    assert (run.outcome, run.message, run.log_tail) == ("interrupted", "stopped by the user", "")


@pytest.mark.parametrize(("failing", "outcome"), [("load", "no-success"), ("fault", "driver-failed")])
def test_what_had_failed_when_the_user_stopped_it_stays_so(failing: str, outcome: Outcome, tmp_path: Path) -> None:
    assert conducted(tmp_path, failing, "after").outcome == outcome


def test_nothing_failed_and_yet_it_was_stopped(tmp_path: Path) -> None:
    assert conducted(tmp_path, "nothing", "never").outcome == "ok"
    assert conducted(tmp_path, "nothing", "after").outcome == "interrupted"


def test_a_driver_that_was_killed_is_told_with_what_ended_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Loading, "status", -9)
    run = conducted(tmp_path, "fault", "never")
    assert (run.outcome, run.message) == ("driver-failed", "it was told to end (it was ended by SIGKILL)")


@pytest.mark.parametrize("step", ["fault", "load"])
def test_what_a_load_comes_to_whose_host_is_lost_is_no_word_about_the_contender(step: str, tmp_path: Path) -> None:
    bed = Bed(tmp_path, step, "never")
    bed.lost = "10.0.0.2, the host of the load, is gone"
    run = conduct(fakes.trial(), bed.bench(), BUILT)
    assert (run.outcome, run.message) == ("interrupted", "10.0.0.2, the host of the load, is gone")


def test_a_host_that_is_lost_before_its_load_starts_interrupts_the_trial(tmp_path: Path) -> None:
    bed = Bed(tmp_path, "nothing", "never")
    bed.lost = "10.0.0.2, the host of the load, is gone"
    bench = bed.bench()

    def start(_: object) -> None:
        raise LostError(bed.lost)

    strapped: Any = bench.strapped
    strapped.start = start
    run = conduct(fakes.trial(), bench, BUILT)
    assert (run.outcome, run.message) == ("interrupted", bed.lost)


def test_what_a_contender_does_wrong_stays_its_own_though_the_host_of_the_load_is_lost(tmp_path: Path) -> None:
    bed = Bed(tmp_path, "start", "never")
    bed.lost = "10.0.0.2, the host of the load, is gone"
    assert conduct(fakes.trial(), bed.bench(), BUILT).outcome == "never-ready"


@pytest.mark.parametrize(("look", "loads"), [(1, 0), (2, 1)])
def test_who_left_its_cgroup_has_escaped_and_is_not_loaded_any_more(look: int, loads: int, tmp_path: Path) -> None:
    bed = Bed(tmp_path, "nothing", "never")
    bed.server.left_at = look
    run = conduct(fakes.trial(), bed.bench(), BUILT)
    assert (run.outcome, bed.loads) == ("escaped", loads)
    assert "process 7 (sly) left its cgroup" in run.message


def test_a_worker_that_was_replaced_under_load_is_in_the_run(tmp_path: Path) -> None:
    bed = Bed(tmp_path, "nothing", "never")
    ours, parent = os.getpid(), os.getppid()
    bed.server.members = [[ours, parent], *([[ours, 1]] * 99)]
    run = conduct(fakes.trial(), bed.bench(), BUILT)
    assert (run.outcome, [(loss.pid, loss.replaced) for loss in run.losses]) == ("ok", [(parent, True)])


def test_a_process_that_hid_whose_it_is_is_that_of_the_only_contender(tmp_path: Path) -> None:
    bed = Bed(tmp_path, "nothing", "never")
    bed.stowaways = [os.getpid()]
    run = conduct(fakes.trial(), bed.bench(), BUILT)
    assert run.outcome == "escaped"
    assert f"process {os.getpid()} (" in run.message


def test_who_was_refused_a_process_at_their_limit_has_failed(tmp_path: Path) -> None:
    bed = Bed(tmp_path, "nothing", "never")
    bed.server.refused_forks = lambda: True
    run = conduct(fakes.trial(), bed.bench(), BUILT)
    assert (run.outcome, run.message) == (
        "too-many-processes",
        "was refused more than 16,384 processes and threads under load",
    )


def test_a_flood_of_the_log_is_the_cause_of_all_that_came_of_it(tmp_path: Path) -> None:
    bed = Bed(tmp_path, "load", "never")
    bed.server.flooded = lambda: "wrote 1,074 MB into its log"
    bed.server.refused_forks = bed.server.has_ended = lambda: True  # it was killed
    run = conduct(fakes.trial(), bed.bench(), BUILT)
    assert (run.outcome, run.message) == ("flooded", "wrote 1,074 MB into its log")


def test_who_floods_its_log_before_it_serves_has_failed_by_that(tmp_path: Path) -> None:
    bed = Bed(tmp_path, "start", "never")
    bed.start_error = StartError("it was stopped", exited=True, flooded=True)
    assert conduct(fakes.trial(), bed.bench(), BUILT).outcome == "flooded"


def test_who_was_refused_a_process_before_it_served_has_failed_by_that(tmp_path: Path) -> None:
    bed = Bed(tmp_path, "start", "never")
    bed.start_error = StartError("it ended", exited=True, too_many=True)
    assert conduct(fakes.trial(), bed.bench(), BUILT).outcome == "too-many-processes"


def test_what_another_host_says_is_told_at_our_clock_and_its_loss_is_the_reason() -> None:
    said: list[Event] = [PhaseEdge("steady", 1_000), msgspec.structs.replace(STEADY, start_ns=1_500), Fault("no more")]
    driver: Any = SimpleNamespace(read=lambda _command, _lines: iter(said))
    group: Any = SimpleNamespace(clock_ahead_ns=400, lost="10.0.0.2 is gone")
    order = Order(host="10.0.0.1", port=80, requests=[], load=fakes.run().trial.load, cores=(0,))
    command = DriverCommand(phase=None, argv=[], order=order)
    edge, slice_, fault = events_of(driver, command, iter(()), group)
    assert isinstance(edge, PhaseEdge) and edge.at_ns == 600
    assert isinstance(slice_, Slice) and slice_.start_ns == 1_100
    assert isinstance(fault, Fault) and fault.message == "10.0.0.2 is gone"
