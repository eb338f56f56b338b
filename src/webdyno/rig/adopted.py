"""Adopted: processes that became children of ours because all their parents ended, and who of them nobody knows.

webdyno is a child subreaper while it measures, so whatever was started for it stays below it, whichever session,
environment, name, cgroup or namespace it takes. What we start ourselves is started under a lock, and so a child that
was neither started by us nor there before came to us as an orphan.

Where webdyno runs inside of somebody's program (webdyno.api) its other children may be that program's own: they are
reported then, and left alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection

from webdyno.rig.process import children, mark_of, name_of, read_stat
from webdyno.rig.tree import reap_adopted

_lock = threading.Lock()
_started: set[int] = set()
marks: set[str] = set()
"""Of all that is being started or lives, by whichever Host; a mark that is none of these is forged, or was left."""
_END_S = 5.0


def start(popen: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """What ``popen`` starts, remembered as no orphan."""
    with _lock:
        process = popen()
        _started.add(process.pid)
        return process


def orphans(besides: Collection[int] = ()) -> list[int]:
    """Living children of ours that we did not start, that no mark explains, and that are not among ``besides``."""
    with _lock:
        there = set(children())
        _started.intersection_update(there)
        unknown = there - _started - set(besides)
    ours = os.getsid(0)  # what is started in it is a guest's own: a started command has another one, and cannot return
    stats = [stat for pid in unknown if (stat := read_stat(pid))]
    left = [stat.pid for stat in stats if stat.alive and stat.parent == os.getpid() and stat.session != ours]
    return sorted(pid for pid in left if mark_of(pid) not in marks)


def end_stowaways(found: Callable[[], list[int]], *, kill: bool) -> list[str]:
    """Kill all that are ``found`` until there are no more, for each may have started others; notes about them."""
    told: dict[int, str] = {}
    deadline = time.monotonic() + _END_S
    while left := found():
        told |= {pid: name_of(pid) for pid in left if pid not in told}
        if not kill or time.monotonic() > deadline:
            break
        for pid in left:
            _kill(pid)
        reap_adopted(left)
        time.sleep(0.005)
    if not told:
        return []
    names = ", ".join(f"{name} (pid {pid})" for pid, name in sorted(told.items()))
    noun = "1 process" if len(told) == 1 else f"{len(told)} processes"
    fate = "left alone" if not kill else "could not be killed" if left else "killed"
    return [f"{noun} hid from webdyno, without session, mark and parent: {names}, {fate}"]


def _kill(pid: int) -> None:
    """By a descriptor where the kernel has them: its number may be another's by the time it is killed."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:  # gone; or a kernel before 5.3, which the next look shows
        return
    try:
        stat = read_stat(pid)
        if stat is not None and stat.parent == os.getpid():
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
    finally:
        os.close(descriptor)
