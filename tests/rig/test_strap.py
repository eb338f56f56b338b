"""Taking the machine, and giving it back."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rig.strapping import gone, python
from webdyno.model.errors import MachineError
from webdyno.rig.here import Here
from webdyno.rig.lock import machine_lock
from webdyno.rig.process import MARK, all_stats, mark_of, set_subreaper
from webdyno.rig.strap import Strapped, strap

pytestmark = pytest.mark.live

OWNER = """
import sys, time
from pathlib import Path
from webdyno.rig.strap import strap
from webdyno.rig.host import Command
workers = '''
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(60)
time.sleep(60)
'''
with strap(None, Path(sys.argv[1])) as here:
    group = here.start(Command(argv=[sys.executable, '-S', '-c', workers], environment={}, role='contender'))
    print(here.token, here.folder(), group.pid, flush=True)
    time.sleep(60)
"""


def owner(tmp_path: Path, own_lock: Path) -> tuple[subprocess.Popen[bytes], list[str]]:
    """A webdyno of its own that has strapped the machine and serves."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "cache")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(own_lock)},  # and the lock of own_lock
    )
    assert process.stdout is not None
    return process, process.stdout.readline().decode().split()


def marked(token: str) -> list[int]:
    return [pid for pid in all_stats() if (mark_of(pid) or "").startswith(token)]


def cgroups(token: str) -> list[Path]:
    walked = os.walk("/sys/fs/cgroup")  # others' vanish meanwhile, which it passes over
    return [Path(folder, name) for folder, names, _ in walked for name in names if name.startswith(f"webdyno-{token}")]


def test_a_second_webdyno_is_refused_and_told_who_has_the_machine(tmp_path: Path, own_lock: Path) -> None:
    first, (token, *_) = owner(tmp_path, own_lock)
    with first:
        with pytest.raises(MachineError) as caught, strap(None, tmp_path / "other cache"):
            pass
        first.send_signal(signal.SIGINT)
    assert marked(token) == []
    assert cgroups(token) == []
    assert str(caught.value) == (
        f"another webdyno (pid {first.pid}: {Path(sys.executable).name}) is measuring on this machine, and two would "
        "disturb each other; wait until it has ended (--wait does), or end it"
    )


def test_what_a_killed_webdyno_left_is_swept_up_by_the_next(tmp_path: Path, own_lock: Path) -> None:
    first, (token, folder, pid) = owner(tmp_path, own_lock)
    with first:
        first.send_signal(signal.SIGKILL)
    had_cgroups = cgroups(token)
    assert Path(folder).is_dir()
    with strap(None, tmp_path / "cache") as here:
        (note,) = here.swept
        assert note.startswith(f"cleaned up after a webdyno that was killed (pid {first.pid}): ")
        assert f"cgroups {len(had_cgroups)}, temporary folders 1" in note
        assert marked(token) == []
        assert cgroups(token) == []
        assert not Path(folder).exists()
        assert gone(int(pid))
    assert list((tmp_path / "cache/rig").iterdir()) == []


def test_what_a_killed_webdyno_had_set_is_put_back_by_the_next_under_its_lock(
    tmp_path: Path, own_lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put_back() -> list[str]:
        with pytest.raises(MachineError, match="another webdyno"), machine_lock():
            pass
        return ["put back: somaxconn 128"]

    monkeypatch.setattr(importlib.import_module("webdyno.rig.strap"), "put_back_left", put_back)
    with strap(None, tmp_path) as here:
        assert here.swept == ["put back: somaxconn 128"]


def test_nothing_is_left_however_the_block_is_left(tmp_path: Path, own_lock: Path) -> None:
    before = os.sched_getaffinity(0)
    with pytest.raises(KeyboardInterrupt), strap(None, tmp_path / "cache") as here:
        assert os.sched_getaffinity(0) == set(here.rig.control_cores)
        group = here.start(python("import time; time.sleep(60)"))
        folder = here.folder()
        assert group.mark.startswith(here.token)
        assert mark_of(group.pid) == group.mark, MARK
        raise KeyboardInterrupt
    assert os.sched_getaffinity(0) == before
    assert gone(group.pid)
    assert not folder.exists()
    assert cgroups(here.token) == []
    assert list((tmp_path / "cache/rig").iterdir()) == []


def test_the_rig_says_what_enforces_it(strapped: Strapped) -> None:
    rig = strapped.rig
    assert (rig.cgroup == "none") == bool(rig.cgroup_reason)
    assert strapped.fingerprint.cores_usable >= len(set(rig.contender_cores) | set(rig.driver_cores))


def test_the_machine_is_given_back_whatever_ending_meets(
    tmp_path: Path, own_lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cores, reaps = os.sched_getaffinity(0), set_subreaper(False)

    def full() -> list[str]:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"), strap(None, tmp_path / "cache") as there:
        monkeypatch.setattr(there, "end_all", full)
    assert os.sched_getaffinity(0) == cores
    assert not set_subreaper(reaps)
    assert list((tmp_path / "cache" / "rig").iterdir()) == []


def test_what_fails_to_end_keeps_none_of_the_others(own_lock: Path) -> None:
    class Stuck:
        ended = False

        def end(self, grace_s: float) -> list[str]:
            self.ended = True
            raise OSError(errno.ENOSPC, "No space left on device")

    host, stuck = Here(), [Stuck(), Stuck()]
    host._alive.update(stuck)  # type: ignore[arg-type]
    alive, folder = host.start(python("import time; time.sleep(60)", role="tool")), host.folder()
    with pytest.raises(OSError, match="No space"):
        host.end_all()
    assert [each.ended for each in stuck] == [True, True]
    assert gone(alive.pid)
    assert not folder.exists()
