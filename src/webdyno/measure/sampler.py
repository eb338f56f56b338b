"""Sampler: a Reading of every group and of the machine, each second and whenever asked, in a thread of its own.

It reads files and nothing else, on whatever cores its process is given; on small machines those are the load
generator's. So looks that cost are made less often, and all of them take at most 1 % of a core. A look taken by
``look()`` happens in the caller's thread and is complete when it returns, so conduct can frame the steady window with
two of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from types import TracebackType

from webdyno.measure.machine import read_machine
from webdyno.measure.proc import GroupReader, Readable
from webdyno.model.sample import Reading, Role
from webdyno.rig.far import FarGroup

REST = 100
"""After a look that took so much CPU, the next one is at least this many times as long away."""


class Sampler:
    """With-block: a first look on entering, a last one on leaving, and one every ``period_s`` or more between."""

    def __init__(self, groups: Mapping[Role, Readable], period_s: float = 1.0) -> None:
        self.readings: list[Reading] = []
        """In the order they were taken; only ever added to, so it may be read while it grows."""
        self._readers = [_reader(role, group) for role, group in groups.items()]
        self._period_s = period_s
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="webdyno-sampler", daemon=True)

    def __enter__(self) -> Sampler:
        self.look()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()
        if kind is None:
            if self._failure is not None:
                raise self._failure
            self.look()

    def add(self, role: Role, group: Readable) -> None:
        """From now on this group too (a driver is started when the contender is already being read)."""
        with self._lock:
            self._readers.append(_reader(role, group))

    def look(self) -> None:
        """Take a Reading of everything now."""
        self._look(pss=True)

    def _look(self, *, pss: bool) -> None:
        with self._lock:
            for reader in self._readers:
                self.readings.append(reader.read(pss=pss))
            self.readings.append(read_machine())

    def _run(self) -> None:
        due = time.monotonic() + self._period_s
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            begun_s = time.thread_time()
            try:
                self._look(pss=False)
            except BaseException as failure:
                self._failure = failure
                return
            due = max(due + self._period_s, time.monotonic() + REST * (time.thread_time() - begun_s))


def _reader(role: Role, group: Readable) -> GroupReader | FarGroup:
    """What is on another host is read there."""
    return group if isinstance(group, FarGroup) else GroupReader(role, group)
