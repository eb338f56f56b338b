"""Cgroup v2: one hierarchy for everything. Also read where it has no controllers: it still counts CPU and kills a
group at once.

A group may hand controllers to its children only while it holds no process itself (the root excepted), and a process
may only be moved by someone who may write the procs file of the nearest common ancestor. So the parent for our groups
is looked for upwards from our own group; see ``choose_parent``.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from webdyno.rig.cgroup_v1 import PERIOD_US, pairs

CONTROLLERS = ("memory", "cpuset", "pids")
"""memory must be there; cpuset is welcome, for affinity does nearly the same, and so is pids. cpu is asked beside them
where there is a quota."""


class Parent(NamedTuple):
    """Where our groups can be made, and what they can limit there."""

    folder: Path
    controllers: frozenset[str]


def choose_parent(own: Path, mount: Path, wanted: Sequence[str] = CONTROLLERS) -> Parent | None:
    """The nearest group from ``own`` upwards to ``mount`` that gives (or can be made to give) its children the memory
    controller.

    The trial with a real process that must follow settles what permissions alone cannot tell.
    """
    folder = own
    while True:
        if _writable(folder):
            given = enable(folder, wanted)
            if "memory" in given:
                return Parent(folder, given)
        if folder in (mount, folder.parent):
            return None
        folder = folder.parent


def enable(folder: Path, wanted: Sequence[str] = CONTROLLERS) -> frozenset[str]:
    """Hand the ``wanted`` controllers to the children of ``folder``, as far as it goes; those they then have."""
    available = _words(folder / "cgroup.controllers")
    given = _words(folder / "cgroup.subtree_control")
    for controller in wanted:
        if controller in available and controller not in given:
            with contextlib.suppress(OSError):  # EBUSY: it holds processes; EACCES: not ours
                (folder / "cgroup.subtree_control").write_text(f"+{controller}")
    return frozenset(_words(folder / "cgroup.subtree_control") & set(wanted))


def pids(folder: Path) -> list[int]:
    """Processes directly in it."""
    try:
        return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]
    except OSError:
        return []


def configure(
    folder: Path,
    controllers: frozenset[str],
    cores: tuple[int, ...],
    memory_bytes: int | None,
    processes: int | None = None,
    cpus: float | None = None,
) -> None:
    """Set cores and limits in a new group. OSError when a limit is refused: it must never be missing silently."""
    if processes is not None and "pids" in controllers:
        (folder / "pids.max").write_text(str(processes))
    if cpus is not None and "cpu" in controllers:
        (folder / "cpu.max").write_text(f"{round(cpus * PERIOD_US)} {PERIOD_US}")
    if cores and "cpuset" in controllers:
        (folder / "cpuset.cpus").write_text(",".join(map(str, cores)))
    if memory_bytes is not None and "memory" in controllers:
        (folder / "memory.max").write_text(str(memory_bytes))
        with contextlib.suppress(OSError):  # no swap accounting
            (folder / "memory.swap.max").write_text("0")


def kill(folder: Path) -> bool:
    """SIGKILL the whole group at once; False on kernels before 5.14."""
    path = folder / "cgroup.kill"
    if not path.exists():
        return False
    try:
        path.write_text("1")
    except OSError:
        return False
    return True


def cpu_ns(folder: Path) -> tuple[int, int] | None:
    """User and system time."""
    stat = pairs(folder / "cpu.stat")
    if "user_usec" not in stat or "system_usec" not in stat:
        return None
    return stat["user_usec"] * 1000, stat["system_usec"] * 1000


def memory_peak_bytes(folder: Path | None) -> int | None:
    """High-water mark (kernels from 5.19)."""
    try:
        return int((folder / "memory.peak").read_text()) if folder else None
    except (OSError, ValueError):
        return None


def oom_kills(folder: Path | None) -> int | None:
    """Processes killed at the limit."""
    return pairs(folder / "memory.events").get("oom_kill") if folder else None


def throttled_ns(folder: Path) -> int | None:
    """Time the group (or any above it that can be seen) was throttled; the most of them, since they overlap."""
    seen = [pairs(path / "cpu.stat").get("throttled_usec") for path in (folder, *folder.parents)]
    return max((us * 1000 for us in seen if us is not None), default=None)


def _writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)


def _words(path: Path) -> set[str]:
    try:
        return set(path.read_text().split())
    except OSError:
        return set()
