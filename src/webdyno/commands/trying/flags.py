"""What can be typed for a tryout: whose project, which servers, how long, and where the evidence is kept."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from webdyno.commands.completing import contenders
from webdyno.commands.loading.targets import header_of
from webdyno.commands.options import JsonOption, ResumeOption, WaitOption, connections_of, flag, split
from webdyno.commands.trying.asking import AppAsking
from webdyno.commands.units import seconds
from webdyno.model.again import Again
from webdyno.model.errors import UsageError
from webdyno.session.folders import refuse_unwritable
from webdyno.session.tryout.envfile import read_env_file, read_variables
from webdyno.session.tryout.resuming import line_to_go_on
from webdyno.session.tryout.task import Task

_IMAGE = re.compile(r"[A-Za-z0-9][\w./:@-]*")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Trying:
    """The flags beside those that say what is asked."""

    current: Annotated[
        str | None,
        flag("--current", help="The command that serves it now, as the baseline: 'gunicorn app:app -w 4'."),
    ] = None
    cmd: Annotated[
        list[str] | None,
        flag(
            "--cmd",
            help="Any other server (repeatable): 'node server.js {port}', 'npm start' (PORT is set), 'A=b run {bind}'. "
            "{host} {port} {bind} {workers} {cores}.",
        ),
    ] = None
    image: Annotated[
        list[str] | None,
        flag(
            "--image",
            help="A container image, run by podman or docker (repeatable); several are compared with each other.",
        ),
    ] = None
    container_port: Annotated[
        int | None,
        flag("--container-port", help="Port on which the image's server listens. [default: its exposed port, or PORT]"),
    ] = None
    url: Annotated[
        str | None, flag("--url", help="A server that is already running: only rate and latency are measured.")
    ] = None
    server: Annotated[
        list[str] | None,
        flag("--server", "-k", help="Only these servers or contenders: -k granian,uvicorn.", offers=contenders),
    ] = None
    budget: Annotated[str, flag("--budget", help="Time for measuring, not counting builds: 10m, 90s.")] = "10m"
    connections: Annotated[
        int, flag("--connections", "-c", help="Number of clients; each waits for its answer before its next request.")
    ] = 32
    folder: Annotated[Path, flag("--folder", "-C", help="The project's folder, in which the app is started.")] = Path()
    python: Annotated[
        Path | None,
        flag("--python", help="The project's Python, or the folder of its environment. [default: detected]"),
    ] = None
    env_file: Annotated[Path | None, flag("--env-file", help="File with variables that the app needs, NAME=value.")] = (
        None
    )
    env: Annotated[list[str] | None, flag("--env", help="A variable, NAME=value (repeatable).")] = None
    interface: Annotated[
        Literal["wsgi", "asgi", "rsgi"] | None,
        flag("--interface", help="The app's interface, if it cannot be detected."),
    ] = None
    save: Annotated[
        Path | None,
        flag(
            "--save",
            help="New folder for the evidence, a report and the files to copy. [default: nothing is kept]",
        ),
    ] = None
    resume: ResumeOption = None
    wait: WaitOption = False
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
    def images(self) -> list[str]:
        """Those of --image."""
        return self.image or []

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
        """Of --env-file, and those of --env over them."""
        written = {} if self.env_file is None else read_env_file(self.env_file)
        return written | read_variables(self.env or [])

    def check(self, app: str | None) -> None:
        """UsageError when the flags contradict each other."""
        connections_of(self.connections)
        if self.url is not None and (app is not None or self.commands or self.current is not None):
            raise UsageError("--url loads a server that is already running; it excludes an app, --cmd and --current")
        self._check_images(app)
        if app is None and self.url is None and not self.commands and not self.images:
            raise UsageError(
                "try what? Name an application (myapp:app), the command of a server (--cmd 'node server.js {port}'), "
                "a container image (--image), or a running server (--url)"
            )
        if app is None and self.servers is not None:
            raise UsageError(
                "--server selects servers of the catalogue for an application; name an application, such as myapp:app"
            )
        if self.save is not None and line_to_go_on(self.save, []) is not None:
            raise UsageError(f"--save {self.save}: continue what is there (--resume {self.save}), or name a new folder")
        if self.save is not None and (self.save / "results.sqlite").exists():
            raise UsageError(f"--save {self.save}: there are results already; name a new folder")
        if self.save is not None:
            refuse_unwritable(self.save)
            if self.save.exists() and any(self.save.iterdir()):
                raise UsageError(f"--save {self.save}: there are files in it; name a new folder")
        _ = self.budget_s, self.project_folder, self.variables

    def again(self, app: str | None, asking: AppAsking) -> Again:
        """What no results folder keeps, for --resume. UsageError for anything else beside it."""
        alone = replace(self, resume=None, env=None, wait=False, json=False) == Trying()
        if app is not None or not alone or replace(asking, header=None) != AppAsking():
            raise UsageError(
                "--resume continues a try as it was begun, so the only other flags it takes are --env and -H"
            )
        headers = [header_of(line) for line in asking.header or []]
        return Again(headers=headers, variables=read_variables(self.env or []))

    def task(self, app: str | None, asking: AppAsking) -> Task:
        """What these flags and those of ``asking`` say; UsageError."""
        return Task(
            asked=asking.questions,
            folder=self.project_folder,
            budget=self.budget,
            budget_s=self.budget_s,
            connections=self.connections,
            app=app,
            current=self.current,
            commands=self.commands,
            images=self.images,
            container_port=self.container_port,
            servers=self.servers,
            python=self.python,
            env_file=self.env_file,
            names=list(read_variables(self.env or [])),
            variables=self.variables,
            interface=self.interface,
            save=self.save,
        )

    def _check_images(self, app: str | None) -> None:
        if self.images and (app is not None or self.commands or self.url is not None):
            raise UsageError(
                "--image compares images with each other (--image mine:1 --image mine:2) and with --current; it "
                "excludes an app, --cmd and --url"
            )
        for name in self.images:
            if not _IMAGE.fullmatch(name):
                raise UsageError(f"--image {name}: name an image, such as --image mine:1 or --image ghcr.io/me/mine:1")
        if len(set(self.images)) < len(self.images):
            raise UsageError("--image: the same image is named twice")
        if self.container_port is not None and not self.images:
            raise UsageError("--container-port is the port of the server in an --image; name one")
        if self.container_port is not None and not 1 <= self.container_port <= 65535:
            raise UsageError(f"--container-port {self.container_port}: give a port from 1 to 65535")
