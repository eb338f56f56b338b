"""Tree: the processes that came from one command, found without any cgroup.

Four signs, any of them is enough: the first process, a child of a member, the first process's session, the mark in
the environment. The mark survives double forks and new sessions; the session survives servers that write their title
over their environment; children of members are children however they are disguised, and a contender's first process
adopts those whose parent ends (launch.py). A process that shows none of them between two looks is lost to this file: it
comes to webdyno as an orphan, and adopted.py sees to it.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable

from webdyno.rig.process import Stat, all_stats, children, mark_of, read_stat


class Tree:
    """Remembers whom it has seen, so that a member stays one when its parent is gone. For several threads."""

    def __init__(self, pid: int, mark: str) -> None:
        self._root, self._mark = pid, mark
        self._members: dict[int, int] = {}
        self._strangers: dict[int, int] = {}
        self._lock = threading.Lock()
        stat = read_stat(pid)
        if stat:
            self._members[pid] = stat.start_ticks

    def adopted(self) -> list[int]:
        """Every member it knows of, dead or alive, but the first process."""
        return [pid for pid in list(self._members) if pid != self._root]

    def pids(self) -> list[int]:
        """Living members."""
        with self._lock:
            return self._look(all_stats())

    def near(self, known: Iterable[int] = ()) -> list[int]:
        """Living members as far as descent shows them, ``known`` ones included.

        A look that costs as much as the tree is large, however many processes the machine has.
        """
        with self._lock:
            members: dict[int, int] = {}
            living: list[int] = []
            waiting: list[tuple[int, int | None]] = [*self._members.items(), *((pid, None) for pid in known)]
            while waiting:
                pid, start = waiting.pop()
                stat = None if pid in members else read_stat(pid)
                if stat is None or start not in (None, stat.start_ticks):
                    continue
                members[pid] = stat.start_ticks
                living += [pid] if stat.alive else []
                waiting += [(child, None) for child in children(pid)]
            self._members = members
            return living

    def _look(self, stats: dict[int, Stat]) -> list[int]:
        members = {pid: stat.start_ticks for pid, stat in stats.items() if self._knows(stat)}
        grown = True
        while grown:
            born = {
                stat.pid: stat.start_ticks
                for stat in stats.values()
                if stat.pid not in members and stat.parent in members
            }
            members |= born
            grown = bool(born)
        self._members = members
        self._strangers = {pid: start for pid, start in self._strangers.items() if pid in stats}
        return [pid for pid in members if stats[pid].alive]

    def _knows(self, stat: Stat) -> bool:
        if self._members.get(stat.pid) == stat.start_ticks or stat.session == self._root:
            return True
        if not stat.alive or self._strangers.get(stat.pid) == stat.start_ticks:
            return False
        if mark_of(stat.pid) == self._mark:
            return True
        self._strangers[stat.pid] = stat.start_ticks
        return False


def reap_adopted(members: Iterable[int] = ()) -> None:
    """Let go of orphans that ended after we inherited them as subreaper, so that no zombies gather.

    ``members`` are adopted processes. Of the others, a child in our own session, or one that leads its own, may
    have been started by us, and then its exit status belongs to the one that waits for it.
    """
    known = set(members)
    our_session = os.getsid(0)
    for pid in children():
        stat = read_stat(pid)
        if stat and not stat.alive and (pid in known or stat.session not in (our_session, pid)):
            with contextlib.suppress(OSError):
                os.waitpid(pid, os.WNOHANG)
