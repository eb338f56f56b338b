"""The machine as a whole: how busy it is, what the hypervisor takes from it, how many want to run.

These figures tell whether something else than the measurement was going on.
"""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path

from webdyno.model.sample import Reading
from webdyno.rig.process import all_stats, name_of

_KTHREADD = 2
"""Parent of all threads of the kernel."""
_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def read_machine(proc: Path = Path("/proc")) -> Reading:
    """A Reading of role host; counters since boot, over all cores."""
    busy_ns = steal_ns = run_queue = None
    by_core: dict[str, int | None] = {}
    try:
        lines = (proc / "stat").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, *values = line.split() or [""]
        try:
            if name == "cpu":
                busy_ns, steal_ns = times_ns([int(value) for value in values])
            elif name.startswith("cpu"):
                _, by_core[name.removeprefix("cpu")] = times_ns([int(value) for value in values])
            elif name == "procs_running":
                run_queue = float(max(0, int(values[0]) - 1))  # without the thread that reads this
        except (ValueError, IndexError, OverflowError):  # a kernel that writes it otherwise: unknown
            continue
    return Reading(
        at_ns=time.monotonic_ns(),
        role="host",
        run_queue=run_queue,
        steal_ns=steal_ns,
        steal_by_core=None if steal_ns is None else {core: lost for core, lost in by_core.items() if lost},
        softirqd_by_core=_softirqd_ns(proc) or None,
        busy_ns=busy_ns,
    )


def _softirqd_ns(proc: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for core, pid in _softirqd().items():
        try:
            found[core] = int((proc / str(pid) / "schedstat").read_text().split()[0])
        except (OSError, ValueError, IndexError):  # a kernel that does not count it: unknown
            continue
    return found


@cache
def _softirqd() -> dict[str, int]:
    """Their pids by core, which stay what they are until the next boot; none where a pid namespace hides them."""
    threads = [pid for pid, stat in all_stats().items() if stat.parent == _KTHREADD and not stat.rss_pages]
    names = {pid: name_of(pid).partition("/") for pid in threads}
    return {core: pid for pid, (kind, _, core) in names.items() if kind == "ksoftirqd"}


def times_ns(ticks: list[int]) -> tuple[int, int | None]:
    """Busy and stolen, from user nice system idle iowait irq softirq steal ...; guests are already counted in user.

    Stolen is None where the kernel does not count it.
    """
    user, nice, system, _idle, _iowait, irq, softirq = ticks[:7]
    steal = ticks[7] * _TICK_NS if len(ticks) > 7 else None
    return (user + nice + system + irq + softirq) * _TICK_NS, steal
