"""What a dead owner left is ended and removed; what a living one has is not touched."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from webdyno.model.errors import MachineError
from webdyno.rig.ledger import Entry, Ledger, sweep
from webdyno.rig.process import MARK, boot_id, is_running, read_stat

TOKEN = f"tok{os.getpid()}"
DEAD = 2**22 + 1  # above the largest pid there can be


def entry(folder: Path, **changes: object) -> Path:
    values = {"token": TOKEN, "owner": DEAD, "owner_start": 1, "boot": boot_id(), **changes}
    path = folder / "tok.json"
    path.write_bytes(msgspec.json.encode(Entry(**values)))  # type: ignore[arg-type]
    path.chmod(0o600)
    return path


def start_of(pid: int) -> int:
    stat = read_stat(pid)
    assert stat is not None
    return stat.start_ticks


def test_it_is_written_before_and_gone_after(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "tok")
    ledger.add_cgroup(tmp_path / "webdyno-tok-1")
    ledger.add_folder(tmp_path / "webdyno-tok-2")
    ledger.add_session(7, 8)
    written = msgspec.json.decode((tmp_path / "tok.json").read_bytes(), type=Entry)
    assert (written.owner, written.boot) == (os.getpid(), boot_id())
    assert written.cgroups == [str(tmp_path / "webdyno-tok-1")]
    assert written.folders == [str(tmp_path / "webdyno-tok-2")]
    assert written.sessions == {"7": 8}
    ledger.close()
    assert (tmp_path / "tok.json").exists()  # something is still in it
    ledger.drop_cgroup(tmp_path / "webdyno-tok-1")
    ledger.drop_folder(tmp_path / "webdyno-tok-2")
    ledger.drop_session(7)
    ledger.close()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_nothing_from_being_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path, "tok")
    ledger.add_cgroup(tmp_path / "webdyno-tok-1")
    ledger.add_folder(tmp_path / "webdyno-tok-2")
    ledger.add_session(7, 8)

    def full(path: str, flags: int, mode: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "open", full)
    ledger.add_session(9, 9)  # its mark, known before, is enough to find it
    ledger.drop_session(9)
    ledger.drop_session(7)
    ledger.drop_cgroup(tmp_path / "webdyno-tok-1")
    ledger.drop_folder(tmp_path / "webdyno-tok-2")
    ledger.close()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(MachineError, match=r"json cannot be written \(the disk at /.* is full\), and without it"):
        Ledger(tmp_path, "other")
    monkeypatch.undo()


@pytest.mark.parametrize("whose", ["a stranger's", "writable by others", "a link", "a hard link", "a pipe"])
def test_what_a_stranger_may_have_written_kills_and_removes_nothing(
    whose: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, kept = tmp_path / "rig", tmp_path / "webdyno-kept"
    folder.mkdir()
    kept.mkdir()
    with subprocess.Popen(["/bin/sleep", "60"], start_new_session=True) as innocent:
        path = entry(folder, sessions={str(innocent.pid): start_of(innocent.pid)}, folders=[str(kept)])
        if whose == "a stranger's":
            monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        elif whose == "writable by others":
            path.chmod(0o666)
        elif whose == "a link":
            path.rename(tmp_path / "elsewhere.json")
            path.symlink_to(tmp_path / "elsewhere.json")
        elif whose == "a hard link":
            (tmp_path / "elsewhere.json").hardlink_to(path)
        else:
            path.unlink()
            os.mkfifo(path, 0o600)
        assert sweep(folder) == []
        assert is_running(innocent.pid, start_of(innocent.pid))
        innocent.kill()
    assert kept.is_dir()
    assert os.path.lexists(path)  # theirs to remove


def test_a_link_where_it_drafts_is_not_written_through(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("as it was")
    (tmp_path / "mine.draft").symlink_to(precious)
    with pytest.raises(MachineError, match="too many levels of symbolic links, on the disk at /"):
        Ledger(tmp_path, "mine")
    assert precious.read_text() == "as it was"


def test_nobody_else_can_read_or_write_it(tmp_path: Path) -> None:
    Ledger(tmp_path, "mine")
    assert (tmp_path / "mine.json").stat().st_mode & 0o777 == 0o600


def test_a_living_owners_things_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "webdyno-x").mkdir()
    path = entry(tmp_path, owner=os.getpid(), owner_start=start_of(os.getpid()), folders=[str(tmp_path / "webdyno-x")])
    assert sweep(tmp_path) == []
    assert path.exists()
    assert (tmp_path / "webdyno-x").exists()


@pytest.mark.parametrize("sign", ["session", "mark"])
def test_processes_of_a_dead_owner_are_killed(tmp_path: Path, sign: str) -> None:
    environment = {MARK: f"{TOKEN}.contender.1"} if sign == "mark" else {}
    with subprocess.Popen(["/bin/sleep", "60"], start_new_session=True, env=environment) as left:
        entry(tmp_path, sessions={str(left.pid): start_of(left.pid)} if sign == "session" else {})
        (note,) = sweep(tmp_path)
        assert left.wait(5) == -9
    assert note == (
        f"cleaned up after a webdyno that was killed (pid {DEAD}): processes 1, cgroups 0, temporary folders 0"
    )
    assert not (tmp_path / "tok.json").exists()


def test_another_process_that_got_the_same_number_is_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "60"], start_new_session=True) as stranger:
        entry(tmp_path, sessions={str(stranger.pid): start_of(stranger.pid) - 1})
        sweep(tmp_path)
        assert is_running(stranger.pid, start_of(stranger.pid))
        stranger.kill()


def test_processes_of_an_earlier_boot_are_nobody(tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "60"], start_new_session=True) as stranger:
        entry(tmp_path, boot="another", sessions={str(stranger.pid): start_of(stranger.pid)})
        assert len(sweep(tmp_path)) == 1
        assert is_running(stranger.pid, start_of(stranger.pid))
        stranger.kill()


def test_cgroups_and_folders_of_a_dead_owner_are_removed_if_they_bear_our_name(tmp_path: Path) -> None:
    for name in ("webdyno-c", "webdyno-f", "precious", "precious-group"):
        (tmp_path / name).mkdir()
    (tmp_path / "webdyno-f/file").write_text("x")
    path = entry(
        tmp_path,
        cgroups=[str(tmp_path / "webdyno-c"), str(tmp_path / "precious-group")],
        folders=[str(tmp_path / "webdyno-f"), str(tmp_path / "precious")],
    )
    (note,) = sweep(tmp_path)
    assert "cgroups 1, temporary folders 1" in note
    assert sorted(each.name for each in tmp_path.iterdir()) == ["precious", "precious-group", path.name]


def test_a_ledger_that_cannot_be_read_is_thrown_away(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "a.json").chmod(0o600)
    (tmp_path / "b.draft").write_text("{")
    assert sweep(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_living_owner_keeps_what_it_is_writing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "mine")
    (tmp_path / "mine.draft").write_text("{")
    assert sweep(tmp_path) == []
    assert (tmp_path / "mine.draft").exists()
    ledger.close()
