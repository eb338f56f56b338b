"""Far: another machine as a Host. Whatever carries calls there (by_ray.py) knows one thing: how to make one.

On the other machine an agent (session/agent.py) starts commands in a rig of its own. What a far Group says comes in
by a thread that asks for it all the time, so that the two hear of each other's end: an agent that is not asked any more
ends what it started, and a host that does not answer is said to be lost.
"""

from __future__ import annotations

import contextlib
import io
import os
import threading
import time
from pathlib import Path
from typing import Any, Protocol

import msgspec

from webdyno.model.errors import LostError, MachineError
from webdyno.model.sample import Reading
from webdyno.rig.group import Group
from webdyno.rig.host import Command
from webdyno.rig.reach import Reached

LOST_S = 15.0
"""Without an answer, until a host counts as lost. A busy one answers in milliseconds, for its agent has a core that
carries no load; Ray itself needed more than a minute to notice a cable that was pulled."""
_LOOKS_AT_CLOCK = 9
_LAST_WORD_S = 3.0
"""What a host that counts as lost gets to give back what is there, for it may still hear us."""


class Call(Protocol):
    """How one verb of the agent is called, by whatever carries it there: all that a carrier has to bring."""

    def __call__(self, verb: str, *arguments: Any, within_s: float = LOST_S) -> Any:
        """What the agent answers; its own errors as they are, and LostError when the host does not answer."""


class FarHost:
    """``name`` is what the host is called in sentences."""

    cores: tuple[int, ...] = ()
    """Of its drivers, once it is taken."""
    processor = ""
    """Its model, once it is taken."""
    lost = ""
    """Why it is asked nothing more, in one sentence; empty as long as it answers."""

    def __init__(self, call: Call, name: str) -> None:
        self._call, self.name = call, name

    def ask(self, verb: str, *arguments: Any, within_s: float = LOST_S) -> Any:
        """What its agent answers, or its error. LostError when it does not answer, and from then on."""
        if self.lost:
            raise LostError(self.lost)
        try:
            return self._call(verb, *arguments, within_s=within_s)
        except LostError as error:
            self.lost = self.lost or str(error)
            raise

    def take(self, sign: str | None) -> Any:
        """Strap the host for drivers; what its agent says of it. ``sign``: as of ``confined``."""
        about = self.ask("take", sign, within_s=2 * LOST_S)
        self.cores, self.processor = about.rig.driver_cores, about.fingerprint.cpu_model
        return about

    def about(self) -> Any:
        """What its agent says of it, without taking it."""
        return self.ask("about")

    def reach(self, address: str, port: int) -> Reached:
        """What lies between it and a port that answers (reach.py)."""
        found: Reached = self.ask("reach", address, port, within_s=2 * LOST_S)
        return found

    def give_back(self) -> None:
        """End all there and leave it as it was; one that is gone has nothing to give back."""
        with contextlib.suppress(MachineError):
            self._call("give_back", within_s=_LAST_WORD_S if self.lost else LOST_S)

    def put(self, source: Path, target: Path) -> None:
        """Copy a file or folder of this machine to the host."""
        self.ask("put", str(target), files_of(source))

    def fetch(self, source: Path, target: Path) -> None:
        """Copy a file or folder of the host to this machine."""
        write_files(target, self.ask("fetch", str(source)))

    def start(self, command: Command) -> Group:
        """As of every Host; the files in the folder of a driver go there first, and what it wrote comes back."""
        carried = files_of(command.cwd) if command.role == "driver" else {}
        ahead_ns = self.clock_ahead_ns()
        number, pid, mark = self.ask("start", command, carried)
        return FarGroup(self, command, number, pid, mark, ahead_ns)

    def clock_ahead_ns(self) -> int:
        """How far its monotonic clock is ahead of ours; wrong by half of the quickest answer at most."""
        return min(self._look_at_clock() for _ in range(_LOOKS_AT_CLOCK))[1]

    def round_trip_ns(self) -> int:
        """Of the quickest call there and back; of the carrier, not of the network alone."""
        return min(self._look_at_clock() for _ in range(_LOOKS_AT_CLOCK))[0]

    def _look_at_clock(self) -> tuple[int, int]:
        before_ns = time.monotonic_ns()
        there_ns = self.ask("now_ns")
        after_ns = time.monotonic_ns()
        return after_ns - before_ns, there_ns - (before_ns + after_ns) // 2


