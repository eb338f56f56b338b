"""Host: a place that can hold files and start processes, in three verbs; and Command, what is to be started.

The Protocol is this small so that a container or a far machine can be one too. A Host starts commands exactly as they
are given: it adds a mark to the environment (to find the tree again) and nothing else, and it never uses a shell.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, Protocol

import msgspec

from webdyno.rig.group import Group

Role = Literal["contender", "driver", "service", "build", "tool"]
"""contender, driver and service get cores of their role and a cgroup; build and tool may use every core and are only
marked."""

PIPE: Final = "pipe"
"""As ``Command.stdin`` or ``stdout``: give me the stream as ``Group.stdin`` or ``stdout``."""
STDOUT: Final = "stdout"
"""As ``Command.stderr``: where stdout goes."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One command, complete: nothing is inherited but the user and the machine."""

    argv: list[str]
    """The program is looked for on ``environment``'s PATH when it has no slash."""
    cwd: Path = Path()
    environment: dict[str, str]
    """The whole of it; the Host adds only its mark."""
    role: Role
    stdin: bytes | Literal["pipe"] | None = None
    """What the command reads to end of file; None: nothing at all."""
    stdout: Path | Literal["pipe"] = PIPE
    """A file is appended to."""
    stderr: Path | Literal["stdout"] = STDOUT
    reads: tuple[Path, ...] = ()
    """Folders that it needs, and that are shown to it where it has a user of its own; of a path to programs, each."""
    contained: bool = False
    """It is the client of a container engine and hands its mark on: the Group is what runs in the container."""


def bare_environment(added: Mapping[str, str], home: Path) -> dict[str, str]:
    """The whole environment of a server: a minimal one and what is ``added``; a PATH that is added goes in front.

    Nothing of the user's but PATH: HOME and TMPDIR are ``home``, a folder made for it, so that two servers (or a user's
    dot files) cannot meet.
    """
    path = os.environ.get("PATH", os.defpath)
    if first := added.get("PATH"):
        path = ":".join(dict.fromkeys([*first.split(":"), *path.split(":")]))
    return {"HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8", **added, "PATH": path}


def folders_on(path: str) -> tuple[Path, ...]:
    """The folders of a PATH."""
    return tuple(Path(folder) for folder in path.split(":") if folder.startswith("/"))


class Host(Protocol):
    """``start`` raises StartError (exited) with one sentence when the program cannot be executed at all."""

    def put(self, source: Path, target: Path) -> None:
        """Copy a file or folder of this machine to the host."""

    def start(self, command: Command) -> Group:
        """Start ``command`` and return once it is executing."""

    def fetch(self, source: Path, target: Path) -> None:
        """Copy a file or folder of the host to this machine."""
