"""Group: a whole process tree that began with one command, however it forked since.

Ending one pid is not enough: four servers in common use leave workers behind when their first process gets SIGTERM.
So a Group is found by its cgroup where there is one and by its marks (tree.py) besides, is asked to end by SIGTERM,
and is then killed until nothing of it is left. Its figures stay readable after its end.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection
from types import TracebackType
from typing import IO

from webdyno.rig.cgroup import Cgroup
from webdyno.rig.fence import found_outside
from webdyno.rig.process import name_of
from webdyno.rig.tree import Tree, reap_adopted

_ORPHAN_GRACE_S = 1.0
"""Workers got SIGTERM together with their master; how long they may outlive it before they count as orphans."""
_KILL_S = 10.0
_POLL_S = 0.005


class Group:
    """What ``Host.start`` gives back. Also a with-block that ends it."""

    clock_ahead_ns = 0
    """How far the monotonic clock of its host is ahead of ours."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        mark: str,
        cgroup: Cgroup | None = None,
        forget: Callable[[Group], list[str]] = lambda _: [],
        cores: Collection[int] = (),
    ) -> None:
        self.pid = process.pid
        self.stdin: IO[bytes] | None = process.stdin
        self.stdout: IO[bytes] | None = process.stdout
        self.mark = mark
        self._process, self._cgroup, self._forget, self._cores = process, cgroup, forget, cores
        self.has_memory_limit = False
        self._tree = Tree(process.pid, mark)
        self._ended = False
        self._flood = ""

    def __enter__(self) -> Group:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.end(1.0)

    @property
    def lost(self) -> str:
        """Why nothing can be known of it any more, in one sentence; empty where its host is this one."""
        return ""

    def pids(self) -> list[int]:
        """Its living processes, the first one included while it lives."""
        reap_adopted()
        if self._cgroup is not None:
            pids = self._cgroup.pids()
            if pids is not None:
                return pids
        return self._tree.pids()

    def poll(self) -> int | None:
        """Exit status of the first process (minus the signal's number when one killed it); None while it runs."""
        return self._process.poll()

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Like poll, but waits for it as long as that; reads nothing, so let stdout be a file or read it yourself."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def has_ended(self) -> bool:
        """Nobody is left to serve; one that ended with 0 while others of it live made itself a daemon."""
        status = self.poll()
        return status is not None and not (status == 0 and self.pids())

    def last_words(self) -> str:
        """How the first process ended, for a sentence: ``exit status 3``, ``SIGSEGV``."""
        status = self.poll()
        if status is None:
            return "nothing: it still runs"
        if self._flood:
            return f"SIGKILL (it {self._flood})"
        if status >= 0:
            return f"exit status {status}"
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"

    @property
    def _counted(self) -> Cgroup | None:
        """The cgroup whose figures are those of the Group."""
        return self._cgroup

    def cpu_ns(self) -> tuple[int, int] | None:
        """User and system time of the whole tree, the dead included; None where no cgroup counts it."""
        return self._counted.cpu_ns() if self._counted else None

    def memory_peak_bytes(self) -> int | None:
        """High-water mark as the cgroup keeps it."""
        return self._counted.memory_peak_bytes() if self._counted else None

    def throttled_ns(self) -> int | None:
        """Time a CPU quota (ours or one above us) held it back since its start."""
        return self._counted.throttled_ns() if self._counted else None

    def oom_killed(self) -> bool:
        """Whether the kernel killed one of its processes for going past the memory limit."""
        return bool(self._counted and self._counted.oom_kills())

    def refused_forks(self) -> bool:
        """Whether the kernel refused it a process or thread at the limit of their number."""
        return bool(self._counted and self._counted.refused_forks())

    def flooded(self) -> str | None:
        """What to say of one that was stopped because of what it wrote into its log."""
        return self._flood or None

    def stop_flood(self, said: str) -> None:
        """Kill it, for what is ``said`` of its log; called again for as long as somebody of it may live."""
        self._flood = self._flood or said
        self._kill_members()

    def outside(self, *, whole: bool = False) -> str | None:
        """One sentence about a member that is not where it was put: outside its cgroup, or with other cores.

        ``whole``: members are looked for all over the machine, and not only among those known and what they started.
        """
        if self._ended or self._flood:  # killing it changes its limits
            return None
        known = self.pids()
        found = {*known, *(self._tree.pids() if whole else ()), *self._tree.near(known)}
        return found_outside(found, self._cgroup, self._cores)

    def members(self) -> set[int]:
        """Everyone, by both ways of looking: a process may have left its cgroup, or hidden from its tree."""
        self._process.poll()
        return {*self.pids(), *self._tree.pids()}

    def terminate(self) -> None:
        """Only ask it to end (SIGTERM) and return at once: its output can still be read to the last line."""
        if self.poll() is None:
            _signal_group(self.pid, signal.SIGTERM)

    def end(self, grace_s: float) -> list[str]:
        """SIGTERM, wait up to ``grace_s``, SIGKILL whatever is left; returns what is worth telling. Idempotent.

        Whatever interrupts the waiting (a Ctrl-C), nothing of the tree is left when this returns or raises.
        """
        if self._ended:
            return []
        notes: list[str] = []
        try:
            notes = self._ask(grace_s)
        finally:
            notes += self._kill()
            self._ended = True
            self._close_streams()
            if self._cgroup is not None:
                notes += self._cgroup.remove()
            notes += self._forget(self)
        return notes

    def _close_streams(self) -> None:
        for stream in (self.stdin, self.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):  # what was not read before it ended
                    stream.close()

    def _ask(self, grace_s: float) -> list[str]:
        """The polite half: terminate the first process's group, and give it and its workers their time."""
        deadline = time.monotonic() + grace_s
        _signal_group(self.pid, signal.SIGTERM)
        while self.poll() is None:
            if time.monotonic() >= deadline:
                return [f"did not end within {grace_s:g} s of SIGTERM and was killed"]
            time.sleep(_POLL_S)
        left = sorted(self.members())
        for pid in left:
            _signal(pid, signal.SIGTERM)
        deadline = min(deadline, time.monotonic() + _ORPHAN_GRACE_S)
        while left and time.monotonic() < deadline:
            time.sleep(_POLL_S)
            left = sorted(self.members())
        if not left:
            return []
        names = ", ".join(sorted({name_of(pid) for pid in left}))
        noun = "1 process" if len(left) == 1 else f"{len(left)} processes"
        return [f"{noun} ({names}) outlived the first one and had to be killed"]

    def _kill(self) -> list[str]:
        """The impolite half, until nobody is left."""
        deadline = time.monotonic() + _KILL_S
        while left := self._kill_members():
            if time.monotonic() > deadline:
                return [f"{len(left)} processes could not be killed (pids {', '.join(map(str, left))})"]
            time.sleep(_POLL_S)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        reap_adopted(self._tree.adopted())
        return []

    def _kill_members(self) -> list[int]:
        """Everybody who lives, once; who that was."""
        if self._process.returncode is None:  # not reaped, so the number is certainly still its own
            _signal_group(self.pid, signal.SIGKILL)
            _signal(self.pid, signal.SIGKILL)
        left = sorted(self.members())
        if left and self._cgroup is not None:
            self._cgroup.kill()
        for pid in left:
            _signal(pid, signal.SIGKILL)
        return left


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
