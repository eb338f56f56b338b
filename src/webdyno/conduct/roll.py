"""Roll: who of a contender's processes is still there. A server with several workers may lose one, put another in its
place and serve on; its figures are then those of a server that crashed, or that ends its workers by a setting.

A worker is a process that was there when the load began, or was seen at two looks: what is forked for one request is
none. One that is gone at a look under load was lost. One that is gone when the load is over may have served the last
connections and nothing else, so it was lost only if another one took its place.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from webdyno.model.log import decisive_line
from webdyno.model.run import Loss
from webdyno.rig.group import Group
from webdyno.rig.process import name_of, read_stat

_LONGEST = 200
"""Characters of a line that are kept."""
_Process = tuple[int, int]
"""By pid and start, for pids come back."""


class Roll:
    """Of one contender, called from its first answer to the end of its load."""

    def __init__(self, group: Group, log_tail: Callable[[], str]) -> None:
        self._group, self._log_tail = group, log_tail
        self._names: dict[_Process, str] = {}
        self._workers: set[_Process] | None = None
        self.losses: list[Loss] = []

    def call(self, *, last: bool = False) -> None:
        """Look who is there; ``last``: the load is over."""
        there = {
            (pid, stat.start_ticks): self._names.get((pid, stat.start_ticks)) or name_of(pid)
            for pid in self._group.pids()
            if (stat := read_stat(pid)) and stat.alive
        }
        if self._workers is None:
            self._names, self._workers = there, set(there)
            return
        fresh, gone = len(there.keys() - self._names.keys()), sorted(self._workers - there.keys())
        for process in gone[:fresh] if last else gone:
            self._lose(process[0], self._names[process])
        self._replace(fresh)
        self._workers = there.keys() & (self._workers | self._names.keys())
        self._names = there

    def _lose(self, pid: int, name: str) -> None:
        self.losses.append(Loss(pid=pid, name=name, line=line_about(self._log_tail(), pid)))

    def _replace(self, fresh: int) -> None:
        vacant = [at for at, loss in enumerate(self.losses) if not loss.replaced]
        for at in vacant[:fresh]:
            self.losses[at] = msgspec.structs.replace(self.losses[at], replaced=True)


def line_about(log: str, pid: int) -> str:
    """The last line with that number; else the one that says why something ended; empty where none does."""
    words = str(pid)
    naming = [line for line in log.splitlines() if words in "".join(c if c.isdigit() else " " for c in line).split()]
    return (naming[-1].strip() if naming else decisive_line(log) or "")[:_LONGEST]
