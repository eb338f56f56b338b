"""What can be typed: whose project, which servers, how long, and where the evidence is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from webdyno.commands.options import JsonOption, connections_of, flag, refuse_unwritable, split
from webdyno.commands.studying import seconds
from webdyno.commands.trying.envfile import read_env_file
from webdyno.model.errors import UsageError


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Trying:
    """The flags beside those that say what is asked."""

    current: Annotated[
        str | None,
        flag("--current", help="What serves it today, as you start it: the baseline. 'gunicorn app:app -w 4'."),
    ] = None
    cmd: Annotated[
        list[str] | None,
        flag(
            "--cmd",
            help="Any other server (repeatable): 'node server.js {port}'. {host} {port} {bind} {workers} {cores}.",
        ),
    ] = None
    url: Annotated[str | None, flag("--url", help="A server that runs already: only load and latency.")] = None
    server: Annotated[
        list[str] | None, flag("--server", "-k", help="Only these servers or contenders: -k granian,uvicorn.")
    ] = None
    budget: Annotated[str, flag("--budget", help="Time to measure in, builds apart: 10m, 90s.")] = "10m"
    connections: Annotated[int, flag("--connections", "-c", help="Clients that ask, wait, and ask again.")] = 32
    folder: Annotated[Path, flag("--folder", "-C", help="The project's folder, which the app is started in.")] = Path()
    python: Annotated[
        Path | None, flag("--python", help="The project's Python, or the folder of its environment; else found.")
    ] = None
    env_file: Annotated[Path | None, flag("--env-file", help="File of variables the app needs, NAME=value.")] = None
    interface: Annotated[
        Literal["wsgi", "asgi", "rsgi"] | None,
        flag("--interface", help="What the app speaks, where it cannot be told."),
    ] = None
    save: Annotated[
        Path | None,
        flag("--save", help="New folder for the evidence, a report and the files to copy; else none is kept."),
    ] = None
    json: JsonOption = False

    @property
    def budget_s(self) -> float:
        """The budget in seconds; UsageError."""
        return seconds(self.budget, "--budget")

    @property
    def servers(self) -> list[str] | None:
        """Names given with --server."""
        return split(self.server)

    @property
    def commands(self) -> list[str]:
        """Those of --cmd."""
        return self.cmd or []

    @property
    def project_folder(self) -> Path:
        """Whole; UsageError when it is none."""
        folder = self.folder.expanduser().absolute()
        if not folder.is_dir():
            what = "it is a file" if folder.exists() else "there is no such folder"
            raise UsageError(f"--folder {self.folder}: {what}")
        return folder

    @property
    def variables(self) -> dict[str, str]:
        """Of --env-file."""
        return {} if self.env_file is None else read_env_file(self.env_file)

    def check(self, app: str | None) -> None:
        """UsageError when the flags contradict each other."""
        connections_of(self.connections)
        if self.url is not None and (app is not None or self.commands or self.current is not None):
            raise UsageError("--url loads a server that runs already; it goes with neither an app, --cmd nor --current")
        if app is None and self.url is None and not self.commands:
            raise UsageError(
                "try what? Name an application (myapp:app), the command of a server (--cmd 'node server.js {port}'), "
                "or a server that runs (--url)"
            )
        if app is None and self.servers is not None:
            raise UsageError("--server picks servers of the catalogue for an application; name one, such as myapp:app")
        if self.save is not None and (self.save / "results.sqlite").exists():
            raise UsageError(f"--save {self.save}: there are results already; name a new folder")
        if self.save is not None:
            refuse_unwritable(self.save)
        _ = self.budget_s, self.project_folder, self.variables
