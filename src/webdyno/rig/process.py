"""Processes as /proc shows them: one process's line, who is there, whose environment carries a mark.

A process may end between listing and reading at any time; that is normal, and reads as None or as absent. Start times
are kept beside pids everywhere because pids come back.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import NamedTuple

MARK = "WEBDYNO_RIG"
"""Variable in the environment of every process started by webdyno: finds a tree however it forked."""

_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4
_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37


class Stat(NamedTuple):
    """What /proc/PID/stat says; times in clock ticks."""

    pid: int
    state: str
    parent: int
    process_group: int
    session: int
    user_ticks: int
    system_ticks: int
    threads: int
    start_ticks: int
    """Since boot; with the pid it names the process for good."""
    rss_pages: int

    @property
    def alive(self) -> bool:
        """False for a zombie: it has ended and only waits for its parent to notice."""
        return self.state not in "ZXx"


def read_stat(pid: int) -> Stat | None:
    """None when there is no such process (any more)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # The name stands in parentheses and may itself hold any of them.
    fields = text[text.rindex(")") + 2 :].split()
    return Stat(
        pid=pid,
        state=fields[0],
        parent=int(fields[1]),
        process_group=int(fields[2]),
        session=int(fields[3]),
        user_ticks=int(fields[11]),
        system_ticks=int(fields[12]),
        threads=int(fields[17]),
        start_ticks=int(fields[19]),
        rss_pages=int(fields[21]),
    )


def all_stats() -> dict[int, Stat]:
    """Every process of this machine (of this pid namespace)."""
    found = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  (many times a second, and iterdir makes a Path of each)
        if name.isdecimal() and (stat := read_stat(int(name))):
            found[stat.pid] = stat
    return found


def is_running(pid: int, start_ticks: int) -> bool:
    """Whether this very process is alive, not merely one with its number."""
    stat = read_stat(pid)
    return stat is not None and stat.alive and stat.start_ticks == start_ticks


def mark_of(pid: int) -> str | None:
    """The value of MARK in the environment ``pid`` was started with; None without one, or when it may not be read."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    prefix = f"{MARK}=".encode()
    for item in environment.split(b"\0"):
        if item.startswith(prefix):
            return item[len(prefix) :].decode(errors="replace")
    return None


def name_of(pid: int) -> str:
    """Short name of a process for a sentence; "?" when it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    except OSError:
        return "?"


def command_of(pid: int) -> list[str]:
    """Words of the command it was started by; none when it is gone, or not ours to look at."""
    try:
        return [word for word in Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0") if word]
    except OSError:
        return []


def ancestors(pid: int) -> list[int]:
    """Parents of ``pid`` upwards, nearest first."""
    line: list[int] = []
    stat = read_stat(pid)
    while stat is not None and stat.parent > 0:
        line.append(stat.parent)
        stat = read_stat(stat.parent)
    return line


def boot_id() -> str:
    """Differs after every boot; start times are only comparable within one."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def set_dumpable(on: bool) -> bool:
    """Without it no other process of this user may trace this one, or read its memory and its environment; what it
    starts may be looked at again from its exec on. Returns what was set before.
    """
    libc = ctypes.CDLL(None)
    before: int = libc.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, int(on), 0, 0, 0)
    return before == 1


def set_subreaper(on: bool) -> bool:
    """Make orphans of our trees our own children (so that they cannot slip away to init); returns what was set
    before.
    """
    libc = ctypes.CDLL(None)
    before = ctypes.c_int(0)
    libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)
    return bool(before.value)


def threads(pid: int) -> list[int]:
    """Numbers of its threads; none when it is gone."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208  (many times a second)
    except OSError:
        return []


def children(pid: int | None = None) -> list[int]:
    """Direct children of a process (ours, unless told), zombies included."""
    parent = pid or os.getpid()
    found: list[int] = []
    try:
        for thread in threads(parent):
            found.extend(map(int, Path(f"/proc/{parent}/task/{thread}/children").read_text().split()))
    except OSError:  # kernels without CONFIG_PROC_CHILDREN, or a thread that ended meanwhile
        return [stat.pid for stat in all_stats().values() if stat.parent == parent]
    return found
