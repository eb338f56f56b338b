"""How the processes of a webdyno that measures are found, by the role that each was started in."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

from webdyno.rig.process import MARK, read_stat


def pids(role: str, cache: Path) -> list[int]:
    """Living processes of that role whose webdyno has this cache, parents before their children."""
    started = re.compile(rb"\0%b=\w+\.%b\.\d+\0|/webdyno-\w+-\d+-%b\n" % (MARK.encode(), *[role.encode()] * 2))
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                given, folder = (entry / "environ").read_bytes(), bytes((entry / "cwd").readlink())
                group = (entry / "cgroup").read_bytes()  # Redis writes its title over its environment
            except OSError:
                continue
            if started.search(b"\0" + given + group) and bytes(cache) in given + folder:
                found.append(int(entry.name))
    living = [(stat.start_ticks, pid) for pid in found if (stat := read_stat(pid)) and stat.alive]
    return [pid for _, pid in sorted(living)]


def await_pids(role: str, cache: Path, least: int = 1, within_s: float = 90.0, but: tuple[int, ...] = ()) -> list[int]:
    """Those, once there are so many beside ``but``."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if len(found := [pid for pid in pids(role, cache) if pid not in but]) >= least:
            return found
        time.sleep(0.02)
    raise AssertionError(f"no {least} processes in the role {role} within {within_s} s")


def hit(role: str, number: signal.Signals, cache: Path, after_s: float = 0.3) -> int:
    """Send it to the first process of that role as soon as there has been load for so long; its pid."""
    await_pids("driver", cache)
    time.sleep(after_s)
    (pid, *_) = await_pids(role, cache)
    os.kill(pid, number)
    return pid


def ended(process: subprocess.Popen[str], within_s: float) -> str:
    """What it said on standard error; it is killed where it does not come to its end."""
    try:
        return process.communicate(timeout=within_s)[1]
    finally:
        process.kill()
