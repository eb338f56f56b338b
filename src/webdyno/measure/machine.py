"""The machine as a whole: how busy it is, what the hypervisor takes from it, how many want to run.

These figures tell whether something else than the measurement was going on.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from webdyno.model.sample import Reading

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
        busy_ns=busy_ns,
    )


def times_ns(ticks: list[int]) -> tuple[int, int | None]:
    """Busy and stolen, from user nice system idle iowait irq softirq steal ...; guests are already counted in user.

    Stolen is None where the kernel does not count it.
    """
    user, nice, system, _idle, _iowait, irq, softirq = ticks[:7]
    steal = ticks[7] * _TICK_NS if len(ticks) > 7 else None
    return (user + nice + system + irq + softirq) * _TICK_NS, steal
