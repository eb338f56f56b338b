"""One sitting of ``webdyno try``: what it has at hand, and its steps from the project to the evidence."""

from __future__ import annotations

import dataclasses
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from webdyno.analyse.words import count, length
from webdyno.commands.trying.asking import AppAsking
from webdyno.commands.trying.bench import TIMEOUT_S, WARMUP_S, TryBench, rate_of
from webdyno.commands.trying.command import CURRENT, command_built, command_settings, names_for, told_by_port
from webdyno.commands.trying.final import LEAST_ROUNDS, LEAST_S
from webdyno.commands.trying.first import First, first_answers
from webdyno.commands.trying.fitting import Setting, fitting, settings_of
from webdyno.commands.trying.flags import Trying
from webdyno.commands.trying.halving import FINALISTS, RUNG_S, Field, finalists, halve
from webdyno.commands.trying.image import Image, asking, image_built, image_setting, images_of
from webdyno.commands.trying.interpreter import project_python
from webdyno.commands.trying.project import Project, application, environment
from webdyno.commands.trying.servers import Server, build_servers, hidden_variables
from webdyno.commands.trying.settling import settle, settling_s
from webdyno.load.driver import DRIVERS
from webdyno.model.built import Built
from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import Contender
from webdyno.model.errors import BuildError, ContenderError, StartError, UsageError, WebdynoError
from webdyno.model.log import last_lines
from webdyno.model.placeholder import placeholders
from webdyno.model.run import Run
from webdyno.model.trial import Skipped
from webdyno.model.workload import Workload
from webdyno.rig.ask import asker
from webdyno.rig.strap import Strapped

SIMPLEST = ("waitress", "uvicorn-pure", "uvicorn", "wsgiref", "granian-rsgi")
"""Whose first answers are looked at, where they are there: servers that change the least of an app."""
END_S = 0.6
"""Verifying and ending a server."""
LONGEST_S = 60.0
"""The most that one answer may take."""
ANSWERS = 10
"""A Run lasts at least so many times the slowest of the first answers."""
LAST_S = 12.0
"""Kept for the app that does nothing, and for a profile."""


