"""Daemons: the processes of what carries us between hosts, kept off the cores that are measured, and read like others.

They are found by what all their command lines hold (of Ray, the name of its session), in this network namespace, and
with whatever descends from them; webdyno and what it started are no part of them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from webdyno.rig.process import all_stats, children, command_of, read_stat, threads


class Daemons:
    """They, read as a Group is."""

    def __init__(self, sign: str) -> None:
        here = _network(os.getpid())
        self._first = [pid for pid in all_stats() if sign in " ".join(command_of(pid)) and _network(pid) == here]
        self.are_confined = False
        """To the cores they were last sent to, every thread of them."""

    def pids(self) -> list[int]:
        """Of those that live."""
        found: set[int] = set()
        looked = [pid for pid in self._first if pid != os.getpid() and read_stat(pid)]
        while looked:
            found.update(looked)
            looked = [pid for each in looked for pid in children(each) if pid not in found and pid != os.getpid()]
        return sorted(found)

    def cpu_ns(self) -> None:
        """No cgroup of ours counts it."""
        return

    def throttled_ns(self) -> None:
        """Neither that."""
        return


@contextlib.contextmanager
def confined(sign: str | None, cores: Sequence[int]) -> Iterator[Daemons | None]:
    """With every thread of them on ``cores``, as far as we may; afterwards where they were. None without a sign."""
    if sign is None:
        yield None
        return
    daemons = Daemons(sign)
    before = {pid: os.sched_getaffinity(pid) for pid in daemons.pids() if _is_there(pid)}
    try:
        moved = [_move(pid, cores) for pid in before]
        daemons.are_confined = bool(before) and all(moved)
        yield daemons
    finally:
        for pid in daemons.pids():
            _move(pid, sorted(before.get(pid) or set().union(*before.values())))


def _move(pid: int, cores: Sequence[int]) -> bool:
    """Whether every thread of it is there now; one that has ended is nowhere else."""
    for thread in threads(pid):
        try:
            os.sched_setaffinity(thread, cores)
        except ProcessLookupError:
            continue
        except OSError:  # another user's; or a cgroup that leaves it no core of these
            return False
    return True


def _is_there(pid: int) -> bool:
    try:
        os.sched_getaffinity(pid)
    except ProcessLookupError:
        return False
    return True


def _network(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        return None
