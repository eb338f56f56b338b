"""Cgroup: the control groups of one started process tree, whatever the layout of the machine.

Three layouts exist in the field: v2 alone (most machines), v1 alone, and hybrid: v1 controllers, each mounted for
itself, plus a v2 hierarchy without controllers, which still counts CPU and kills a whole group at once. What v1 and
v2 call their files is in cgroup_v1.py and cgroup_v2.py, and which of it works here is found out by cgroup_way.py.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from webdyno.rig import cgroup_v1, cgroup_v2
from webdyno.rig.ledger import Ledger

_REMOVE_S = 2.0
_LIMITS = (
    "cpuset.cpus",
    "memory.limit_in_bytes",
    "memory.memsw.limit_in_bytes",
    "memory.max",
    "memory.swap.max",
    "pids.max",
    "cpu.max",
    "cpu.cfs_quota_us",
)


class Cgroup:
    """By v1 controller, and in the v2 hierarchy; either may be empty. Figures stay readable after ``remove``.

    ``cpu_v1`` is our own group of the v1 cpu controller, only read: a quota set above us throttles everything in it.
    """

    def __init__(
        self, v1: dict[str, Path], v2: Path | None, cpu_v1: Path | None = None, ledger: Ledger | None = None
    ) -> None:
        self._v1, self._v2, self._cpu_v1, self._ledger = v1, v2, cpu_v1, ledger
        self._cpu_ns: tuple[int, int] | None = None
        self._peak_bytes: int | None = None
        self._oom_kills: int | None = None
        self._throttled_ns: int | None = None
        self._refused_forks: int | None = None
        self._limits: dict[Path, str] = {}
        self._throttled_before = self._throttled_above() or 0

    @property
    def folders(self) -> list[Path]:
        """Every folder of it, once (v1 controllers may be mounted together)."""
        return list(dict.fromkeys([*self._v1.values(), *([self._v2] if self._v2 else [])]))

    @property
    def join_files(self) -> list[Path]:
        """A process that writes 0 into each is in."""
        return [folder / "cgroup.procs" for folder in self.folders]

    def pids(self) -> list[int] | None:
        """Living processes in any of its folders; None when it does not exist any more."""
        found: set[int] = set()
        for path in self.join_files:
            try:
                found.update(int(pid) for pid in path.read_text().split())
            except OSError:
                return None
        return sorted(found - {0})

    def hold(self) -> None:
        """Its limits are set; from here on nobody else may change them."""
        self._limits = self._read_limits()

    def changed_limit(self) -> Path | None:
        """The file of a limit that says something else by now: a contender that is root may write there."""
        now = self._read_limits()
        return next((path for path, text in self._limits.items() if now.get(path, text) != text), None)

    def _read_limits(self) -> dict[Path, str]:
        found: dict[Path, str] = {}
        for path in (folder / name for folder in self.folders for name in _LIMITS):
            with contextlib.suppress(OSError):
                found[path] = path.read_text()
        return found

    def threads(self) -> dict[Path, set[int]]:
        """Threads in each of its folders, groups that were made below it included; a folder that is gone has no line.

        Who is a member of it is in all of them.
        """
        found: dict[Path, set[int]] = {}
        for folder in self.folders:
            name = "cgroup.threads" if folder == self._v2 else "tasks"
            try:
                found[folder] = {int(line) for path in folder.rglob(name) for line in path.read_text().split()}
            except OSError:
                continue
        return {folder: inside for folder, inside in found.items() if folder.is_dir()}

    def kill(self) -> None:
        """SIGKILL everyone in it: at once where the kernel can, else one by one (call again until it is empty).

        Nobody in it can start another from then on, for one that forks faster than it is killed would never end.
        """
        for folder in self._counting_processes:
            with contextlib.suppress(OSError):
                (folder / "pids.max").write_text("0")
        if self._v2 is not None and cgroup_v2.kill(self._v2):
            return
        for pid in self.pids() or []:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def cpu_ns(self) -> tuple[int, int] | None:
        """User and system time since its start."""
        now = cgroup_v2.cpu_ns(self._v2) if self._v2 else cgroup_v1.cpu_ns(self._v1)
        self._cpu_ns = now or self._cpu_ns
        return self._cpu_ns

    def memory_peak_bytes(self) -> int | None:
        """High-water mark, page cache included, as the kernel charges it."""
        now = cgroup_v1.memory_peak_bytes(self._v1) if "memory" in self._v1 else cgroup_v2.memory_peak_bytes(self._v2)
        self._peak_bytes = now or self._peak_bytes
        return self._peak_bytes

    def oom_kills(self) -> int | None:
        """How many of its processes the kernel killed for memory."""
        now = cgroup_v1.oom_kills(self._v1) if "memory" in self._v1 else cgroup_v2.oom_kills(self._v2)
        self._oom_kills = now if now is not None else self._oom_kills
        return self._oom_kills

    def refused_forks(self) -> int | None:
        """How many processes and threads it was refused at the limit of their number; None: there is no such limit."""
        seen = [cgroup_v1.pairs(folder / "pids.events").get("max") for folder in self._counting_processes]
        self._refused_forks = max((each for each in seen if each is not None), default=self._refused_forks)
        return self._refused_forks

    def throttled_ns(self) -> int | None:
        """Time held back by a CPU quota since its start: ours, or one set above (a container's)."""
        now = self._throttled_above()
        if now is not None:
            self._throttled_ns = max(self._throttled_ns or 0, now - self._throttled_before)  # those above outlive it
        return self._throttled_ns

    def remove(self) -> list[str]:
        """Keep the last figures and remove the folders; a note for each that stays."""
        self.cpu_ns(), self.memory_peak_bytes(), self.oom_kills(), self.throttled_ns(), self.refused_forks()
        notes = []
        for folder in self.folders:
            if not _remove(folder):
                notes.append(f"the cgroup {folder} could not be removed; the next run tries again")
            elif self._ledger is not None:
                self._ledger.drop_cgroup(folder)
        return notes

    @property
    def _counting_processes(self) -> list[Path]:
        """Its folders that limit how many processes there are."""
        return [folder for folder in self.folders if (folder / "pids.max").exists()]

    @property
    def limits_processes(self) -> bool:
        """Whether it can refuse one process too many."""
        return bool(self._counting_processes)

    def _throttled_above(self) -> int | None:
        cpu = self._v1.get("cpu", self._cpu_v1)
        if cpu is not None:
            return cgroup_v1.throttled_ns(cpu)
        return cgroup_v2.throttled_ns(self._v2) if self._v2 else None


def _remove(folder: Path) -> bool:
    """Rmdir; the kernel may call a group busy for some time after its last process ended."""
    deadline = time.monotonic() + _REMOVE_S
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        else:
            return True
