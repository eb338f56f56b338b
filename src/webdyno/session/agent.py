"""Agent: what stands on another host and starts load tools there, in a rig of that host's own.

It has verbs with plain arguments, so that anything can carry them (rig/far.py asks, rig/by_ray.py carries). All it
starts is started from one thread that lives as long as the agent, for a process ends with the thread that started it.
Not asked for ``LOST_S``, it has lost its session and ends what it started, so that no load goes on unseen.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from webdyno.load.engine import PROGRAM, program
from webdyno.measure.proc import GroupReader
from webdyno.model.errors import MachineError, StartError, UsageError, WebdynoError
from webdyno.model.rig import Fingerprint, Rig
from webdyno.model.sample import Reading
from webdyno.rig.daemons import confined
from webdyno.rig.far import LOST_S, WAIT, files_of, write_files
from webdyno.rig.fingerprint import read_fingerprint
from webdyno.rig.group import Group
from webdyno.rig.here import Here
from webdyno.rig.host import Command
from webdyno.rig.patience import patience_here
from webdyno.rig.reach import Reached, reach
from webdyno.rig.strap import strap
from webdyno.session.folders import cache_folder

_MOMENT_S = 0.25
_COMPLAINTS = "webdyno-stderr"


class About(msgspec.Struct, frozen=True, kw_only=True):
    """The host of an agent."""

    fingerprint: Fingerprint
    engine: str
    """Version of the load engine, or empty."""
    patience_s: float | None = None
    """As of rig/patience.py."""
    rig: Rig | None = None
    """None where it was only looked at, and not taken."""
    cache: str = ""
    """Where its builds are kept."""
    free_bytes: int | None = None
    """Memory for contenders side by side; None: unknown."""


def about_here() -> About:
    """This machine, as an agent on it would say."""
    return About(fingerprint=read_fingerprint(), engine=own_engine(), patience_s=patience_here())


def refuse_other_versions(about: About, name: str) -> None:
    """UsageError unless webdyno and its engine are the same on both."""
    theirs, ours = versions(about), versions(about_here())
    if theirs != ours:
        raise UsageError(f"{name} has {theirs}, and here is {ours}: install the same on every host")


def versions(about: About) -> str:
    """``webdyno 0.1.0 with engine 0.1.0``."""
    return f"webdyno {about.fingerprint.webdyno} with engine {about.engine or 'none'}"


class Agent:
    """Every verb but ``answer`` may be asked by name."""

    def __init__(self) -> None:
        self._starter = ThreadPoolExecutor(1)
        self._taken = contextlib.ExitStack()
        self._host: Here = Here()
        self._started: dict[int, _Started] = {}
        self._numbers = 0
        self._asked_at = time.monotonic()
        self._over = threading.Event()
        threading.Thread(target=self._watch, name="webdyno-dead-man", daemon=True).start()

    def answer(self, verb: str, arguments: tuple[Any, ...]) -> tuple[str, Any]:
        """What came of ``verb``: ("", its value), or the name of an error and its sentence. For carriers."""
        self._asked_at = time.monotonic()
        try:
            return "", getattr(self, verb)(*arguments)
        except WebdynoError as error:
            return type(error).__name__, str(error)
        except OSError as error:
            return "MachineError", f"{error.filename or verb}: {(error.strerror or str(error)).lower()}"

    def take(self, carrier: str | None) -> About:
        """Strap this host for load tools; ``carrier`` is what all command lines of the carrier's daemons hold."""
        return self._starter.submit(self._take, carrier).result()

    def _take(self, carrier: str | None) -> About:
        strapped = self._taken.enter_context(strap(None, cache_folder(), side="driver"))
        self._host = strapped
        self._taken.enter_context(confined(carrier, strapped.rig.control_cores))
        return About(fingerprint=strapped.fingerprint, rig=strapped.rig, engine=own_engine())

    def about(self) -> About:
        """What host it is."""
        return about_here()

    def reach(self, address: str, port: int) -> Reached:
        """What lies between it and another one (rig/reach.py)."""
        return reach(address, port)

    def give_back(self) -> None:
        """End everything, and leave the host as it was."""
        self._over.set()
        self._starter.submit(self._taken.close).result()

    def now_ns(self) -> int:
        """Its monotonic clock."""
        return time.monotonic_ns()

    def put(self, target: str, files: dict[str, bytes]) -> None:
        """Write files."""
        write_files(Path(target), files)

    def fetch(self, source: str) -> dict[str, bytes]:
        """Read files."""
        return files_of(Path(source))

    def start(self, command: Command, files: dict[str, bytes]) -> tuple[int, int, str]:
        """Start it in a fresh folder that holds ``files``; a number to ask about it by, its pid and its mark."""
        return self._starter.submit(self._start, command, files).result()

    def _start(self, command: Command, files: dict[str, bytes]) -> tuple[int, int, str]:
        folder = self._host.folder()
        write_files(folder, files)
        is_ours = Path(command.argv[0]).name == PROGRAM
        group = self._host.start(
            msgspec.structs.replace(
                command,
                argv=[program(), *command.argv[1:]] if is_ours else command.argv,
                cwd=folder,
                stderr=folder / _COMPLAINTS if isinstance(command.stderr, Path) else command.stderr,
            )
        )
        self._numbers += 1
        self._started[self._numbers] = _Started(group, folder, set(files))
        return self._numbers, group.pid, group.mark

    def read(self, number: int) -> bytes | str:
        """What it printed since; WAIT for nothing in a moment, empty at its end."""
        started = self._started.get(number)
        return b"" if started is None else started.next()

    def write(self, number: int, data: bytes) -> bool:
        """To its standard input; whether it still reads that."""
        stdin = self._started[number].group.stdin
        try:
            if stdin is None:
                return False
            stdin.write(data)
            stdin.flush()
        except (BrokenPipeError, ValueError):
            return False
        return True

    def results(self, number: int) -> dict[str, bytes]:
        """The files it wrote."""
        started = self._started.get(number)
        if started is None:  # it was ended before it had said all
            return {}
        found = files_of(started.folder)
        return {name: data for name, data in found.items() if name not in started.brought and name != _COMPLAINTS}

    def look(self, number: int, pss: bool) -> Reading:
        """What its processes have used."""
        return self._started[number].reader.read(pss=pss)

    def poll(self, number: int) -> int | None:
        """As of a Group."""
        return self._started[number].group.poll()

    def terminate(self, number: int) -> None:
        """As of a Group."""
        self._started[number].group.terminate()

    def end(self, number: int, grace_s: float) -> tuple[list[str], bytes]:
        """As of a Group; and what it wrote to standard error."""
        started = self._started.pop(number)
        notes = started.group.end(grace_s)
        complaints = started.folder / _COMPLAINTS
        said = complaints.read_bytes() if complaints.exists() else b""
        self._host.drop(started.folder)
        return notes, said

    def _watch(self) -> None:
        """End what runs when nobody asks any more."""
        while not self._over.wait(1.0):
            if time.monotonic() - self._asked_at > LOST_S:
                self._forsaken()

    def _forsaken(self) -> None:
        for number in list(self._started):
            with contextlib.suppress(KeyError):
                self.end(number, 0.0)


class _Started:
    """A Group, and a thread that takes what it prints, so that it never waits for a network."""

    def __init__(self, group: Group, folder: Path, brought: set[str]) -> None:
        self.group, self.folder, self.brought = group, folder, brought
        self.reader = GroupReader("driver", group)
        self._said: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._take, name="webdyno-output", daemon=True).start()

    def next(self) -> bytes | str:
        try:
            return self._said.get(timeout=_MOMENT_S)
        except queue.Empty:
            return WAIT

    def _take(self) -> None:
        stream = self.group.stdout
        with contextlib.suppress(OSError, ValueError):  # it was ended, and its pipe closed, while we waited
            while stream is not None and (data := os.read(stream.fileno(), 65536)):
                self._said.put(data)
        self._said.put(b"")


def error_of(kind: str, said: str) -> WebdynoError:
    """The error that an agent had, by what ``answer`` made of it."""
    if kind == "StartError":
        return StartError(said, exited=True)
    return UsageError(said) if kind == "UsageError" else MachineError(said)


def own_engine() -> str:
    """Version of the engine of this machine, or empty."""
    from webdyno.load.driver import DRIVERS

    try:
        return DRIVERS["engine"]().version(lambda _: "")
    except MachineError:
        return ""
