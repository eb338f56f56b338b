"""One look at the processes of a group, summed: CPU, memory, threads, switches, sockets.

Counters (CPU, switches) of processes that have ended are kept at their last known value, so the sums never fall; what
a process did between the last look and its end is lost here, and only a cgroup counts it. Proportional memory (PSS)
is dear: the kernel walks the page tables of a process that is being measured. So are sockets: what a descriptor is must
be asked of each, which takes 7 to 15 us. With 10,000 connections that was a fifth of the core that the load generator
has. Each of the two is read at most so often that it takes 1 part in 200 of the time, and is None in between. Sockets
are not counted where there may be thousands: even one such look is part of a short window.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from webdyno.model.sample import Reading, Role
from webdyno.rig.ports import open_files
from webdyno.rig.process import read_stat

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_REST = 200
"""After a dear look that took t, the next one is at least this many t away."""
MOST_DESCRIPTORS = 2_048
"""Places in the tables of descriptors of a group, up to which its sockets are counted: 30 ms at most."""
Found = TypeVar("Found")


class _Counters(NamedTuple):
    """What only grows, of one process."""

    user_ns: int
    system_ns: int
    voluntary: int
    involuntary: int


class Readable(Protocol):
    """What can be read: a Group, or processes that nobody of ours started."""

    def pids(self) -> list[int]:
        """Those that live."""

    def cpu_ns(self) -> tuple[int, int] | None:
        """User and system time, the dead included; None where no cgroup counts it."""

    def throttled_ns(self) -> int | None:
        """Time a CPU quota held it back; None where no cgroup counts it."""


class GroupReader:
    """Reads one role's group; remembers what its processes had when they were last seen."""

    def __init__(self, role: Role, group: Readable) -> None:
        self._role, self._group = role, group
        self._counters: dict[tuple[int, int], _Counters] = {}
        self._memory, self._descriptors = _Spaced(), _Spaced()

    def read(self, *, pss: bool = False) -> Reading:
        """``pss``: read memory now, whatever it costs."""
        pids = self._group.pids()
        rss = threads = processes = 0
        switches_known = True
        cpu_by_process: dict[str, int] = {}
        for pid in pids:
            stat = read_stat(pid)
            if stat is None or not stat.alive:
                continue
            user, system = stat.user_ticks * _TICK_NS, stat.system_ticks * _TICK_NS
            switches = _switches(pid)
            switches_known = switches_known and switches is not None
            self._counters[pid, stat.start_ticks] = _Counters(user, system, *(switches or (0, 0)))
            cpu_by_process[str(pid)] = user + system
            rss += stat.rss_pages * _PAGE_BYTES
            threads += stat.threads
            processes += 1
        user_ns, system_ns = self._group.cpu_ns() or self._summed_cpu()
        at_ns = time.monotonic_ns()  # of the counters above: what follows may take long
        pss_bytes, swap_bytes = self._memory.look(lambda: _mapped(pids), now=pss) or (None, None)
        return Reading(
            at_ns=at_ns,
            role=self._role,
            cpu_user_ns=user_ns,
            cpu_system_ns=system_ns,
            rss_bytes=rss,
            pss_bytes=pss_bytes,
            swap_bytes=swap_bytes,
            processes=processes,
            threads=threads,
            sockets=self._descriptors.look(lambda: _sockets(pids)),
            voluntary_switches=sum(each.voluntary for each in self._counters.values()) if switches_known else None,
            involuntary_switches=sum(each.involuntary for each in self._counters.values()) if switches_known else None,
            throttled_ns=self._group.throttled_ns(),
            cpu_by_process=cpu_by_process,
        )

    def _summed_cpu(self) -> tuple[int, int]:
        return (
            sum(each.user_ns for each in self._counters.values()),
            sum(each.system_ns for each in self._counters.values()),
        )


class _Spaced:
    """A dear look, made so seldom that it costs little."""

    def __init__(self) -> None:
        self._next_ns = 0

    def look(self, read: Callable[[], Found], *, now: bool = False) -> Found | None:
        """What ``read`` finds; None where it is not due, unless it is to be ``now``."""
        begun = time.monotonic_ns()
        if begun < self._next_ns and not now:
            return None
        found = read()
        ended = time.monotonic_ns()
        self._next_ns = ended + _REST * (ended - begun)
        return found


def _mapped(pids: Iterable[int]) -> tuple[int, int] | None:
    """PSS and what lies in swap; None where no process of them may be looked into."""
    found = [both for pid in pids if (both := _mapped_by(pid)) is not None]
    return (sum(pss for pss, _ in found), sum(swap for _, swap in found)) if found else None


def _mapped_by(pid: int) -> tuple[int, int] | None:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:  # gone, or not ours to look into
        return None
    lines = [line.split() for line in text.splitlines()]
    kib = {words[0]: int(words[1]) for words in lines if words and words[0] in ("Pss:", "Swap:")}
    return (kib["Pss:"] * 1024, kib.get("Swap:", 0) * 1024) if "Pss:" in kib else None


def _switches(pid: int) -> tuple[int, int] | None:
    """Voluntary and involuntary, over all threads: /proc/PID/status alone tells only those of the first."""
    voluntary = involuntary = 0
    known = False
    folder = f"/proc/{pid}/task"
    try:
        threads = os.listdir(folder)  # noqa: PTH208  (many times a second)
    except OSError:
        return 0, 0
    for thread in threads:
        try:
            text = Path(f"{folder}/{thread}/status").read_text(errors="replace")
        except OSError:
            continue
        _, found, tail = text.partition("\nvoluntary_ctxt_switches:")
        if found:
            known = True
            first, second = tail.split("\n", 2)[:2]
            voluntary += int(first)
            involuntary += int(second.partition(":")[2])
    return (voluntary, involuntary) if known else None


def _sockets(pids: Collection[int]) -> int | None:
    """Different sockets open in the group; one shared by many workers counts once. None: too many to look at."""
    if sum(map(_places, pids)) > MOST_DESCRIPTORS:
        return None
    return len({target for pid in pids for target in open_files(pid) if target.startswith("socket:")})


def _places(pid: int) -> int:
    """In the table of its descriptors, which has room for all that it ever had open at once; 0 when it is gone."""
    try:
        _, _, tail = Path(f"/proc/{pid}/status").read_text(errors="replace").partition("\nFDSize:")
        return int(tail.split("\n", 1)[0] or 0)
    except (OSError, ValueError):
        return 0
