"""One sitting of a tryout: what it has at hand, and its steps from the project to the evidence."""

from __future__ import annotations

import dataclasses
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from webdyno.analyse.words import count, length
from webdyno.build import lacking
from webdyno.design.blocks import Room
from webdyno.load.driver import DRIVERS
from webdyno.model.built import Built
from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import Contender
from webdyno.model.errors import BuildError, ContenderError, StartError, UsageError, WebdynoError
from webdyno.model.log import last_lines
from webdyno.model.placeholder import placeholders
from webdyno.model.secret import hidden_line
from webdyno.model.trial import Skipped
from webdyno.model.tried import Outset
from webdyno.model.workload import Workload
from webdyno.rig.ask import asker
from webdyno.rig.strap import Strapped
from webdyno.session.designs import room_here
from webdyno.session.saying import say
from webdyno.session.tryout.bench import TIMEOUT_S, TryBench
from webdyno.session.tryout.budget import SERVER_S, Budget
from webdyno.session.tryout.command import CURRENT, command_built, command_settings, names_for, told_by_port
from webdyno.session.tryout.first import First, first_answers
from webdyno.session.tryout.fitting import Setting, fitting
from webdyno.session.tryout.image import Image, asking, image_built, image_setting, images_of
from webdyno.session.tryout.interpreter import project_python
from webdyno.session.tryout.project import Project, application, environment
from webdyno.session.tryout.servers import Server, build_servers, hidden_variables
from webdyno.session.tryout.task import Task

SIMPLEST = ("waitress", "uvicorn-pure", "uvicorn", "wsgiref", "granian-rsgi")
"""Whose first answers are looked at, where they are there: servers that change the least of an app."""
SIMPLE = 2
"""This many of them: if one does not start, another shows whether that is the app's doing."""
LONGEST_S = 60.0
"""The most that one answer may take."""
ANSWERS = 10
"""A Run lasts at least this many times the slowest of the first answers."""
READY_S = 5.0
"""The least that a server of the catalogue is waited for: ten times as long as the simplest took, when that is more."""


