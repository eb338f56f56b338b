"""Fixtures of every test that starts something: a rig of its own, with a lock nobody else waits for."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from webdyno.rig.here import Here
from webdyno.rig.host import Command, Role
from webdyno.rig.lock import VARIABLE
from webdyno.rig.process import read_stat
from webdyno.rig.strap import Strapped, strap

LIMIT_BYTES = 128 * 2**20


@pytest.fixture
def own_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to lock and for temporary files, so that tests beside these do not refuse each other."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder


@pytest.fixture
def strapped(own_lock: Path, tmp_path: Path) -> Iterator[Strapped]:
    with strap(LIMIT_BYTES, tmp_path / "cache") as there:
        yield there


@pytest.fixture
def here() -> Iterator[Here]:
    host = Here()
    yield host
    host.end_all()


def python(
    code: str,
    *arguments: str,
    role: Role = "contender",
    stdin: bytes | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Command:
    """A Command that runs a few lines of Python."""
    return Command(
        argv=[sys.executable, "-S", "-c", code, *arguments],
        environment={"PATH": os.environ["PATH"], **environment},
        role=role,
        stdin=stdin,
    )


def wait_for(true: Callable[[], object], within_s: float = 10.0) -> None:
    """Until ``true()`` holds; the test fails when it never does."""
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def gone(pid: int) -> bool:
    """Ended; a zombie that its parent has not noticed yet counts."""
    stat = read_stat(pid)
    return stat is None or not stat.alive
