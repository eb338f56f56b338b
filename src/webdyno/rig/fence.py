"""Fence: whether every thread of a started tree is where it was put: in its cgroup, on its cores.

The kernel holds a process there only as long as nobody with the right to moves it: root, and within a delegated part of
the v2 hierarchy its user. One that left is charged to nobody, and may take its neighbours' cores. Threads are looked at
one by one, for in v1 each may stand in a group of its own, and each has cores of its own anywhere.

What is found is looked at twice, some milliseconds apart: a thread that is just born or about to end may for a moment
stand in no list of the kernel's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from webdyno.rig.cgroup import Cgroup
from webdyno.rig.mounts import places
from webdyno.rig.process import name_of, read_stat, threads

_AGAIN_S = 0.01
_PF_IO_WORKER = 0x10


def found_outside(pids: Iterable[int], cgroup: Cgroup | None, cores: Collection[int]) -> str | None:
    """One sentence about the first thread that is outside, or a limit that was changed; None: all is as it was set up.

    No ``cores``: any will do.
    """
    if cgroup is not None and (limit := cgroup.changed_limit()):
        return f"the limit of its cgroup in {limit} was changed while it ran, and not by webdyno"
    asked = {thread: pid for pid in pids for thread in threads(pid)}
    first = _outside(asked, cgroup, cores)
    if not first:
        return None
    time.sleep(_AGAIN_S)
    living = {
        thread: asked[thread]
        for thread in first
        if (stat := read_stat(asked[thread])) and stat.alive and thread in threads(asked[thread])
    }
    return next(iter(_outside(living, cgroup, cores).values()), None)


def _outside(asked: Mapping[int, int], cgroup: Cgroup | None, cores: Collection[int]) -> dict[int, str]:
    """What to say of each thread that is outside; ``asked`` has the process of each."""
    found: dict[int, str] = {}
    for folder, inside in (cgroup.threads() if cgroup is not None else {}).items():
        for thread in asked.keys() - inside - found.keys():
            where = _place(folder, asked[thread], thread)
            found[thread] = f"{_who(asked[thread], thread)} left its cgroup and was found in {where}"
    for thread in asked.keys() - found.keys() if cores else ():
        allowed = _cores_of(thread)
        if not allowed <= set(cores) and not _is_kernels(asked[thread], thread):
            found[thread] = (
                f"{_who(asked[thread], thread)} may run on {_listed(allowed)}, and was given {_listed(cores)}"
            )
    return found


def _who(pid: int, thread: int) -> str:
    process = f"process {pid} ({name_of(pid)})"
    return process if pid == thread else f"thread {thread} of {process}"


def _place(folder: Path, pid: int, thread: int) -> Path:
    """Where it stands in the hierarchy that ``folder`` is of."""
    every = places(process=f"{pid}/task/{thread}").values()
    return next((place.own for place in every if place.mount in folder.parents), folder.parent)


def _cores_of(thread: int) -> set[int]:
    try:
        return os.sched_getaffinity(thread)
    except OSError:  # it is gone
        return set()


def _is_kernels(pid: int, thread: int) -> bool:
    """A worker of io_uring, which kernels before 6.11 put on all cores of the machine, whatever its process may use."""
    try:
        text = Path(f"/proc/{pid}/task/{thread}/stat").read_text(errors="replace")
    except OSError:
        return True
    name, fields = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
    return bool(int(fields[6]) & _PF_IO_WORKER) and name.startswith("iou-wrk")


def _listed(cores: Collection[int]) -> str:
    """``core 0``, ``cores 0, 2, 3``; of many only the first."""
    first = sorted(cores)[:8]
    noun = "core" if len(cores) == 1 else "cores"
    return f"{noun} {', '.join(map(str, first))}{' ...' if len(cores) > len(first) else ''}"
