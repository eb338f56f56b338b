"""Contained: a Group whose server runs in a container, started for us by the client of an engine (podman, docker).

What we started is only that client. The engine puts the server elsewhere: below a monitor or a daemon that is no child
of ours, in a cgroup of the engine's. It is found by its mark, which the client is told to hand on, together with its
pid namespace, which no helper of an engine has; from then on everybody in that namespace is the Group. It is looked for
from the first poll on, because servers that write their title over their environment (nginx, puma) lose the mark. CPU
and memory are those of the engine's cgroup, so the client and the monitor are not counted, whether they rest or copy a
log.

Ending it is asked of the client, which passes signals on. The first process of a pid namespace is not ended by a signal
that it does not catch, so one that never asked for SIGTERM is killed at once: elsewhere SIGTERM would have done that.
A container that has to be killed is killed before its
client, and its monitor (conmon) is left alone: between them they clear it away (``--rm``). For the same reason the
client stands in no cgroup of ours, which its monitor would inherit. When webdyno itself is killed, the next one finds
the container's processes by the same mark.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path

from webdyno.rig.cgroup import Cgroup
from webdyno.rig.fence import found_outside
from webdyno.rig.group import Group
from webdyno.rig.mounts import places
from webdyno.rig.process import Stat, all_stats, mark_of, read_stat
from webdyno.rig.tree import reap_adopted

_KILLED = 128 + signal.SIGKILL
"""Exit status of a client whose container was killed."""
_CLEAR_S = 5.0
"""How long an engine may take to clear a container away whose processes were killed."""


class Contained(Group):
    """See above; until the container runs, the Group is empty."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        mark: str,
        cgroup: Cgroup | None = None,
        forget: Callable[[Group], list[str]] = lambda _: [],
        cores: Collection[int] = (),
    ) -> None:
        super().__init__(process, mark, cgroup, forget, cores)
        stat = read_stat(self.pid)
        self._begun_ticks = stat.start_ticks if stat else 0
        self._namespace: str | None = None
        self._pinned: int | None = None
        """An open file of the namespace, without which its number could soon be that of another container."""
        self._ended = False
        self._placed = False
        self._inside: Cgroup | None = None
        self._monitor: list[int] = []
        self._first: int | None = None
        self._asked = False

    def poll(self) -> int | None:
        """As any Group, and a look for the container until it is found."""
        self._found()
        return super().poll()

    def pids(self) -> list[int]:
        """Living processes in the container."""
        reap_adopted()
        if not self._found():
            return []
        if not self._placed:
            self._place()
        counted = self._inside.pids() if self._inside is not None else None
        return list(_within(self._namespace)) if counted is None else counted

    @property
    def _counted(self) -> Cgroup | None:
        """That of the container; None until it is found, and where the engine gave it none of its own."""
        return self._inside

    def outside(self, *, whole: bool = False) -> str | None:  # noqa: ARG002 - nobody leaves a namespace
        """Only its cores can be looked at: the cgroup is the engine's, which may have others below it."""
        return found_outside(self.pids(), None, self._cores)

    def end(self, grace_s: float) -> list[str]:
        """As any Group; the engine removes the container's cgroup, so its last figures are taken before."""
        if self._inside is not None:
            self.cpu_ns(), self.memory_peak_bytes(), self.throttled_ns(), self.oom_killed()
        try:
            return super().end(grace_s)
        finally:
            reap_adopted(self._monitor)
            self._let_go()

    def stop_flood(self, said: str) -> None:
        """As any Group, but a container alone is killed: its client ends with it, and clears it away."""
        inside = self.pids()
        if not inside:
            super().stop_flood(said)
        self._flood = self._flood or said
        for pid in inside:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def _let_go(self) -> None:
        """Of the namespace, once nobody is left in it: the kernel gives its number to the next one."""
        if self._pinned is not None and not self.pids():
            os.close(self._pinned)
            self._pinned, self._namespace, self._ended = None, None, True

    def oom_killed(self) -> bool:
        """As any Group; with the first process the cgroup goes too, and then a SIGKILL that was not ours tells it."""
        return super().oom_killed() or (self.has_memory_limit and not self._asked and self.poll() == _KILLED)

    def _ask(self, grace_s: float) -> list[str]:
        if self.poll() is None:
            self._asked = True
            self.pids()  # finds the first process, if nobody has asked for it yet
            if self._first is not None and _dies_of_sigterm(self._first):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(self._first, signal.SIGKILL)
        notes = super()._ask(grace_s)
        left = self.pids()
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if left:
            self.wait(_CLEAR_S)
        return notes

    def _found(self) -> bool:
        """Look for the container, unless it was found already."""
        if self._namespace is not None or self._ended:
            return not self._ended
        ours = _namespace(os.getpid())
        for stat in all_stats().values():
            if not stat.alive or stat.start_ticks < self._begun_ticks or mark_of(stat.pid) != self.mark:
                continue
            if _namespace(stat.pid) not in (None, ours) and self._pin(stat.pid):
                return True
        return False

    def _pin(self, pid: int) -> bool:
        """Remember the namespace of ``pid`` and keep its number from being given away; False where it just ended."""
        try:
            self._pinned = os.open(f"/proc/{pid}/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        self._namespace = str(Path(f"/proc/self/fd/{self._pinned}").readlink())
        return True

    def _place(self) -> None:
        """Its cgroup and its monitor: later than it is found, for its first process may have been on its way there."""
        inside = _within(self._namespace)
        first = next((stat for stat in inside.values() if stat.parent not in inside), None)
        if first is not None:
            self._monitor, self._first = [first.parent], first.pid
            self._inside = cgroup_of(first.pid, beside=self.pid)
            self._placed = True


def cgroup_of(pid: int, *, beside: int) -> Cgroup | None:
    """The cgroup that ``pid`` has for itself, to be read; None without one.

    Where it stands in the same group as ``beside``, or at the top, others would be counted with it.
    """
    client = places(process=str(beside))
    own = {
        name: place.own
        for name, place in places(process=str(pid)).items()
        if place.own != place.mount and (name not in client or client[name].own != place.own)
    }
    v1 = {name: folder for name, folder in own.items() if name in ("memory", "cpuacct", "pids")}
    v2 = own.get("")
    return Cgroup(v1, v2, own.get("cpu")) if v1 or v2 else None


def _dies_of_sigterm(pid: int) -> bool:
    """Whether SIGTERM would end it where it is no first process: it neither catches nor ignores it."""
    try:
        lines = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        return not (int(lines["SigCgt"], 16) | int(lines["SigIgn"], 16)) >> (signal.SIGTERM - 1) & 1
    except (OSError, KeyError, ValueError):
        return False


def _within(namespace: str | None) -> dict[int, Stat]:
    """Living processes of a pid namespace (of one below it: those that share its processes are asked by the cgroup)."""
    return {pid: stat for pid, stat in all_stats().items() if stat.alive and _namespace(pid) == namespace}


def _namespace(pid: int) -> str | None:
    """Its pid namespace, as the kernel names it; None when that may not be seen."""
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return None