class FarGroup(Group):
    """A tree of processes on another host, as it is known here. Its output can be read as if it were started here."""

    def __init__(self, host: FarHost, command: Command, number: int, pid: int, mark: str, clock_ahead_ns: int) -> None:
        self.pid, self.mark, self.clock_ahead_ns = pid, mark, clock_ahead_ns
        self._host, self._command, self._number = host, command, number
        self._status: int | None = None
        self._ended, self._flood, self._fault = False, "", ""
        reading, self._writing = os.pipe()
        self.stdout = os.fdopen(reading, "rb", buffering=0)
        self.stdin = io.BufferedWriter(_Input(self._write)) if command.stdin == "pipe" else None
        self._reader = threading.Thread(target=self._listen, name=f"webdyno-far-{number}", daemon=True)
        self._reader.start()

    @property
    def lost(self) -> str:
        """Its host, or what that one says of it."""
        return self._fault or self._host.lost

    def pids(self) -> list[int]:
        """None of this machine."""
        return []

    def cpu_ns(self) -> tuple[int, int] | None:
        """Stands in what ``read`` gives."""
        return None

    def read(self, *, pss: bool = False) -> Reading:
        """A look at it by its own host, at the time of this host's clock; empty when it is lost."""
        nothing = Reading(at_ns=time.monotonic_ns(), role="driver")
        seen: Reading | None = self._asked("look", pss)
        return nothing if seen is None else msgspec.structs.replace(seen, at_ns=seen.at_ns - self.clock_ahead_ns)

    def poll(self) -> int | None:
        """As of every Group; -9 when its host is lost."""
        if self._status is None and not self._ended:
            self._status = self._asked("poll")
        return -9 if self.lost else self._status

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Until it has said its last word, and then for its status."""
        self._reader.join(timeout_s)
        return self.poll()

    def has_ended(self) -> bool:
        """Nobody is left."""
        return self.poll() is not None

    def terminate(self) -> None:
        """SIGTERM, there."""
        self._asked("terminate")

    def end(self, grace_s: float) -> list[str]:
        """End it there, and take what it wrote to standard error; a host that is lost has a timer that ends it."""
        if self._ended:
            return []
        found = self._asked("end", grace_s, within_s=grace_s + LOST_S)
        self._ended = True
        notes, complaints = found or ([], b"")
        if complaints and isinstance(self._command.stderr, Path) and self._command.stderr != Path(os.devnull):
            with self._command.stderr.open("ab") as log:
                log.write(complaints)
        self.stdout.close()  # type: ignore[union-attr]  # made above
        self._reader.join(LOST_S)
        return [*notes, *([self.lost] if self.lost else [])]

    def _asked(self, verb: str, *arguments: Any, within_s: float = LOST_S) -> Any:
        """None when it is lost."""
        if self.lost:
            return None
        try:
            return self._host.ask(verb, self._number, *arguments, within_s=within_s)
        except MachineError as error:
            self._fault = str(error)
            return None

    def _listen(self) -> None:
        """What it prints, into our pipe, until its end; what it wrote into files is here before that."""
        try:
            with contextlib.suppress(OSError):  # nobody wants to hear the rest
                while data := self._asked("read"):
                    if data != WAIT:
                        _write_all(self._writing, data)
                if self._command.role == "driver" and self._command.cwd.is_dir():
                    write_files(self._command.cwd, self._asked("results") or {})
        finally:
            os.close(self._writing)

    def _write(self, data: bytes) -> None:
        if self._asked("write", data) is not True:
            raise BrokenPipeError


WAIT = "wait"
"""What an agent says when nothing was printed for a moment."""


class _Input(io.RawIOBase):
    """Standard input of a far process."""

    def __init__(self, send: Any) -> None:
        self._send = send

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._send(bytes(data))
        return len(data)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def files_of(source: Path) -> dict[str, bytes]:
    """A file (by the name of nothing) or the files of a folder, by their paths in it."""
    if source.is_file():
        return {"": source.read_bytes()}
    return {str(path.relative_to(source)): path.read_bytes() for path in source.rglob("*") if path.is_file()}


def write_files(target: Path, files: dict[str, bytes]) -> None:
    """Write what ``files_of`` read. MachineError for a name that leads out of ``target``."""
    for name, content in files.items():
        path = target / name if name else target
        if name and (Path(name).is_absolute() or ".." in Path(name).parts):
            raise MachineError(f"{name!r} leads out of {target}: do not trust a host that sends such a name")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
