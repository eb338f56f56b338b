"""Real servers on loopback, through the real command line."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live import forking, left_behind
from webdyno.session.trust import MEMORY, content_of

CATALOGUE = Path(__file__).parent / "catalogue"

Call = Callable[..., subprocess.CompletedProcess[str]]


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What ``try --json`` said. A machine that is robbed while a test runs has its figures voided, and then correctly
    nothing is recommended: the exit code must say which of the two it was, and a doubt why.
    """
    assert done.stdout.startswith("{"), done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    doubts = [*told["doubts"], *(doubt for standing in told["standings"] for doubt in standing["doubts"])]
    assert done.returncode == (1 if told["take"] is None else 0), (done.stderr, doubts)
    assert told["take"] is not None or any(doubt["severity"] == "voids" for doubt in doubts), (told["answer"], doubts)
    return told


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.live)


@pytest.fixture(scope="session", autouse=True)
def others(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What another webdyno has, or left when it was killed, before our first test is not for our tests to judge."""
    left_behind.remember(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of our own. What is built lies where the workers of a session find it, so that nothing is built twice."""
    folder, ours = tmp_path_factory.mktemp("cache"), tmp_path_factory.getbasetemp()
    for name in ("apps", "environments", "runtimes"):
        built = (ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours) / "built" / name
        built.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(built)
    return folder


@pytest.fixture(scope="session")
def environment(cache: Path) -> dict[str, str]:
    # a lock and temporary files of our own keep us apart from the tests beside us, and from a webdyno that is used here
    own = {"WEBDYNO_CACHE": str(cache), "WEBDYNO_LOCK": str(cache), "TMPDIR": str(cache)}
    memory = cache / "state" / "webdyno" / MEMORY
    memory.parent.mkdir(parents=True)
    memory.write_text(f"{content_of(CATALOGUE)} the toys\n")  # tests work elsewhere, where it would be a stranger's
    return {**os.environ, **own, "XDG_STATE_HOME": str(cache / "state"), "NO_COLOR": "1", "COLUMNS": "140"}


@pytest.fixture(scope="session")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("streams")


@pytest.fixture
def webdyno(environment: dict[str, str], tmp_path: Path, streams: Path) -> Call:
    """Call the command line with the toys' catalogue, in a fresh folder."""

    def call(*arguments: str, timeout: float = 100) -> subprocess.CompletedProcess[str]:
        words = [*arguments, "--catalogue", str(CATALOGUE)]
        return forking.call(words, cwd=tmp_path, environment=environment, streams=streams, timeout_s=timeout)

    return call
