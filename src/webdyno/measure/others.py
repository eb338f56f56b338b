"""Others: what programs that are no part of a trial take of its cores, with what the hypervisor takes.

From /proc/stat, in ticks (of 10 ms mostly), which every kernel has and every container may read; its error is some
ticks, so it tells a busy neighbour in a turn of 100 ms, and no more. proc(5), proc_stat(5).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from webdyno.measure.machine import times_ns
from webdyno.measure.runtime import runtime_ns
from webdyno.rig.group import Group


def others_ns(cores: Collection[int], groups: Iterable[Group], proc: Path = Path("/proc")) -> int | None:
    """CPU in ns that ``cores`` gave since boot, or were robbed of, less what ``groups`` used since they started.

    The difference of two is what others took meanwhile. ``groups`` must run nowhere but on ``cores``. None: the kernel
    does not tell.
    """
    used = [runtime_ns(group) for group in groups]
    given = _given_ns(cores, proc)
    return None if given is None or None in used else given - sum(each or 0 for each in used)


def _given_ns(cores: Collection[int], proc: Path) -> int | None:
    names, found = {f"cpu{core}" for core in cores}, 0
    try:
        lines = (proc / "stat").read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    for line in lines:
        name, *values = line.split() or [""]
        if name in names:
            try:
                busy_ns, steal_ns = times_ns([int(value) for value in values])
            except ValueError:  # a kernel that writes it otherwise: unknown
                return None
            found += busy_ns + (steal_ns or 0)
            names.remove(name)
    return None if names else found
