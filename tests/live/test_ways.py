"""Contenders kept to their limits in each way: in containers, and bare, as a user who may make no cgroup."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import webdyno
from tests.live import left_behind
from tests.live.conftest import CATALOGUE, Call
from webdyno.model.run import Run
from webdyno.store import Store

# One after the other: an engine's containers are those of the whole machine.
pytestmark = [pytest.mark.live, pytest.mark.measures, pytest.mark.timeout(180)]
NOBODY = 64_321
"""A number that no user has: it needs no account, and leaves none."""


@functools.cache
def engine() -> str:
    """The engine that webdyno will take; the test is skipped where none answers."""
    for name in ("podman", "docker"):
        found = shutil.which(name)
        if found and subprocess.run([found, "info"], capture_output=True, check=False, timeout=30).returncode == 0:
            return found
    pytest.skip("no container engine here that answers (podman, docker)")


@pytest.fixture
def contained(webdyno: Call) -> Iterator[Call]:
    """Calls of webdyno, whose contenders are in containers; nothing of them is left with the engine."""
    engine()
    tried = webdyno("check", "toy-good", "--way", "container")
    if tried.returncode == 3:
        pytest.skip(tried.stderr.strip().splitlines()[-1])
    assert tried.returncode == 0, tried.stdout
    yield lambda *arguments: webdyno(*arguments, "--way", "container")
    wait_for(lambda: left() == "")
    assert left_behind.processes() == []
    assert left_behind.cgroups() == []


def left() -> str:
    """Containers of ours, running or not."""
    command = [engine(), "ps", "--all", "--quiet", "--filter", "label=webdyno"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def runs(folder: Path) -> list[Run]:
    (made,) = (folder / "results").iterdir()
    with Store.open(made) as store:
        return store.runs()


def test_a_study_is_measured_in_containers_with_its_limits(contained: Call, tmp_path: Path) -> None:
    done = contained("run", "toys", "--memory", "96M", "--cpus", "0.5")
    assert done.returncode == 0, done.stderr
    assert "at most 0.5 CPUs, at most 96.0 MiB, container of " in " ".join(done.stdout.split())
    measured = runs(tmp_path)
    assert {run.outcome for run in measured} == {"ok"}
    for run in measured:
        assert (run.rig.way, run.rig.cpus, run.rig.memory_bytes) == ("container", 0.5, 96 * 2**20)
        assert run.memory_peak_bytes is not None
        assert run.memory_peak_bytes < 60 * 2**20  # the client of an engine alone takes more than a toy
        loaded = [reading for reading in run.readings if reading.role == "contender"]
        assert loaded[-1].cpu_user_ns + loaded[-1].cpu_system_ns > loaded[0].cpu_user_ns + loaded[0].cpu_system_ns
        assert run.notes == []


def test_what_goes_wrong_in_a_container_is_told_as_it_is_elsewhere(contained: Call, tmp_path: Path) -> None:
    contained("run", "failures")
    assert {run.trial.contender: run.outcome for run in runs(tmp_path)} == {
        "toy-good": "ok",
        "toy-no-install": "build-failed",
        "toy-exit": "exited-at-start",
        "toy-silent": "never-ready",
        "toy-wrong": "wrong-answer",
        "toy-die": "died",
        "toy-leak": "out-of-memory",
        "toy-stubborn": "ok",
    }


def test_a_user_who_may_make_no_cgroup_measures_bare_and_is_told_so(tmp_path: Path) -> None:
    python = readable_python()
    home = tmp_path / "home"
    home.mkdir()
    for folder in (home, *home.parents):
        if folder.stat().st_uid == os.getuid() and folder.is_relative_to(tmp_path.parents[1]):
            folder.chmod(0o755)
    os.chown(home, NOBODY, NOBODY)
    packages = [str(Path(webdyno.__file__).parents[1]), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    own = {"HOME": str(home), "TMPDIR": str(home), "WEBDYNO_LOCK": str(home), "PYTHONPATH": ":".join(packages)}
    words = ["run", "toys", "--memory", "96M", "--catalogue", str(CATALOGUE), "--trust"]
    done = subprocess.run(
        [python, "-m", "webdyno", *words],
        cwd=home,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **own},
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    assert "the memory limit of 96.0 MiB was not enforced" in " ".join(done.stdout.split())
    for run in runs(home):
        assert (run.outcome, run.rig.way) == ("ok", "bare")
        assert run.rig.cgroup_reason
    assert not [each for each in left_behind.marked() if str(home) in each.line]


def readable_python() -> str:
    """An interpreter of this version that everybody may start; the test is skipped where there is none."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    same = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for program in (sys.executable, f"/usr/bin/{same}", f"/usr/local/bin/{same}"):
        asked = [program, "-c", f"open({str(CATALOGUE / 'studies' / 'toys.toml')!r})"]
        try:
            if subprocess.run(asked, user=NOBODY, group=NOBODY, extra_groups=[], check=False, cwd="/").returncode == 0:
                return program
        except OSError:
            continue
    pytest.skip(f"no {same} here that every user may start, or this folder is root's alone")


def wait_for(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)
