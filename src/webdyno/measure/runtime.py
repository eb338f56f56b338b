"""CPU of a whole group to the nanosecond: what a turn of fifty milliseconds needs.

The cgroup's counter where there is one; else what the scheduler says of each living thread, in which that of threads
that have ended is missing (/proc/PID/task/TID/schedstat, first number; proc(5)).
"""

from __future__ import annotations

from pathlib import Path

from webdyno.rig.group import Group
from webdyno.rig.process import threads


def runtime_ns(group: Group) -> int | None:
    """Since its start; None where the kernel does not tell."""
    counted = group.cpu_ns()
    if counted is not None:
        return sum(counted)
    found = [ran for pid in group.pids() for ran in _of_threads(pid)]
    return sum(found) if found else None


def _of_threads(pid: int) -> list[int]:
    found = []
    for thread in threads(pid):
        try:
            found.append(int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()[0]))
        except (OSError, ValueError, IndexError):
            continue
    return found
