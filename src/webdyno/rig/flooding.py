"""Flooding: what is written into a log is held to a bound while it is written, so that no program can fill the disk.

All logs of a Host are looked at twenty times a second, in a thread that lives as long as there are any. The kernel has
no limit that would do: RLIMIT_FSIZE is for every file of a process, and a JVM keeps its heap in one.
"""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import NamedTuple

from webdyno.rig.group import Group

MOST_BYTES = 2**30
"""A server that logs each of a million answers by a line writes a tenth of it."""
LOOK_S = 0.05


class _Log(NamedTuple):
    file: int
    """Open: it is still that log when its folder is gone."""
    begin: int
    most_bytes: int
    """That are written from ``begin`` on."""

    def flood(self) -> str | None:
        """What to say when it became too long."""
        written = os.fstat(self.file).st_size - self.begin
        if written <= self.most_bytes:
            return None
        why = "" if self.most_bytes == MOST_BYTES else ", half of what the disk had left,"
        return (
            f"wrote {written / 1e6:,.1f} MB into its log, where {self.most_bytes / 1e6:,.1f} MB{why} are the most, "
            "and was stopped: let it log less"
        )


class Flooding:
    """The logs of groups that live."""

    def __init__(self) -> None:
        self._logs: dict[Group, _Log] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def add(self, group: Group, log: Path) -> None:
        """From here on ``group`` is stopped when it writes too much: MOST_BYTES, or half of what its disk has left."""
        file = os.open(log, os.O_RDONLY | os.O_CLOEXEC)
        status, disk = os.fstat(file), os.fstatvfs(file)
        if not stat.S_ISREG(status.st_mode):
            os.close(file)
            return
        most_bytes = min(MOST_BYTES, disk.f_bavail * disk.f_frsize // 2)
        with self._changed:
            self._logs[group] = _Log(file, status.st_size, most_bytes)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="webdyno-logs", daemon=True)
                self._thread.start()

    def drop(self, group: Group) -> None:
        """It has ended."""
        with self._changed:
            if (log := self._logs.pop(group, None)) is not None:
                os.close(log.file)
            self._changed.notify_all()

    def _look(self) -> None:
        with self._changed:
            while self._logs:
                for group, log in self._logs.items():
                    if (said := log.flood()) is not None:
                        group.stop_flood(said)
                self._changed.wait(LOOK_S)
            self._thread = None
