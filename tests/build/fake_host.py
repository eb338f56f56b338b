"""A host on which nothing really runs: each command is answered by a function of the test."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import IO

from webdyno.model.errors import StartError
from webdyno.rig.host import PIPE, Command

Answer = Callable[[Command], "int | str | None"]
"""Status, or what it writes (status 0); None: it never ends by itself. StartError: there is no such program."""


class FakeGroup:
    """The process tree of one command that was answered before it began."""

    def __init__(self, status: int | None, written: str, piped: bool) -> None:
        self.pid = 1
        self.stdout: IO[bytes] | None = _said(written) if piped else None
        self.status, self.ended = status, False

    def wait(self, timeout_s: float | None = None) -> int | None:
        return self.status

    def flooded(self) -> None:
        return None

    def end(self, grace_s: float) -> list[str]:
        self.ended = True
        if self.stdout is not None:
            self.stdout.close()
        return []


def _said(text: str) -> IO[bytes]:
    """A pipe that one who has ended wrote into."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 1 << 18)  # nobody reads meanwhile
    os.write(writing, text.encode())
    os.close(writing)
    return os.fdopen(reading, "rb")


class FakeHost:
    """``commands`` are those that were started, ``groups`` what became of them."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.commands: list[Command] = []
        self.groups: list[FakeGroup] = []

    def put(self, source: Path, target: Path) -> None:
        shutil.copytree(source, target)

    def fetch(self, source: Path, target: Path) -> None:
        raise AssertionError("nothing is fetched while building")

    def start(self, command: Command) -> FakeGroup:
        self.commands.append(command)
        answer = self.answer(command)
        written = answer if isinstance(answer, str) else ""
        if command.stdout != PIPE:
            with Path(command.stdout).open("a") as log:
                log.write(written or f"said by {Path(command.argv[0]).name}\n")
        group = FakeGroup(0 if isinstance(answer, str) else answer, written, command.stdout == PIPE)
        self.groups.append(group)
        return group

    def said(self, *words: str) -> list[list[str]]:
        """Commands that hold all of ``words``."""
        return [command.argv for command in self.commands if set(words) <= set(command.argv)]


def no_such_program(command: Command) -> int:
    raise StartError(f"{command.argv[0]} could not be executed: there is no such program", exited=True)
