"""One build command: started through the host, everything it writes kept in a log, and ended whatever happens."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Literal

from webdyno.build.cache import refuse_full
from webdyno.build.environment import environment_in
from webdyno.build.mismatch import MismatchError, mismatch
from webdyno.model.errors import BuildError, StartError
from webdyno.model.log import LOOKED_AT_BYTES, end_of
from webdyno.rig.ask import heard
from webdyno.rig.group import Group
from webdyno.rig.here import Here
from webdyno.rig.host import PIPE, Command, Host

_LOOK_S = 0.1
"""How often a running command is left to see whether the user wants to stop."""
_GRACE_S = 2.0


@dataclass(frozen=True)
class Workshop:
    """Where build commands run and write: a host, a log, and the wish to stop."""

    host: Host
    log: Path
    interrupted: Event
    begins: int = field(default=0)
    """Length of the log before this build."""
    lock: Path | None = None
    """That of a Python contender."""
    variable: str = "WEBDYNO_CACHE"
    """What names the disk that is built on."""

    def run(self, purpose: str, argv: Sequence[str], cwd: Path, **environment: str) -> None:
        """Run to the end; BuildError ("could not PURPOSE") with the log's tail when it cannot be started or fails."""
        if self.interrupted.is_set():
            raise KeyboardInterrupt
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(argv)}\n")
        with self._scratch() as scratch:
            known = environment_in(scratch, **environment)
            command = Command(argv=list(argv), cwd=cwd, environment=known, role="build", stdout=self.log)
            try:
                group = self.host.start(command)
            except StartError as error:
                raise BuildError(f"could not {purpose}: {error}", self.tail()) from None
            status = self._ended(group)
        if status and self.interrupted.is_set():  # what ended then did so because it was stopped
            raise KeyboardInterrupt
        if status:
            tail = self.tail()
            refuse_full(self.log.parents[1], purpose, tail, self.variable)
            if other := mismatch(tail, cwd, self.lock):
                raise MismatchError(f"could not {purpose}: {other}", tail)
            how = group.flooded() or f"ended with {_status(status)}"
            raise BuildError(f"could not {purpose}: {Path(argv[0]).name} {how}", tail)

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        """A home that holds temporary files too, for tools leave theirs behind (uv its locks); beside the log, so that
        one which a kill has left there is taken away by the next build of the same.
        """
        folder = self.log.with_suffix(".tmp")
        folder.mkdir(exist_ok=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _ended(self, group: Group) -> int:
        try:
            while (status := group.wait(_LOOK_S)) is None:
                if self.interrupted.is_set():
                    raise KeyboardInterrupt
            return status
        finally:
            group.end(_GRACE_S)

    def tail(self) -> str:
        """The end of what this build wrote, as text."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(self.begins, size - LOOKED_AT_BYTES))
            return end_of(log.read().decode(errors="replace"))


def ask(
    host: Host,
    argv: Sequence[str],
    stdin: bytes | None = None,
    errors: Path | Literal["stdout"] = Path(os.devnull),
    environment: Mapping[str, str] | None = None,
    *,
    is_short: bool = False,
) -> str | None:
    """What a short command writes to standard output; None when it cannot be started or fails.

    ``errors`` is where its standard error goes: a file, or with its output. It may build too: uv does, to learn what an
    sdist needs. ``is_short``: it does not, and MachineError is raised as by ``heard`` when it hangs all the same.
    """
    with _home(host) as home:
        command = Command(
            argv=list(argv),
            cwd=Path("/"),
            environment=environment_in(home, **(environment or {})),
            role="tool",
            stdin=stdin,
            stdout=PIPE,
            stderr=errors,
        )
        try:
            group = host.start(command)
        except StartError:
            return None
        try:
            written = heard(group, argv) if is_short else group.stdout.read() if group.stdout else b""
            status = group.wait(_GRACE_S)
        finally:
            group.end(_GRACE_S)
    return written.decode(errors="replace") if status == 0 else None


@contextmanager
def _home(host: Host) -> Iterator[Path]:
    """An empty one. Settings of registries are copied into it, so that of a rig is swept up after a kill."""
    if not isinstance(host, Here):
        with TemporaryDirectory(prefix="webdyno-home-", ignore_cleanup_errors=True) as made:
            yield Path(made)
        return
    home = host.folder()
    try:
        yield home
    finally:
        host.drop(home)


def _status(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"status {status}"