@dataclass(kw_only=True)
class Sitting:
    """``work`` is a folder for logs that ends with the sitting."""

    task: Task
    known: Catalogue
    strapped: Strapped
    cache: Path
    work: Path
    project: Project | None = None
    servers: dict[str, Server] = field(default_factory=dict)
    """By the name of their recommended setting."""
    commands: dict[str, Setting] = field(default_factory=dict)
    """Of --cmd, --image and --current, by name."""
    images: dict[str, Image] = field(default_factory=dict)
    """By the name of their setting."""
    skipped: list[Skipped] = field(default_factory=list)
    able: list[Contender] = field(default_factory=list)
    """Those of the catalogue that may serve the project and are not built yet, the simplest first."""
    current_compilers: list[str] = field(default_factory=list)
    """At work in --current while it serves."""
    began: Outset | None = None
    """What an earlier sitting of the same tryout found, which decides; None: it begins now."""

    @property
    def cores(self) -> int:
        """Of a contender."""
        return len(self.strapped.rig.contender_cores)

    @property
    def token(self) -> str:
        """That containers are labelled with, in all sittings of a tryout: it is part of their command."""
        return self.strapped.token if self.began is None else self.began.token

    def prepare(self) -> None:
        """The project, its servers built, the commands read. Any WebdynoError."""
        app, folder, variables = self.task.app, self.task.folder, self.task.variables
        for name, text in zip(names_for(self.task.commands), self.task.commands, strict=True):
            self._add_commands(command_settings(text, name, "--cmd", self.cores))
        self._add_images(variables)
        if self.task.current is not None:
            self._add_commands(command_settings(self.task.current, CURRENT, "--current", self.cores))
        if app is None:
            self._refuse_missing_programs(None)
            return
        python = project_python(self.task.python, folder, self.cache, self.strapped, self.strapped.interrupted)
        self._refuse_missing_programs(python[0])
        given, clock = self.task.interface, time.monotonic()
        self.project = application(app, folder, python, variables, self.strapped, given)
        import_s = time.monotonic() - clock
        able = fitting(self.known, self.project.interface, self.task.servers)
        say(
            f"{app}: {self.project.interface.upper()} ({self.project.said.about or 'as you say'}), Python "
            f"{self.project.version} ({python[1]}); {count(len(able), 'server')} can serve it"
        )
        if self.project.said.made:
            say(f"{app} is a function that makes the application; {self.project.target} is served")
        self.able = sorted(able, key=lambda each: SIMPLEST.index(each.name) if each.name in SIMPLEST else len(SIMPLEST))
        if self.began is None:
            self.budget(import_s + SERVER_S).refuse_short()

    def budget(self, ready_s: float, least_s: float = 0.0) -> Budget:
        """For all that is built, and all that will be."""
        commands = sum(name != CURRENT for name in self.commands)
        known = {} if self.began is None else {"profiles": self.began.profiles}
        return Budget(
            typed=self.task.budget,
            seconds=self.task.budget_s,
            bases=len(self.servers) + sum(lacking(each) is None for each in self.able) + commands,
            current=CURRENT in self.commands,
            project=self.project is not None,
            ready_s=ready_s,
            least_s=least_s,
            **known,
        )

    def build(self, most: int | None = None) -> None:
        """This many of the able servers, or as many more as it takes to have one; all of them by default."""
        while self.able and self.project is not None:
            now, self.able = self.able[:most], self.able[len(self.able[:most]) :]
            clock = time.monotonic()
            built, skipped = build_servers(now, self.project, self.known, self.strapped, self.cache)
            self.servers |= {server.setting.name: server for server in built}
            self.skipped += skipped
            say(f"built {count(len(built), 'server')} in {length(time.monotonic() - clock)}")
            for skip in skipped:
                say(f"left out {skip.contender}: {skip.reason}")
            if built:
                return

    def _refuse_missing_programs(self, python: Path | None) -> None:
        """UsageError for a command whose program is not there, before servers are built to be compared with it."""
        folder = self.task.folder
        path = environment(folder, self.task.variables, python)["PATH"]
        for name, setting in self.commands.items():
            program, among = setting.contender.serve[0], setting.contender.environment.get("PATH", path)
            there = (folder / program).exists() if "/" in program else shutil.which(program, path=among) is not None
            if not there and not placeholders(program):
                flag = "--current" if name == CURRENT else "--cmd"
                raise UsageError(
                    f"{flag} {setting.contender.because!r}: there is no program {program!r} on PATH, in the project's "
                    "environment or its folder"
                )

    def _add_images(self, variables: Mapping[str, str]) -> None:
        """Every --image, pulled where it is missing. Any WebdynoError."""
        if not self.task.images:
            return
        ask = asking(self.strapped, self.strapped.interrupted)
        found = images_of(self.task.images, self.task.container_port, ask, say)
        found[0].engine.clear()
        for name, image in zip(names_for(self.task.images, "image"), found, strict=True):
            self.images[name] = image
            self._add_commands([image_setting(image, name, variables, self.strapped.rig, self.token)])
            told = f"listens on {image.port}" if image.port is not None else "gets its port from PORT"
            say(f"{image.name}: {image.id[:19]}, {image.engine.name} {image.engine.version}; it {told}")

    def _add_commands(self, settings: list[Setting]) -> None:
        self.commands |= {setting.name: setting for setting in settings}

    def built_of(self, name: str) -> Built:
        """What there is to serve for a setting of the field."""
        if name in self.servers:
            return self.servers[name].built
        python = None if self.project is None else self.project.python
        folder, variables = self.task.folder, self.task.variables
        packages = {} if self.project is None else self.project.said.packages
        around = environment(folder, variables, python)
        if name in self.images:
            return image_built(self.images[name], self.commands[name], folder, around)
        return command_built(self.commands[name], folder, around, packages)

    def first(self) -> First:
        """The first answers, of the simplest server and of --current. Any WebdynoError."""
        order = [*self.servers, *(name for name in self.commands if name != CURRENT)]
        if not order:
            reasons = "; ".join(f"{skip.contender}: {skip.reason}" for skip in self.skipped)
            raise UsageError(f"no server is left to try ({reasons})")
        try:
            said = self._asked(order[0])
        except StartError:
            if len(order) == 1 or self.strapped.interrupted.is_set():
                raise
            said = self._asked(order[1])  # the app, or that server? Another one tells
        if CURRENT in self.commands:
            try:
                self.current_compilers = self._asked(CURRENT).compilers
            except ContenderError as error:
                raise BuildError(
                    f"--current {hidden_line(self.task.current or '')!r}: {error}", error.log_tail
                ) from None
        return said

    def _asked(self, name: str) -> First:
        setting = self.servers[name].setting if name in self.servers else self.commands[name]
        slow = msgspec.structs.replace(setting.contender, ready_s=60.0)
        built, log = self.built_of(name), self.work / "first.log"
        try:
            return first_answers(slow, built, self.task.asked, self.strapped, log, time.monotonic)
        except StartError as error:
            hint = self._where_it_listens(name)
            if hint is None or error.exited or self.strapped.interrupted.is_set():
                raise
            raise StartError(f"{setting.contender.because}: {error}; {hint}", error.log_tail, exited=False) from None

    def _where_it_listens(self, name: str) -> str | None:
        """What to try where nothing listened on its port; None for one that is given it by its own words."""
        if name in self.images:
            return "an image gets its port from PORT; name another with --container-port"
        if name in self.commands and told_by_port(self.commands[name].contender):
            return "it can learn its port only from PORT; write {port} where its port belongs"
        return None

    def bench(self, first: First) -> TryBench:
        """Where everything is measured, all recommended settings and commands in it."""
        queue_s = 2 * self.task.connections * first.slowest_s  # a server with one worker takes them one by one
        bench = TryBench(
            strapped=self.strapped,
            workload=first.workload,
            timeout_s=min(max(TIMEOUT_S, queue_s), LONGEST_S),
            connections=self.task.connections,
            driver_version=DRIVERS["engine"]().version(asker(self.strapped)),
            logs=self.work,
            hidden=hidden_variables(self.project, self.task.variables),
            here=room_here() if self.began is None else Room(memory_bytes=self.began.memory_bytes),
        )
        for server in self.servers.values():
            self.add(bench, server.setting, first)
        for setting in self.commands.values():
            self.add(bench, setting, first)
        return bench

    def add(self, bench: TryBench, setting: Setting, first: First, like: str | None = None) -> None:
        """A setting that can be measured from now on, with what was built for that of ``like``."""
        least_s = setting.contender.ready_s if setting.is_command else READY_S
        patient = msgspec.structs.replace(setting.contender, ready_s=max(least_s, 10 * first.ready_s))
        bench.add(msgspec.structs.replace(setting, contender=patient), self.built_of(like or setting.name))

    def nothing(self, bench: TryBench, name: str, hello: Workload) -> tuple[TryBench, str] | None:
        """The same server and settings with an app that does nothing; None for a command of the user's."""
        setting = bench.settings[name]
        server = next((each for each in self.servers.values() if each.original.name == setting.base), None)
        if server is None or self.project is None:
            return None
        target = "webdyno_nothing:app"
        serve = [target if word == self.project.target else word for word in setting.contender.serve]
        idle = msgspec.structs.replace(setting.contender, serve=serve, name="nothing")
        built = msgspec.structs.replace(server.built, environment={**server.built.environment, "WEBDYNO_APP": target})
        other = dataclasses.replace(bench, workload=hello, settings={}, built={}, journal=None)
        other.add(msgspec.structs.replace(setting, contender=idle), built)
        return other, "nothing"

    def leave(self) -> None:
        """Every server of the sitting has ended: remove what an engine keeps of a container that it had to kill."""
        deaf = asking(self.strapped, threading.Event())  # a Ctrl-C is why this may be the last thing that is done
        for engine in {image.engine.name: image.engine for image in self.images.values()}.values():
            try:
                dataclasses.replace(engine, ask=deaf).remove(self.token)
            except (WebdynoError, OSError) as error:  # what brought us here is what there is to say
                say(f"note: containers of this sitting may be left: {error}")

    def original(self, setting: Setting) -> tuple[Contender, Path] | None:
        """The catalogue's contender behind a setting and the folder of its scripts; None for a command."""
        server = next((each for each in self.servers.values() if each.original.name == setting.base), None)
        return None if server is None else (server.original, server.scripts)


def tail_of(error: ContenderError) -> Iterator[str]:
    """The end of what the app or its server wrote, for standard error."""
    yield from (f"  | {line}" for line in last_lines(error.log_tail, 30))
