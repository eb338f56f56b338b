"""Running: services that work. Each is started when the first Trial needs it and kept until the plan ends.

A started one has a port and a folder of its own, the service's cores, a process group that ends with webdyno however
that ends, and a log. Its data is loaded once; what a Trial may change is put back before each. One that has died, or
hangs, is started again for the next Trial that needs it: the one it failed under is lost, the plan is not.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import replace as changed
from pathlib import Path
from types import TracebackType

import msgspec

from webdyno.model.built import Built
from webdyno.model.errors import BuildError, ServiceError, StartError
from webdyno.model.log import LOOKED_AT_BYTES, end_of
from webdyno.model.placeholder import replace
from webdyno.model.service import Backing, FoundService
from webdyno.rig.group import Group
from webdyno.rig.host import STDOUT, Command, bare_environment, folders_on
from webdyno.rig.ports import describe_owners, free_port, listeners, wait_free
from webdyno.rig.strap import Strapped
from webdyno.service.protocol import PROTOCOLS, Talker
from webdyno.service.unanswered import Unanswered

_HOST = "127.0.0.1"
_POLL_S = 0.02
_DYING_S = 0.5
"""One that no longer answers may be about to end, and then that is what is to be said."""


@dataclass(frozen=True)
class Running:
    """A service that answers and holds its data."""

    found: FoundService
    backing: Backing
    url: str
    talker: Talker
    group: Group | None
    """None: the user's own, whose processes are unknown."""
    folder: Path | None
    port: int | None
    log: Path

    @property
    def given(self) -> dict[str, str]:
        """What goes into the environment of a contender."""
        return {self.found.service.variable: self.url}

    def fault(self) -> ServiceError | None:
        """Why nobody can be served by it any more: it has ended, or does not answer. It is asked, so this may take the
        time-out of its protocol; what contenders made of it is no word about them.
        """
        who = f"{self.backing.kind}, the {_name(self.found)},"
        why: Unanswered | None = None
        try:
            self.talker.identify()
        except Unanswered as reason:
            why = reason
        if self.group is not None and self.group.wait(_DYING_S if why else 0.0) is not None:
            return ServiceError(f"{who} ended with {self.group.last_words()}", _tail(self.log))
        return None if why is None else ServiceError(f"{who} does not answer: {why}", _tail(self.log))


