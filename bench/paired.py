"""Paired windows: every client is started once, with a server of its own, and then one at a time may run.

A client that is stopped (SIGSTOP) costs nothing; continued for a fifth of a second it works as if it had never slept.
Its CPU time is read while it is stopped, because the kernel brings a running process's clock up to date only at a tick
or a switch. Requests are counted by the server, so no client is believed about itself. The order within a round is
drawn anew each time.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple, Protocol, Self

_READY_S = 20.0


class Window(NamedTuple):
    """What one client did while it alone was allowed to run."""

    wall_ns: int
    cpu_ns: int
    answered: int


class Counting(Protocol):
    """A server that knows how many requests it has answered."""

    port: int

    def answered(self) -> int:
        """Since its start."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Instant:
    """Our answer-at-once server, asked for its count over one connection that stays open."""

    def __init__(self, argv: Sequence[str], cpus: set[int]) -> None:
        self._process = start(argv, cpus, stdout=subprocess.PIPE)
        try:
            assert self._process.stdout
            self.port = int(self._process.stdout.readline())
            self._control = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        except (OSError, ValueError):
            end(self._process)
            raise

    def answered(self) -> int:
        self._control.sendall(b"GET /answered HTTP/1.1\r\nHost: x\r\n\r\n")
        text = b""
        while not text.partition(b"\r\n\r\n")[2]:
            got = self._control.recv(4096)
            if not got:
                raise RuntimeError("the instant server has ended")
            text += got
        return int(text.partition(b"\r\n\r\n")[2])

    def close(self) -> None:
        self._control.close()
        end(self._process)


class Client:
    """One load tool under our thumb: stopped unless it is its turn."""

    def __init__(self, name: str, argv: Sequence[str], cpus: set[int], server: Counting, stdin: bytes = b"") -> None:
        self.name = name
        self._server = server
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        with tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            self._process = start(argv, cpus, stdin=given, stdout=self._said, stderr=self._said)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end(self._process)
        self._said.close()

    def warm_up(self, answers: int) -> None:
        """Let it run until it has had ``answers``, then stop it."""
        until = time.monotonic() + _READY_S
        while self._server.answered() < answers:
            if time.monotonic() > until or self._process.poll() is not None:
                raise RuntimeError(f"{self.name} did not get {answers} answers in {_READY_S:g} s: {self._words()}")
            time.sleep(0.02)
        self._stop()

    def window(self, seconds: float) -> Window:
        """Let it alone run for a while."""
        cpu, answered, began = _cpu_ns(self._process.pid), self._server.answered(), time.monotonic_ns()
        os.kill(self._process.pid, signal.SIGCONT)
        time.sleep(seconds)
        self._stop()
        wall = time.monotonic_ns() - began
        return Window(wall, _cpu_ns(self._process.pid) - cpu, self._server.answered() - answered)

    def memory_bytes(self) -> int:
        """Resident memory now."""
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def _stop(self) -> None:
        """Returns when all its threads stand still."""
        os.kill(self._process.pid, signal.SIGSTOP)
        _, status = os.waitpid(self._process.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            self._process.returncode = os.waitstatus_to_exitcode(status)
            raise RuntimeError(f"{self.name} ended in the middle of the measurement: {self._words()}")

    def _words(self) -> str:
        self._said.seek(0)
        return self._said.read().decode(errors="replace").strip()[-300:] or "it said nothing"


def measure(clients: Sequence[Client], rounds: int, window_s: float, seed: int = 1) -> Iterator[dict[str, Window]]:
    """One window of every client per round, in an order that nobody can guess."""
    draw = random.Random(seed)
    for client in clients:
        client.window(window_s)  # the first after the start finds cold caches and is thrown away
    for _ in range(rounds):
        yield {client.name: client.window(window_s) for client in draw.sample(clients, len(clients))}


def may_go_first() -> bool:
    """Whether we may give a child real-time priority, so that its timing does not depend on what else runs here."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        return False
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return True


def start(argv: Sequence[str], cpus: set[int], *, first: bool = False, **files: object) -> subprocess.Popen[bytes]:
    """A child on ``cpus``, ahead of all others when it comes ``first``; both are inherited, so ours for a moment."""
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    if first:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    try:
        return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
            # A group of its own, because the kernel ends a group with stopped members when the shell that started it
            # ends; with us it must end all the same.
            [*_with_us(), *argv],
            process_group=0,
            **{"stdin": subprocess.DEVNULL, **files},
        )
    finally:
        os.sched_setaffinity(0, mine)
        if first:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _with_us() -> list[str]:
    """What ends a child when we are killed: the kernel's parent-death signal, where util-linux can set it."""
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


def end(process: subprocess.Popen[bytes]) -> None:
    """At once, also a stopped one."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.wait()
    if process.stdout:
        process.stdout.close()


def _cpu_ns(pid: int) -> int:
    """User and system time of all threads, the ended ones included: the clock that clock_getcpuclockid(3) names."""
    return time.clock_gettime_ns((~pid << 3) | 2)
