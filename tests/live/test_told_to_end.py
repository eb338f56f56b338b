"""Ctrl-C or SIGTERM in the middle of a command that measures nothing: it ends, and leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.live import left_behind
from tests.live.conftest import CATALOGUE

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]


def rig_of(cache: Path, named: str, deadline_s: float = 60) -> str:
    """The token of the only rig there, once a process of that name runs on it."""
    deadline = time.monotonic() + deadline_s
    while time.monotonic() < deadline:
        for token in (name.removesuffix(".json") for name in left_behind.ledgers(cache)):
            if any(named in line for line in left_behind.processes(token)):
                return token
        time.sleep(0.05)
    raise AssertionError(f"no {named} within {deadline_s} s")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("arguments", "started"),
    [
        (["check", "toy-silent", "--catalogue", str(CATALOGUE)], "toy.py"),
        (["doctor", "--calibrate"], "webdyno-instant"),
    ],
    ids=["check", "doctor"],
)
def test_nothing_is_left(
    arguments: list[str], started: str, number: signal.Signals, environment: dict[str, str], cache: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "webdyno", *arguments]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as done:
        try:
            token = rig_of(cache, started)
            done.send_signal(number)
            _, said = done.communicate(timeout=30)
        finally:
            done.kill()
    assert done.returncode == 130, said
    assert said.endswith("webdyno: stopped by Ctrl-C\n")
    assert left_behind.processes(token) == []
    assert left_behind.cgroups(token) == []
    assert left_behind.ledgers(cache) == []
    assert left_behind.folders(cache) == []
