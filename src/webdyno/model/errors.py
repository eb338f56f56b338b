"""Every exception webdyno raises on purpose.

    WebdynoError                 one clear sentence: what happened, where, what to try next
    ├─ UsageError                a flag or an argument is wrong                    exit code 2
    │  └─ CatalogueError         a file is wrong; says file, line and key          exit code 2
    ├─ ServiceError               a service did not start, or died: becomes a Run, and the plan goes on
    ├─ MachineError              this machine cannot do it (no port, no right ...)  exit code 3
    │  └─ LostError              a host that makes load is lost: becomes a Run, done again from another one
    └─ ContenderError            the contender failed: caught by conduct, becomes a Run, never a traceback
       ├─ BuildError             did not install or compile
       ├─ StartError             ended, or never listened, before it served
       └─ AnswerError            served a wrong answer when it was verified

A failure of a contender is data (see Outcome in run.py); only what prevents webdyno itself from working reaches the
user as an exception, and the command line prints its text without a traceback.
"""

from __future__ import annotations

from pathlib import Path


class WebdynoError(Exception):
    """Base of all; its text is one sentence for a person, with the next thing to try."""

    exit_code = 1


class UsageError(WebdynoError):
    """A flag or an argument is wrong."""

    exit_code = 2


class CatalogueError(UsageError):
    """A catalogue file is wrong.

    ``path``, ``line`` (from 1, None when it is unknown) and ``key`` (dotted) say where.
    """

    def __init__(self, path: Path, line: int | None, key: str | None, problem: str) -> None:
        where = f"{path}:{line}" if line else str(path)
        super().__init__(f"{where}: {f'{key}: ' if key else ''}{problem}")
        self.path, self.line, self.key, self.problem = path, line, key, problem


class MachineError(WebdynoError):
    """This machine cannot do what was asked."""

    exit_code = 3


class LostError(MachineError):
    """Another host, from which a load comes, does not answer any more, or cannot go on."""


class ServiceError(WebdynoError):
    """A service that a workload needs did not start or does not answer; ``log_tail`` as for a contender."""

    def __init__(self, message: str, log_tail: str = "") -> None:
        super().__init__(message)
        self.log_tail = log_tail


class ContenderError(WebdynoError):
    """The contender failed; ``log_tail`` holds the end of what it wrote, as text."""

    def __init__(self, message: str, log_tail: str = "") -> None:
        super().__init__(message)
        self.log_tail = log_tail


class BuildError(ContenderError):
    """The contender could not be installed or compiled."""


class StartError(ContenderError):
    """The contender ended or stayed silent instead of serving; ``exited`` tells which.

    ``out_of_memory``: the kernel killed it (or a part of it) at its memory limit before it served. ``too_many``: it was
    refused a process or thread at the limit of their number. ``flooded``: it was stopped because of its log. ``taken``:
    somebody else listens on its port.
    """

    def __init__(
        self,
        message: str,
        log_tail: str = "",
        *,
        exited: bool,
        out_of_memory: bool = False,
        too_many: bool = False,
        flooded: bool = False,
        taken: bool = False,
    ) -> None:
        super().__init__(message, log_tail)
        self.exited, self.out_of_memory, self.too_many = exited, out_of_memory, too_many
        self.flooded, self.taken = flooded, taken


class AnswerError(ContenderError):
    """The contender answered, but not what the workload calls right."""