class Services:
    """Those of one plan, in a with-block that ends them. ``built``: each embedded one, by name."""

    def __init__(
        self,
        found: Mapping[str, FoundService],
        built: Mapping[str, Built | BuildError],
        strapped: Strapped,
        log: Callable[[str], Path],
    ) -> None:
        self._found, self._built, self._strapped = found, built, strapped
        self._log = log
        self._running: dict[str, Running] = {}
        self._refused: dict[str, ServiceError] = {}
        """Why one could not be started at all: it is not tried again, for each try may take its whole time."""

    def __enter__(self) -> Services:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for name in list(self._running):
            self._end(name)

    def ready(self, name: str, delay_ms: int = 0) -> Running:
        """Service ``name``, alive, as it was when nobody had asked it for anything yet, and from now on answering
        ``delay_ms`` later. ServiceError."""
        running = self._running.get(name)
        if running is not None and running.group is not None and running.fault():
            self._end(name)
            running = None
        if running is None:
            running = self._running[name] = self._start_unless_refused(name)
        try:
            running.talker.reset(delay_ms)
        except Unanswered as reason:
            raise ServiceError(f"{running.backing.kind} does not answer: {reason}", _tail(running.log)) from None
        if running.backing.delay_ms != delay_ms:
            backing = msgspec.structs.replace(running.backing, delay_ms=delay_ms)
            running = self._running[name] = changed(running, backing=backing)
        return running

    def _start_unless_refused(self, name: str) -> Running:
        if name in self._refused:
            raise self._refused[name]
        try:
            try:
                return self._start(self._found[name])
            except _TakenError:  # not its fault, so once more on another port
                return self._start(self._found[name])
        except ServiceError as error:
            self._refused[name] = error
            raise

    def _end(self, name: str) -> None:
        running = self._running.pop(name)
        if running.group is not None:
            self._leave(running.group, running.found, running.folder, running.port)

    def _leave(self, group: Group, found: FoundService, folder: Path | None, port: int | None) -> None:
        group.end(found.service.stop_s)
        if port is not None:
            wait_free(_HOST, port)
        if folder is not None:
            self._strapped.drop(folder)

    def _start(self, found: FoundService) -> Running:
        log = self._log(found.service.name)
        if found.way.kind == "url":
            talker = PROTOCOLS[found.service.protocol](found.url)
            kind, version = self._loaded(found, talker, None, None, log)
            return Running(found, _backing(found, kind, version, []), found.url, talker, None, None, None, log)
        port, folder = free_port(_HOST), self._strapped.folder()
        group: Group | None = None
        try:
            command = self._command(found, port, folder, log)
            group = self._strapped.start(command)
            url = replace([found.service.url], {"host": _HOST, "port": port})[0]
            talker = PROTOCOLS[found.service.protocol](url)
            kind, version = self._loaded(found, talker, group, port, log)
        except BaseException as error:
            if group is not None:
                self._leave(group, found, folder, port)
            else:
                self._strapped.drop(folder)
            if isinstance(error, StartError):
                raise ServiceError(f"the {_name(found)} could not be started: {error}") from None
            raise
        return Running(found, _backing(found, kind, version, command.argv), url, talker, group, folder, port, log)

    def _command(self, found: FoundService, port: int, folder: Path, log: Path) -> Command:
        built = self._built.get(found.service.name)
        if isinstance(built, BuildError):
            raise ServiceError(f"the {_name(found)} could not be built: {built}", built.log_tail)
        words = {"host": _HOST, "port": port, "folder": folder, "program": found.program}
        path = built.environment.get("PATH", "") if built else str(Path(found.program).parent)
        log.parent.mkdir(parents=True, exist_ok=True)
        return Command(
            argv=replace(found.way.serve, words),
            cwd=folder,
            environment=bare_environment(built.environment if built else {}, folder),
            role="service",
            stdout=log,
            stderr=STDOUT,
            reads=((Path(built.directory),) if built else ()) + folders_on(path),
        )

    def _loaded(
        self, found: FoundService, talker: Talker, group: Group | None, port: int | None, log: Path
    ) -> tuple[str, str]:
        """What it says it is, once it answers and its data is in it."""
        deadline = time.monotonic() + found.service.ready_s
        while True:
            why = f"nothing listens on port {port}"
            if port is None or group is None or _is_its_own(port, group):
                try:
                    said = talker.identify()
                    talker.load(found.way.warm_s)
                except Unanswered as reason:
                    why = str(reason)
                else:
                    return said
            if self._strapped.interrupted.is_set():
                raise ServiceError("stopped by the user")
            if group is None:
                raise ServiceError(f"the {_name(found)} does not answer: {why}")
            if group.poll() is not None:
                words = group.last_words()
                end = f"the {_name(found)} ended with {words} before it answered"
                if port is not None and listeners(port, ()):
                    raise _TakenError(f"{end}; its port {port} is taken: {describe_owners(port)}", _tail(log))
                raise ServiceError(end, _tail(log))
            if time.monotonic() > deadline:
                within = f"within {found.service.ready_s:g} s"
                raise ServiceError(f"the {_name(found)} did not answer {within}: {why}", _tail(log))
            time.sleep(_POLL_S)


class _TakenError(ServiceError):
    """Somebody else listens on the port that was free a moment ago."""


def _is_its_own(port: int, group: Group) -> bool:
    """Whether all that listens there is of the service: data goes into no other."""
    found = listeners(port, group.pids())
    return bool(found) and all(each.pids for each in found)


def _name(found: FoundService) -> str:
    """For a sentence: service redis (/usr/bin/redis-server)."""
    where = {"url": f"of {found.service.variable}", "program": found.program, "embedded": found.way.server or ""}
    return f"service {found.service.name} ({where[found.way.kind]})"


def _backing(found: FoundService, kind: str, version: str, command: list[str]) -> Backing:
    service, way = found.service, found.way
    if way.kind == "embedded":  # over the wire it says what drivers want to hear
        kind, version = way.server or kind, re.split(r"[:=@]+", way.requires[0])[-1]
    return Backing(
        service=service.name,
        kind=kind,
        version=version,
        way=way.kind,
        genuine=service.genuine,
        most_cores=service.most_cores,
        command=command,
    )


def _tail(log: Path) -> str:
    """The end of a service's log, shortened to what a Run keeps."""
    try:
        return end_of(log.read_bytes()[-LOOKED_AT_BYTES:].decode(errors="replace"))
    except OSError:
        return ""
