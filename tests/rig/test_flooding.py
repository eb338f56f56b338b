"""What is written into a log is held to its bound while it is written, and everybody who writes it is ended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.rig.strapping import gone, python, wait_for
from webdyno.rig import flooding
from webdyno.rig.here import Here
from webdyno.rig.strap import Strapped

pytestmark = pytest.mark.live

FLOOD = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
while True:
    os.write(1, b"x" * 999 + b"\\n")
"""
SLEEP = "import time; print('x' * 100_000, flush=True); time.sleep(60)"


@pytest.fixture(params=["bare", "strapped"])
def host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Both with and without cgroups."""
    monkeypatch.setattr(flooding, "MOST_BYTES", 200_000)
    found = request.getfixturevalue("here" if request.param == "bare" else "strapped")
    assert isinstance(found, Here)
    return found


def test_a_flood_is_stopped_with_all_who_write_it_before_anybody_asks_for_its_end(host: Here, tmp_path: Path) -> None:
    log = tmp_path / "log"
    group = host.start(replace(python(FLOOD), stdout=log))
    wait_for(lambda: group.has_ended() and not group.members())
    length = log.stat().st_size
    assert length > 200_000
    said = group.flooded()
    assert said is not None
    assert said.endswith("into its log, where 0.2 MB are the most, and was stopped: let it log less")
    assert group.last_words() == f"SIGKILL (it {said})"
    assert group.outside(whole=True) is None, "that its cgroup was closed to kill it is no escape"
    assert group.end(1.0) == []
    assert log.stat().st_size == length


def test_what_a_log_held_before_is_not_its_own_and_a_log_that_is_removed_is_still_looked_at(
    host: Here, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"y" * 300_000)
    quiet = host.start(replace(python(SLEEP), stdout=log))
    wait_for(lambda: log.stat().st_size > 400_000)
    loud = host.start(replace(python(FLOOD), stdout=tmp_path / "loud"))
    (tmp_path / "loud").unlink()
    wait_for(loud.flooded)
    assert quiet.flooded() is None
    assert quiet.poll() is None
    quiet.end(1.0)
    loud.end(1.0)
    wait_for(lambda: host._flooding._thread is None)
    assert gone(quiet.pid)


def test_on_a_disk_with_little_room_the_bound_is_half_of_it(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = os.statvfs_result((4096, 4096, 100, 100, 100, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "fstatvfs", lambda _: few)
    group = here.start(replace(python(FLOOD), stdout=tmp_path / "log"))
    wait_for(group.flooded)
    assert "where 0.2 MB, half of what the disk had left, are the most" in (group.flooded() or "")
    group.end(1.0)


def test_what_is_no_file_has_no_bound(strapped: Strapped) -> None:
    group = strapped.start(replace(python(SLEEP), stdout=Path(os.devnull)))
    assert not strapped._flooding._logs
    group.end(1.0)