@dataclass(kw_only=True)
class Sitting:
    """``work`` is a folder for logs that ends with the sitting."""

    flags: Trying
    asking: AppAsking
    known: Catalogue
    strapped: Strapped
    cache: Path
    work: Path
    interrupted: threading.Event
    project: Project | None = None
    servers: dict[str, Server] = field(default_factory=dict)
    """By the name of their recommended setting."""
    commands: dict[str, Setting] = field(default_factory=dict)
    """Of --cmd, --image and --current, by name."""
    images: dict[str, Image] = field(default_factory=dict)
    """By the name of their setting."""
    skipped: list[Skipped] = field(default_factory=list)
    current_compilers: list[str] = field(default_factory=list)
    """At work in --current while it serves."""

    @property
    def cores(self) -> int:
        """Of a contender."""
        return len(self.strapped.rig.contender_cores)

    def prepare(self, app: str | None) -> None:
        """The project, its servers built, the commands read. Any WebdynoError."""
        folder, variables = self.flags.project_folder, self.flags.variables
        for name, text in zip(names_for(self.flags.commands), self.flags.commands, strict=True):
            self._add_commands(command_settings(text, name, "--cmd", self.cores))
        self._add_images(variables)
        if self.flags.current is not None:
            self._add_commands(command_settings(self.flags.current, CURRENT, "--current", self.cores))
        if app is None:
            self._refuse_missing_programs(None)
            return
        python = project_python(self.flags.python, folder, self.cache, self.strapped, self.interrupted)
        self._refuse_missing_programs(python[0])
        given = self.flags.interface
        self.project = application(app, folder, python, variables, self.strapped, self.interrupted, given)
        able = fitting(self.known, self.project.interface, self.flags.servers)
        say(
            f"{app}: {self.project.interface.upper()} ({self.project.said.about or 'as you say'}), Python "
            f"{self.project.version} ({python[1]}); {count(len(able), 'server')} can serve it"
        )
        if self.project.said.made:
            say(f"{app} is a function that makes the application; {self.project.target} is served")
        clock = time.monotonic()
        built, self.skipped = build_servers(able, self.project, self.known, self.strapped, self.cache, self.interrupted)
        self.servers = {server.setting.name: server for server in built}
        say(f"built {count(len(built), 'server')} in {length(time.monotonic() - clock)}")
        for skip in self.skipped:
            say(f"left out {skip.contender}: {skip.reason}")

    def _refuse_missing_programs(self, python: Path | None) -> None:
        """UsageError for a command whose program is not there, before servers are built to be compared with it."""
        folder = self.flags.project_folder
        path = environment(folder, self.flags.variables, python)["PATH"]
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
        if not self.flags.images:
            return
        ask = asking(self.strapped, self.interrupted)
        found = images_of(self.flags.images, self.flags.container_port, ask, say)
        found[0].engine.clear()
        for name, image in zip(names_for(self.flags.images, "image"), found, strict=True):
            self.images[name] = image
            self._add_commands([image_setting(image, name, variables, self.strapped.rig, self.strapped.token)])
            told = f"listens on {image.port}" if image.port is not None else "is told its port by PORT"
            say(f"{image.name}: {image.id[:19]}, {image.engine.name} {image.engine.version}; it {told}")

    def _add_commands(self, settings: list[Setting]) -> None:
        self.commands |= {setting.name: setting for setting in settings}

    def built_of(self, name: str) -> Built:
        """What there is to serve for a setting of the field."""
        if name in self.servers:
            return self.servers[name].built
        python = None if self.project is None else self.project.python
        folder, variables = self.flags.project_folder, self.flags.variables
        packages = {} if self.project is None else self.project.said.packages
        around = environment(folder, variables, python)
        if name in self.images:
            return image_built(self.images[name], self.commands[name], folder, around)
        return command_built(self.commands[name], folder, around, packages)

    def first(self) -> First:
        """The first answers, of the simplest server and of --current. Any WebdynoError."""
        order = [f for name in SIMPLEST for f, each in self.servers.items() if each.original.name == name]
        order += [name for name in self.servers if name not in order]
        order += [name for name in self.commands if name != CURRENT]
        if not order:
            reasons = "; ".join(f"{skip.contender}: {skip.reason}" for skip in self.skipped)
            raise UsageError(f"no server is left to try ({reasons})")
        try:
            said = self._asked(order[0])
        except StartError:
            if len(order) == 1 or self.interrupted.is_set():
                raise
            said = self._asked(order[1])  # the app, or that server? Another one tells
        if CURRENT in self.commands:
            try:
                self.current_compilers = self._asked(CURRENT).compilers
            except ContenderError as error:
                raise BuildError(f"--current {self.flags.current!r}: {error}", error.log_tail) from None
        return said

    def _asked(self, name: str) -> First:
        setting = self.servers[name].setting if name in self.servers else self.commands[name]
        slow = msgspec.structs.replace(setting.contender, ready_s=60.0)
        built, log = self.built_of(name), self.work / "first.log"
        try:
            return first_answers(slow, built, self.asking, self.strapped, log, self.interrupted, time.monotonic)
        except StartError as error:
            if error.exited or self.interrupted.is_set():
                raise
            if name in self.images:
                whose, hint = (
                    self.images[name].name,
                    "an image is told its port by PORT; name another with --container-port",
                )
            elif setting.is_command and told_by_port(setting.contender):
                whose, hint = (
                    setting.contender.because,
                    "only PORT tells it where to listen; say {port} where its port stands",
                )
            else:
                raise
            raise StartError(f"{whose}: {error}; {hint}", error.log_tail, exited=False) from None

    def bench(self, first: First) -> TryBench:
        """Where everything is measured, all recommended settings and commands in it."""
        queue_s = 2 * self.flags.connections * first.slowest_s  # a server with one worker takes them one by one
        bench = TryBench(
            strapped=self.strapped,
            workload=first.workload,
            timeout_s=min(max(TIMEOUT_S, queue_s), LONGEST_S),
            connections=self.flags.connections,
            driver_version=DRIVERS["engine"]().version(asker(self.strapped)),
            logs=self.work,
            interrupted=self.interrupted,
            hidden=hidden_variables(self.project, self.flags.variables),
        )
        for server in self.servers.values():
            self._add(bench, server.setting, first.ready_s)
        for setting in self.commands.values():
            self._add(bench, setting, first.ready_s)
        return bench

    def _add(self, bench: TryBench, setting: Setting, ready_s: float, like: str | None = None) -> None:
        patient = msgspec.structs.replace(setting.contender, ready_s=max(setting.contender.ready_s, 10 * ready_s))
        bench.add(msgspec.structs.replace(setting, contender=patient), self.built_of(like or setting.name))

    def screen(self, bench: TryBench, first: First) -> tuple[Field, list[str]]:
        """Who comes into the last comparison, and all that was measured on the way. UsageError: no time for it."""
        bases = [name for name in bench.settings if name != CURRENT]
        least_s = ANSWERS * first.slowest_s
        last = min(len(bases), FINALISTS) + (CURRENT in bench.settings)
        self._refuse_short(len(bases), last, first.ready_s + WARMUP_S + END_S, least_s)
        ends = time.monotonic() + self.flags.budget_s
        settling = max(settling_s(self.flags.budget_s, len(bases)), least_s)
        if self.current_compilers:
            say(settle(bench, CURRENT, self.current_compilers, settling))

        def measure(name: str, duration_s: float) -> tuple[Run, float]:
            run = self._measured(bench, name, max(duration_s, least_s))
            if run.compilers and bench.settings[name].base not in bench.warmups:
                say(settle(bench, name, run.compilers, settling))
                run = self._measured(bench, name, max(duration_s, least_s))
            return run, rate_of(run)

        def left(run_s: float) -> float:
            return ends - time.monotonic() - last * LEAST_ROUNDS * (run_s - RUNG_S[0] + LEAST_S) - LAST_S

        def variants(name: str) -> list[str]:
            if name not in self.servers:
                return []
            found = list(settings_of(self.servers[name].setting, self.cores))
            for setting in found:
                self._add(bench, setting, first.ready_s, like=name)
            return [setting.name for setting in found]

        field_, stay = halve(bases, variants, measure, self.flags.budget_s, left, _say_rung)
        return field_, finalists(field_, stay, lambda name: bench.settings[name].base)

    def _refuse_short(self, bases: int, last: int, each_s: float, least_s: float) -> None:
        """UsageError for a budget that has no room for ``bases`` once and the ``last`` ones in rounds."""
        reserve = last * LEAST_ROUNDS * (each_s + max(LEAST_S, least_s)) + LAST_S
        least = bases * (each_s + max(RUNG_S[0], least_s)) + reserve
        if least > self.flags.budget_s:
            raise UsageError(
                f"--budget {self.flags.budget}: {count(bases, 'server')} once each and the last comparison take about "
                f"{length(least)}; give more"
                + (", or fewer servers (--server granian,uvicorn)" if self.servers else "")
            )

    def _measured(self, bench: TryBench, name: str, duration_s: float) -> Run:
        """Once; KeyboardInterrupt before or while."""
        run = None if self.interrupted.is_set() else bench.measure(name, duration_s)
        if run is None or run.outcome == "interrupted":
            raise KeyboardInterrupt
        return run

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
        other = dataclasses.replace(bench, workload=hello, settings={}, built={})
        other.add(msgspec.structs.replace(setting, contender=idle), built)
        return other, "nothing"

    def leave(self) -> None:
        """Every server of the sitting has ended: remove what an engine keeps of a container that it had to kill."""
        deaf = asking(self.strapped, threading.Event())  # a Ctrl-C is why this may be the last thing that is done
        for engine in {image.engine.name: image.engine for image in self.images.values()}.values():
            try:
                dataclasses.replace(engine, ask=deaf).remove(self.strapped.token)
            except (WebdynoError, OSError) as error:  # what brought us here is what there is to say
                say(f"note: containers of this sitting may be left: {error}")

    def original(self, setting: Setting) -> tuple[Contender | None, Path | None]:
        """The catalogue's contender behind a setting and the folder of its scripts."""
        server = next((each for each in self.servers.values() if each.original.name == setting.base), None)
        return (None, None) if server is None else (server.original, server.scripts)


def say(line: str) -> None:
    """Progress, on standard error."""
    print(line, file=sys.stderr, flush=True)


def _say_rung(rung: int, names: list[str], field_: Field) -> None:
    about = length(len(names) * (field_.seconds or 2.5))
    what = (
        "every server as recommended"
        if rung == 1
        else "the sweep of their settings"
        if rung == 2
        else "the better half"
    )
    say(f"round {rung}: {what}, {count(len(names), 'setting')}, about {about}")


def tail_of(error: ContenderError) -> Iterator[str]:
    """The end of what the app or its server wrote, for standard error."""
    yield from (f"  | {line}" for line in last_lines(error.log_tail, 30))
