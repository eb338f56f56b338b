"""Ledger: what is alive on behalf of this process, written down before it exists, so that a killed webdyno can be
swept up after.

One file per strap, ``<cache>/rig/<token>.json``. The next strap (it holds the machine's lock) ends and removes
whatever an owner that is gone left behind: processes by cgroup, by session, by the mark in their environment; then
cgroups; then temporary folders. Losing the last write in a power cut is harmless (a boot ends processes and cgroups),
so nothing here waits for the disk. On a full disk it may go on naming what is gone already, which is harmless; what is
new must be written before it exists.

A file that another user owns, or could have written into, is not read: what it names would be ended and removed with
our rights, where that user may have fewer.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import threading
import time
from pathlib import Path

import msgspec

from webdyno.disk import disk_of, refused
from webdyno.model.errors import MachineError
from webdyno.rig.process import Stat, all_stats, boot_id, is_running, mark_of, read_stat

_SWEEP_S = 5.0


class Entry(msgspec.Struct, kw_only=True):
    """The file's content. ``sessions``: first process of each group with its start time (as text keys, for JSON)."""

    token: str
    owner: int
    owner_start: int
    boot: str
    cgroups: list[str] = []
    sessions: dict[str, int] = {}
    folders: list[str] = []


class Ledger:
    """Opened by strap, closed by it when everything in it has ended. Safe to use from several threads."""

    def __init__(self, folder: Path, token: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        us = read_stat(os.getpid())
        self.token = token
        self._path = folder / f"{token}.json"
        self._entry = Entry(token=token, owner=os.getpid(), owner_start=us.start_ticks if us else 0, boot=boot_id())
        self._lock = threading.Lock()
        with self._lock:
            self._write()

    def add_cgroup(self, path: Path) -> None:
        """Before the folder is made."""
        with self._lock:
            self._entry.cgroups.append(str(path))
            self._write()

    def drop_cgroup(self, path: Path) -> None:
        """After it was removed."""
        with self._lock:
            if str(path) in self._entry.cgroups:
                self._entry.cgroups.remove(str(path))
                self._try_to_write()

    def add_session(self, pid: int, start_ticks: int) -> None:
        """As soon as the pid is known (the mark, known before, covers the moment until then)."""
        with self._lock:
            self._entry.sessions[str(pid)] = start_ticks
            self._try_to_write()

    def drop_session(self, pid: int) -> None:
        """After the last process of the group ended."""
        with self._lock:
            self._entry.sessions.pop(str(pid), None)
            self._try_to_write()

    def add_folder(self, path: Path) -> None:
        """Before the folder is made."""
        with self._lock:
            self._entry.folders.append(str(path))
            self._write()

    def drop_folder(self, path: Path) -> None:
        """After it was removed."""
        with self._lock:
            if str(path) in self._entry.folders:
                self._entry.folders.remove(str(path))
                self._try_to_write()

    def close(self) -> None:
        """Remove the file, unless something in it could not be removed: then the next strap tries again."""
        with self._lock:
            if not (self._entry.cgroups or self._entry.folders or self._entry.sessions):
                self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        draft = self._path.with_suffix(".draft")
        try:
            self._replace(draft)
        except OSError as error:
            why = refused(error, self._path) or f"{(error.strerror or str(error)).lower()}, on {disk_of(self._path)}"
            raise MachineError(
                f"{self._path} cannot be written ({why}), and without it nothing is started, because nothing "
                "could clean up after it: make room there, or name a folder on another disk with WEBDYNO_CACHE; "
                "--resume then continues"
            ) from None

    def _replace(self, draft: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(draft, "wb", opener=lambda path, _: os.open(path, flags, 0o600)) as file:
            file.write(msgspec.json.encode(self._entry))
        draft.replace(self._path)

    def _try_to_write(self) -> None:
        """Where nothing is lost when it fails: ending what is alive must go on."""
        with contextlib.suppress(MachineError):
            self._write()


def sweep(folder: Path) -> list[str]:
    """End and remove what owners that are gone left; returns one sentence per owner swept. Call it under the lock."""
    notes: list[str] = []
    for draft in folder.glob("*.draft"):
        if not draft.with_suffix(".json").exists():  # else its owner may be writing it, under a lock of its own
            draft.unlink(missing_ok=True)
    for path in sorted(folder.glob("*.json")):
        if (content := _own(path)) is None:
            continue
        try:
            entry = msgspec.json.decode(content, type=Entry)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            path.unlink(missing_ok=True)
            continue
        if entry.boot == boot_id() and is_running(entry.owner, entry.owner_start):
            continue
        path.with_suffix(".draft").unlink(missing_ok=True)
        notes.append(_sweep_one(entry))
        if not any(Path(left).exists() for left in [*entry.cgroups, *entry.folders]):
            path.unlink(missing_ok=True)
    return notes


def _own(path: Path) -> bytes | None:
    """What is in a file that nobody but us can have written; None for any other."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would be waited for
    except OSError:
        return None
    with os.fdopen(opened, "rb") as file:
        it = os.fstat(opened)
        is_ours = stat.S_ISREG(it.st_mode) and it.st_uid == os.geteuid() and it.st_nlink == 1
        return file.read() if is_ours and not it.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None


def _sweep_one(entry: Entry) -> str:
    ended: set[int] = set()
    if entry.boot == boot_id():
        deadline = time.monotonic() + _SWEEP_S
        while (left := _left_of(entry)) and time.monotonic() < deadline:
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            ended |= left
            time.sleep(0.01)
    cgroups = sum(_remove_cgroup(Path(path)) for path in entry.cgroups)
    folders = 0
    for folder in map(Path, entry.folders):
        if folder.name.startswith("webdyno-") and folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)
            folders += 1
    return (
        f"cleaned up after a webdyno that was killed (pid {entry.owner}): "
        f"processes {len(ended)}, cgroups {cgroups}, temporary folders {folders}"
    )


def _left_of(entry: Entry) -> set[int]:
    """Living processes the dead owner answers for; never ourselves."""
    left: set[int] = set()
    for path in entry.cgroups:
        with contextlib.suppress(OSError, ValueError):
            left |= {int(line) for line in (Path(path) / "cgroup.procs").read_text().split()}
    for each in all_stats().values():
        if each.alive and (_of_session(entry, each) or (mark_of(each.pid) or "").startswith(f"{entry.token}.")):
            left.add(each.pid)
    return left - {os.getpid(), os.getppid()}


def _of_session(entry: Entry, it: Stat) -> bool:
    """By session, unless its leader is another process that got the same number since."""
    start = entry.sessions.get(str(it.session))
    if start is None or it.start_ticks < start:
        return False
    leader = read_stat(it.session)
    return leader is None or leader.start_ticks == start


def _remove_cgroup(path: Path) -> bool:
    if not path.name.startswith("webdyno-"):
        return False
    for _ in range(50):
        try:
            path.rmdir()
        except FileNotFoundError:
            return False
        except OSError:
            time.sleep(0.02)
        else:
            return True
    return False
