"""What is to be tried: an application or commands, what is asked of them, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from webdyno.model.secret import asked
from webdyno.model.workload import Request, Workload
from webdyno.session.target import one_server
from webdyno.session.tryout.project import Interface


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What is asked of the application."""

    requests: Sequence[Request]
    by_schema: bool = False
    """The GET routes of the app's own schema; ``requests`` then is one, which they are asked like."""
    is_unsaid: bool = True
    """Nobody said what a correct answer is, so one that is hardly meant is refused."""

    def of_routes(self, paths: Sequence[str]) -> list[Request]:
        """Those paths, asked like the one request."""
        (like,) = self.requests
        targets = one_server(tuple(f"http://app{path}" for path in paths))
        found = [msgspec.structs.replace(like, path=each.path, weight=each.weight) for each in targets]
        return [msgspec.structs.replace(request, name=asked(request)) for request in found]


def workload_of(requests: Sequence[Request]) -> Workload:
    """Those requests as a workload of the name ``app``."""
    shown = ", ".join(asked(request) for request in requests[:3])
    more = f" and {len(requests) - 3} more" if len(requests) > 3 else ""
    return Workload(name="app", title=shown + more, kind="cpu", requests=list(requests))


@dataclass(frozen=True, kw_only=True)
class Task:
    """``app`` is MODULE:ATTRIBUTE in ``folder``; without one, ``commands`` or ``images`` are compared."""

    asked: Questions
    folder: Path
    """The project's, whole."""
    budget: str
    """As it was typed; in seconds it is ``budget_s``."""
    budget_s: float
    connections: int
    app: str | None = None
    current: str | None = None
    """What serves it today: the baseline."""
    commands: Sequence[str] = ()
    images: Sequence[str] = ()
    container_port: int | None = None
    """Where the server of an image listens, as far as somebody said so."""
    servers: Sequence[str] | None = None
    """The only ones of the catalogue to be tried."""
    python: Path | None = None
    env_file: Path | None = None
    names: Sequence[str] = ()
    """Of variables that were given one by one."""
    variables: dict[str, str] = field(default_factory=dict)
    """All of them, those of the file too."""
    interface: Interface | None = None
    save: Path | None = None
    """New folder for the evidence."""
