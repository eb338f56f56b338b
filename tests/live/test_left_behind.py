"""What the other tests here look for after a webdyno has ended: theirs is found, and nobody else's."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import left_behind

pytestmark = pytest.mark.live
TOKEN = f"{os.getpid():08x}"


@contextlib.contextmanager
def orphan(home: Path, cwd: Path) -> Iterator[None]:
    """A process of a rig whose webdyno is no more."""
    environment = {"WEBDYNO_RIG": f"{TOKEN}.contender.1", "HOME": str(home)}
    script = "sleep 60 >/dev/null & echo $!"
    pid = subprocess.check_output(["/bin/sh", "-c", script], env=environment, cwd=cwd, text=True).strip()
    try:
        yield
    finally:
        os.kill(int(pid), signal.SIGKILL)


@pytest.mark.parametrize(("home", "cwd", "found"), [("mine", "/", 1), ("/", "mine", 1), ("/", "/", 0)])
def test_a_process_is_ours_by_what_it_was_given_or_where_it_works(
    home: str, cwd: str, found: int, tmp_path: Path
) -> None:
    mine = {"mine": tmp_path}
    with orphan(mine.get(home, Path(home)), mine.get(cwd, Path(cwd))):
        assert left_behind.processes().count("sleep 60 ") == found
        assert left_behind.processes(TOKEN) == ["sleep 60 "]
