"""Cgroup v1: one hierarchy per controller. Only what webdyno needs: cpuset, memory, pids, cpuacct, and reading cpu's
throttling.

Surprises kept in mind: cpuset.mems must be set before cpuset.cpus and both before the first process; memsw's limit
can only be set after (and not below) the memory limit; memory.failcnt stays 0 on newer kernels, oom_control's
``oom_kill`` counts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

CONTROLLERS = ("memory", "cpuset", "pids", "cpuacct")
"""Those groups are made in. cpu itself is left out where no quota is asked: a cpu group weighs as much as one thread of
its busy neighbours.
"""
PERIOD_US = 100_000
"""Over which a quota of CPU time is counted, as container engines do by default."""


def configure(
    folders: Mapping[str, Path],
    cores: tuple[int, ...],
    memory_bytes: int | None,
    processes: int | None = None,
    cpus: float | None = None,
) -> None:
    """Set cores and limits in new, empty groups. OSError when a limit is refused: it must never be missing
    silently.
    """
    if processes is not None and (pids := folders.get("pids")):
        (pids / "pids.max").write_text(str(processes))
    if cpus is not None and (cpu := folders.get("cpu")):
        (cpu / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (cpu / "cpu.cfs_quota_us").write_text(str(round(cpus * PERIOD_US)))
    if cpuset := folders.get("cpuset"):
        mems = (cpuset.parent / "cpuset.mems").read_text().strip() or "0"
        (cpuset / "cpuset.mems").write_text(mems)
        all_cores = (cpuset.parent / "cpuset.cpus").read_text().strip()
        (cpuset / "cpuset.cpus").write_text(",".join(map(str, cores)) or all_cores)
    if memory_bytes is not None and (memory := folders.get("memory")):
        (memory / "memory.limit_in_bytes").write_text(str(memory_bytes))
        with contextlib.suppress(OSError):  # kernels booted without swap accounting have no memsw
            (memory / "memory.memsw.limit_in_bytes").write_text(str(memory_bytes))


def cpu_ns(folders: Mapping[str, Path]) -> tuple[int, int] | None:
    """User and system time. The sum is exact; its halves are in the proportion of the ticks that fell into each."""
    folder = folders.get("cpuacct")
    total = _number(folder, "cpuacct.usage")
    if folder is None or total is None:
        return None
    ticks = pairs(folder / "cpuacct.stat")
    user, system = ticks.get("user", 0), ticks.get("system", 0)
    user_ns = total * user // (user + system) if user + system else total
    return user_ns, total - user_ns


def memory_peak_bytes(folders: Mapping[str, Path]) -> int | None:
    """High-water mark of the memory group."""
    return _number(folders.get("memory"), "memory.max_usage_in_bytes")


def oom_kills(folders: Mapping[str, Path]) -> int | None:
    """Processes killed at the limit."""
    folder = folders.get("memory")
    return pairs(folder / "memory.oom_control").get("oom_kill") if folder else None


def throttled_ns(folder: Path) -> int | None:
    """Time the group (or any above it that can be seen) was throttled; the most of them, since they overlap."""
    seen = [pairs(path / "cpu.stat").get("throttled_time") for path in (folder, *folder.parents)]
    return max((ns for ns in seen if ns is not None), default=None)


def pairs(path: Path) -> dict[str, int]:
    """``name number`` lines; empty when the file cannot be read."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return {}
    named = [words for line in lines if len(words := line.split()) == 2]
    return {name: int(value) for name, value in named if value.isascii() and value.isdecimal() and len(value) < 20}


def _number(folder: Path | None, name: str) -> int | None:
    if folder is None:
        return None
    try:
        return int((folder / name).read_text())
    except (OSError, ValueError):
        return None
