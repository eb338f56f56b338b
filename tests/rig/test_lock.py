"""One webdyno on a machine at a time, and nobody else's file, link or folder has a say in it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

import pytest

from tests.rig.strapping import wait_for
from webdyno.model.errors import MachineError
from webdyno.rig import lock
from webdyno.rig.lock import PLACES, VARIABLE, machine_lock

TAKES = """
import sys
from webdyno.model.errors import MachineError
from webdyno.rig.lock import machine_lock
try:
    with machine_lock():
        print("taken")
except MachineError as error:
    print(error)
"""


def another(**environment: str) -> str:
    """What another webdyno says that takes the machine."""
    known = {**os.environ, **environment}
    return subprocess.check_output([sys.executable, "-c", TAKES], env=known, text=True).strip()


def test_it_can_be_taken_again_and_again_and_leaves_nothing(own_lock: Path) -> None:
    for _ in range(2):
        with machine_lock():
            assert list(own_lock.iterdir()) == []
    assert list(own_lock.iterdir()) == []


def test_it_is_one_whatever_temporary_folder_a_webdyno_has(own_lock: Path, tmp_path: Path) -> None:
    with machine_lock():
        assert f"pid {os.getpid()}" in another(TMPDIR=str(tmp_path))
    assert another(TMPDIR=str(tmp_path)) == "taken"


def test_what_is_locked_only_root_can_make_or_replace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    for place in PLACES:
        folder = place.lstat()
        assert place.is_dir()
        assert not place.is_symlink()
        assert folder.st_uid in (0, 65534)  # root, or what a user namespace shows of it
        assert place.parent.lstat().st_mode & 0o022 == 0


@pytest.mark.parametrize("planted", ["a link", "a hard link", "a file", "a folder"])
def test_what_lies_where_the_lock_once_was_is_neither_used_nor_touched(
    planted: str, own_lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, precious = own_lock / "webdyno.lock", own_lock / "precious"
    precious.write_text("as it was")
    if planted == "a link":
        there.symlink_to(precious)
    elif planted == "a hard link":
        there.hardlink_to(precious)
    elif planted == "a file":
        there.write_text("1\n")
        there.chmod(0)
    else:
        there.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(own_lock))
    with machine_lock(), pytest.raises(MachineError, match=f"pid {os.getpid()}"), machine_lock():
        pass
    assert precious.read_text() == "as it was"


@pytest.mark.parametrize("planted", ["a link", "a file", "nothing"])
def test_a_named_place_that_is_no_folder_is_refused(
    planted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    if planted == "a link":
        place.symlink_to(tmp_path)
    elif planted == "a file":
        place.write_text("")
    monkeypatch.setenv(VARIABLE, str(place))
    told = rf"{place}: .*name one of your own, which is not a link, with WEBDYNO_LOCK=FOLDER"
    with pytest.raises(MachineError, match=told), machine_lock():
        pass


def test_where_a_file_system_knows_no_locks_the_next_place_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(lock, "PLACES", (tmp_path / "none", tmp_path))
    with machine_lock(), pytest.raises(MachineError, match="another webdyno"), machine_lock():
        pass


def test_who_waits_takes_the_machine_once_it_is_free(own_lock: Path) -> None:
    first, seen = contextlib.ExitStack(), list[str]()
    first.enter_context(machine_lock())

    def waiting(holder: str) -> None:
        seen.append(holder)
        if len(seen) == 3:
            first.close()

    with machine_lock(waiting):
        assert [said.partition(":")[0] for said in seen] == [f"pid {os.getpid()}"] * 3
    assert first.enter_context(machine_lock()) is None
    first.close()


def test_who_has_the_machine_is_told_by_its_command_and_without_its_flags(
    own_lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["/usr/bin/python3", "-m", "webdyno", "run", "quickstart", "-H", "Cookie: secret"]
    monkeypatch.setattr(import_module("webdyno.rig.lock"), "command_of", lambda pid: words)
    told = rf"another webdyno \(pid {os.getpid()}: webdyno run\) is measuring .*, or end it$"
    with machine_lock(), pytest.raises(MachineError, match=told), machine_lock():
        pass


def test_a_stranger_who_holds_it_is_named_by_the_kernel_and_can_be_passed_by(
    own_lock: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = os.open(own_lock, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    told = rf"pid {os.getpid()} of user \w+: .*; if you cannot, WEBDYNO_LOCK=FOLDER names another folder to lock"
    with pytest.raises(MachineError, match=told), machine_lock():
        pass
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with machine_lock():
        os.close(held)


def test_a_holder_that_cannot_be_seen_is_said_to_be_one(own_lock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_holder", lambda it: None)
    told = "a process that cannot be seen from here.*WEBDYNO_LOCK"
    with machine_lock(), pytest.raises(MachineError, match=told), machine_lock():
        pass


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_has_the_same_lock_as_root() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        child = os.fork()
        if child == 0:
            os.setuid(65534)
            fcntl.flock(os.open(name, os.O_RDONLY), fcntl.LOCK_EX)
            time.sleep(60)
            os._exit(0)
        try:
            is_its_user = f"pid {child} of user nobody: "
            wait_for(lambda: is_its_user in another(WEBDYNO_LOCK=name))
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        assert another(WEBDYNO_LOCK=name) == "taken"
