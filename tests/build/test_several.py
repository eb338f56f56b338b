"""Several contenders at once: nobody waits for a failure, and Ctrl-C leaves nothing running."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.build.conftest import installs
from tests.build.fake_host import FakeHost
from tests.fakes import contender
from webdyno.build import Job, build_all
from webdyno.model.built import Built
from webdyno.model.errors import BuildError
from webdyno.rig.host import Command


def several(job: Job, *names: str) -> list[Job]:
    return [job._replace(contender=contender(name, requires=[f"{name}==1.0"])) for name in names]


def test_one_failure_does_not_stop_the_others(job: Job, tmp_path: Path) -> None:
    def answer(command: Command) -> str | int:
        fails = "install" in command.argv and "bad" in Path(command.argv[-1]).read_text()
        return 1 if fails else installs(command)

    said: dict[str, Built | BuildError] = {}
    built = build_all(several(job, "a", "bad", "c", "d"), tmp_path, FakeHost(answer), say=said.__setitem__)
    assert built == said
    assert {name: type(result) for name, result in built.items()} == {
        "a": Built, "bad": BuildError, "c": Built, "d": Built,
    }  # fmt: skip
    assert str(built["bad"]) == "could not install bad==1.0: uv ended with status 1"


def test_contenders_that_share_an_environment_make_it_once_even_together(job: Job, tmp_path: Path) -> None:
    host = FakeHost(installs)
    work = [job._replace(contender=contender(name, requires=["fast==1.0"])) for name in "abcd"]
    built = build_all(work, tmp_path, host, at_once=4)
    assert len(host.said("venv")) == 1
    assert sum(1 for result in built.values() if isinstance(result, Built) and result.seconds) >= 1


def test_no_more_than_asked_are_built_at_once(job: Job, tmp_path: Path) -> None:
    running, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(2)

    def answer(command: Command) -> str | int:
        nonlocal running, most
        if "venv" not in command.argv:
            return installs(command)
        with lock:
            running += 1
            most = max(most, running)
        together.wait(10)  # passes only when two are here at the same time
        with lock:
            running -= 1
        return installs(command)

    build_all(several(job, *"abcd"), tmp_path, FakeHost(answer), at_once=2)
    assert most == 2


def test_nothing_to_build_is_built_at_once(tmp_path: Path) -> None:
    assert build_all([], tmp_path, FakeHost(installs)) == {}


def test_the_wish_to_stop_ends_what_runs_and_begins_nothing_else(job: Job, tmp_path: Path) -> None:
    stop = threading.Event()

    def runs_for_ever(command: Command) -> None:
        stop.set()

    host = FakeHost(runs_for_ever)
    with pytest.raises(KeyboardInterrupt):
        build_all(several(job, *"abcdef"), tmp_path, host, stop, at_once=1)
    assert len(host.groups) == 1
    assert all(group.ended for group in host.groups)


def test_an_interrupt_in_the_callers_thread_stops_the_builds(job: Job, tmp_path: Path) -> None:
    def interrupt(name: str, result: object) -> None:
        raise KeyboardInterrupt

    stop = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        build_all(several(job, *"abc"), tmp_path, FakeHost(installs), stop, interrupt)
    assert stop.is_set()


def test_an_error_of_our_own_is_not_hidden_in_a_result(job: Job, tmp_path: Path) -> None:
    def breaks(command: Command) -> int:
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space left"):
        build_all(several(job, "a", "b"), tmp_path, FakeHost(breaks))
