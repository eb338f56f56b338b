"""``webdyno try --image`` with a real engine: an image made here from one static program."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.live import left_behind
from tests.live.conftest import Call, answer
from webdyno.store import Store

SERVER = Path(__file__).parent / "container" / "server.c"
PROGRAM = "webdyno-test-server"
NAME = "localhost/webdyno-test:1"
# One after the other: they share the name of an image, and look at all containers of the machine.
pytestmark = [pytest.mark.live, pytest.mark.measures, pytest.mark.timeout(180)]


@functools.cache
def program() -> str:
    """The engine that webdyno will take; the test is skipped where none answers."""
    for name in ("podman", "docker"):
        found = shutil.which(name)
        if found and subprocess.run([found, "info"], capture_output=True, check=False, timeout=30).returncode == 0:
            return found
    pytest.skip("no container engine here that answers (podman, docker)")


def engine(*arguments: str, check: bool = True) -> str:
    return subprocess.run([program(), *arguments], capture_output=True, text=True, check=check, timeout=60).stdout


def running() -> list[str]:
    """Processes of our containers, a living webdyno's too; others may be measuring on this machine."""
    return [process.line for process in left_behind.marked() if PROGRAM in process.line]


def left() -> str:
    """Containers of ours, running or not."""
    return engine("ps", "--all", "--quiet", "--filter", "label=webdyno")


@pytest.fixture(scope="module", autouse=True)
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    program()
    folder = tmp_path_factory.mktemp("image")
    built = subprocess.run(
        ["cc", "-O2", "-static", "-o", str(folder / "server"), str(SERVER)], capture_output=True, text=True, check=False
    )
    if built.returncode != 0:
        pytest.skip(f"no static program can be compiled here: {built.stderr.strip().splitlines()[-1:]}")
    with tarfile.open(folder / "root.tar", "w") as root:
        root.add(folder / "server", PROGRAM)
    settings = ["--change", f'CMD ["/{PROGRAM}"]', "--change", "EXPOSE 18765"]
    engine("import", *settings, str(folder / "root.tar"), NAME)
    try:
        limits = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"]
        command = [program(), "run", "--rm", "--network=host", *limits, "--env=SERVER_EXIT=1", NAME]
        tried = subprocess.run(command, capture_output=True, text=True, check=False)
        if tried.returncode != 3:
            pytest.skip(f"the engine here runs no container: {tried.stderr.strip()[-300:]}")
        yield
    finally:
        engine("rmi", "--force", NAME, check=False)


def test_a_container_is_measured_by_itself_and_nothing_of_it_is_left(webdyno: Call, tmp_path: Path) -> None:
    done = webdyno(
        "try", "--image", NAME, "--budget", "25s", "-c", "4", "--json", "--save", "kept", "--env", "KEY=open"
    )
    told = answer(done)
    assert told["take"] in ("image", None)
    assert told["take"] is None or told["copy"]["command"].endswith(
        f"run --rm --publish=127.0.0.1:8000:18765 --env=PORT=18765 --env=KEY {NAME}"
    )
    with Store.open(tmp_path / "kept") as store:
        runs = store.runs()
        plain = (tmp_path / "kept" / "results.sqlite").read_bytes()
    assert b"KEY=open" not in plain
    assert {run.outcome for run in runs} == {"ok"}
    for run in runs:
        assert run.versions["image"] == NAME
        assert run.versions["image id"].startswith("sha256:")
        loaded = [reading for reading in run.readings if reading.role == "contender"]
        assert max(reading.processes for reading in loaded) == 5  # its first process, and one for each connection
        used = loaded[-1].cpu_user_ns + loaded[-1].cpu_system_ns - loaded[0].cpu_user_ns - loaded[0].cpu_system_ns
        assert used > 100_000_000
        assert run.memory_peak_bytes is not None
        assert run.memory_peak_bytes < 30 * 2**20  # the client of an engine alone takes more
    assert left() == ""
    assert running() == []


def test_two_images_are_compared_and_one_that_ends_is_told_with_its_last_words(webdyno: Call) -> None:
    engine("tag", NAME, "localhost/webdyno-test:2")
    try:
        images = ("--image", NAME, "--image", "localhost/webdyno-test:2")
        done = webdyno("try", *images, "--budget", "40s", "-c", "4", "--json")
    finally:
        engine("rmi", "localhost/webdyno-test:2", check=False)
    told = answer(done)
    assert {standing["contender"] for standing in told["standings"]} == {"image-1", "image-2"}
    assert f"`{NAME}`" in told["names"].values()
    failed = webdyno("try", "--image", NAME, "--env", "SERVER_EXIT=1", "--budget", "25s")
    assert failed.returncode == 1
    assert "image ended with exit status 3 before it served" in failed.stderr
    assert "| the database is not there" in failed.stderr
    assert left() == ""


def test_an_image_nobody_has_is_one_sentence(webdyno: Call) -> None:
    done = webdyno("try", "--image", "localhost/webdyno-test:none", "--budget", "25s")
    assert done.returncode == 2
    said = done.stderr.splitlines()[-1]
    assert said.startswith("webdyno: --image localhost/webdyno-test:none: it is not on this machine, and ")


def test_a_killed_webdyno_leaves_a_container_that_the_next_one_ends(
    environment: dict[str, str], webdyno: Call, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "webdyno", "try", "--image", NAME, "--budget", "60s", "-c", "4"]
    killed = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    try:
        _wait_for(running)
    finally:
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
    done = webdyno("try", "--image", NAME, "--env", "SERVER_EXIT=1", "--budget", "25s")
    assert done.returncode == 1
    _wait_for(lambda: running() == [] and left() == "")


def _wait_for(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)
