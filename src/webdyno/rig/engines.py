"""Engines: the container engines of this machine (podman, docker) that answer, and the flags both of them know.

Nothing here starts a process: who asks an engine hands in an ``Ask``.
"""

from __future__ import annotations

import resource
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from webdyno.model.errors import MachineError

ENGINES = {"podman": "{{.Client.Version}}", "docker": "{{.Server.Version}}"}
"""In the order they are asked, each with what its version is asked by: Docker's daemon must be there."""
LABEL = "webdyno"
"""Of every container started here, with the rig's token: so that what is left of one can be found."""
_INSTALL = "install one (Debian: apt-get install podman)"
_BY_URL = "serve the image yourself and give --url"
ANSWER_S = 30.0
"""Until an engine that does not answer is given up: it may wait for a lock of its own, or for a daemon that hangs."""


class Answered(msgspec.Struct, frozen=True):
    """How one command of an engine ended."""

    status: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line of what it complained about."""
        lines = [line.strip() for line in (self.err or self.out).splitlines() if line.strip()]
        return lines[-1][:300] if lines else f"exit status {self.status}"


class Ask(Protocol):
    """Runs one command of an engine; MachineError when it takes longer than ``within_s`` (None: any time)."""

    def __call__(self, argv: Sequence[str], within_s: float | None = ANSWER_S) -> Answered:
        """How it ended."""


@dataclass(frozen=True)
class Engine:
    """A container engine that answers."""

    name: str
    program: str
    version: str
    ask: Ask

    def clear(self) -> None:
        """Remove what is left of any sitting, running or not: under the machine's lock nobody else measures."""
        self._remove(LABEL)

    def remove(self, token: str) -> None:
        """Remove every container of one sitting, whatever the engine believes it to do."""
        self._remove(f"{LABEL}={token}")

    def _remove(self, label: str) -> None:
        left = self.ask([self.program, "ps", "--all", "--quiet", "--filter", f"label={label}"]).out.split()
        if left:
            self.ask([self.program, "rm", "--force", *left])


def find_engines(ask: Ask, path: str | None = None, needs: str = "--image", instead: str = _BY_URL) -> list[Engine]:
    """Those that answer; MachineError when none does, which says what ``needs`` one and what to do ``instead``.

    ``path``: where programs are looked for.
    """
    found, refused = [], []
    for name, asked in ENGINES.items():
        program = shutil.which(name, path=path)
        if program is None:
            continue
        try:
            answer = ask([program, "version", "--format", asked])
        except MachineError as error:  # another one may answer
            refused.append(str(error))
            continue
        if answer.status == 0:
            found.append(Engine(name, program, answer.out.strip(), ask))
        else:
            refused.append(f"{name}: {answer.last}")
    if found:
        return found
    why = f" that works: {'; '.join(refused)};" if refused else ", and neither podman nor docker is on PATH:"
    raise MachineError(f"{needs} needs a container engine{why} {_INSTALL}, or {instead}")


def ulimits() -> list[str]:
    """As many files and processes as we may have: an engine's own numbers may be above that, and are then refused.

    Podman gives itself no more processes than there are numbers for.
    """
    files, processes = (resource.getrlimit(which)[1] for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC))
    numbers = int(Path("/proc/sys/kernel/pid_max").read_text())
    processes = numbers if processes == resource.RLIM_INFINITY else min(processes, numbers)
    limits = {"nproc": processes} | ({} if files == resource.RLIM_INFINITY else {"nofile": files})
    return [f"--ulimit={name}={number}:{number}" for name, number in limits.items()]
