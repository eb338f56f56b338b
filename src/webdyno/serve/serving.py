"""Serving: the with-block in which a contender is a running, verified server.

In: rules evaluated, placeholders filled, a free port, the command started in the rig, ready, every answer verified,
its way of speaking HTTP probed. Out, however the block is left: the whole tree ended and the port free again; what is
worth telling about that is in ``Served.notes`` afterwards.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from webdyno.disk import disk_of
from webdyno.model.built import Built
from webdyno.model.contender import Contender
from webdyno.model.errors import AnswerError, MachineError, StartError
from webdyno.model.log import LOOKED_AT_BYTES, end_of
from webdyno.model.placeholder import fill
from webdyno.model.rule import evaluate
from webdyno.model.run import Probe
from webdyno.model.service import without_password
from webdyno.model.workload import Request, Workload
from webdyno.rig.group import Group
from webdyno.rig.host import STDOUT, Command, bare_environment, folders_on
from webdyno.rig.ports import describe_owners, free_port, listeners, wait_free
from webdyno.rig.strap import Strapped
from webdyno.serve.ask import Answer, ask
from webdyno.serve.compiler import compilers
from webdyno.serve.interpreter import gil_modules
from webdyno.serve.probe import probe
from webdyno.serve.ready import Waiting
from webdyno.serve.trimming import trim
from webdyno.serve.verify import Asker, verify

_TIMEOUT_S = 2.0
"""For one answer while nothing else is asked, beside the time the workload itself takes."""
_AFTER_LOAD_S = 8.0
"""More, after the load: a slow server may first have to work off what the driver left in its queue."""
_LONGEST_QUEUE_S = 120.0
"""The most that is waited for a queue of requests that take a time of their own, worked off one by one."""
_LEAST_OWED_MS = 2.0
"""That each takes at least, where thousands were left."""


@dataclasses.dataclass
class Served:
    """A contender that serves. ``requests`` are the workload's, with rules a driver can check under load."""

    host: str
    port: int
    group: Group
    probe: Probe | None
    """None when its answers, though right, could not be read as HTTP/1 by the probe."""
    command: list[str]
    environment: dict[str, str]
    """What was added to the minimal one, to be shown: without the passwords of URLs."""
    workers: int
    threads: int
    requests: list[Request]
    notes: list[str]
    """Grows while verifying and when the block is left."""
    again: Callable[[int], object]
    log_tail: Callable[[], str]
    """End of what it has written up to now, at most 4 KiB."""
    gil_modules: Callable[[], list[str]] = list
    """As in a Run, up to now."""
    compilers: Callable[[], list[str]] = list
    """The same."""
    reused: bool = False
    """Started for a Run before."""
    sound: bool = False
    """Set by who loaded it: the Trial succeeded, so the server can be measured again."""

    def verify(self, connections: int = 0) -> None:
        """Ask everything again after a load over ``connections``, each of which may have left one; AnswerError."""
        self.again(connections)


@contextlib.contextmanager
def serve(
    contender: Contender,
    workload: Workload,
    built: Built,
    strapped: Strapped,
    log: Path,
    given: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Served]:
    """StartError (also when ``strapped.interrupted`` is set before it serves), AnswerError; MachineError.

    ``given`` goes into the contender's environment: where the service is that the workload needs. Where somebody else
    took the port that was free a moment ago, it is started once more on another one, for that was not its fault.
    """
    with contextlib.ExitStack() as stack:
        try:
            served = stack.enter_context(_served(contender, workload, built, strapped, log, given))
        except StartError as error:
            if not error.taken or built.port is not None or strapped.interrupted.is_set():
                raise
            served = stack.enter_context(_served(contender, workload, built, strapped, log, given))
            served.notes.append(f"it was started again on another port: {error}")
        yield served


@contextlib.contextmanager
def _served(
    contender: Contender, workload: Workload, built: Built, strapped: Strapped, log: Path, given: Mapping[str, str]
) -> Iterator[Served]:
    if not Path(built.directory).is_dir():
        raise MachineError(
            f"{contender.name} was built in {built.directory}, which is gone from {disk_of(Path(built.directory))}: "
            "somebody removed it while webdyno measured; --resume builds it again"
        )
    host = strapped.address
    port = _port(contender, built, host)
    plan = _plan(contender, built, len(strapped.rig.contender_cores), (host, port), given)
    home = strapped.folder()
    log.parent.mkdir(parents=True, exist_ok=True)
    tail = _Tail(log)
    try:
        group = strapped.start(_command(plan, built, home, log))
        notes: list[str] = []
        try:
            waiting = Waiting(contender.name, group, port, strapped.interrupted, tail)
            served = _until_served(contender, workload, plan, group, waiting, notes)
            served.gil_modules = partial(gil_modules, log, tail.begin)
            served.compilers = lambda: compilers(group.pids())
            yield served
        finally:
            notes += group.end(contender.stop_s)
            late = wait_free(host, port)
            notes += [late] if late else []
    finally:
        strapped.drop(home)
        trim(log)


def _port(contender: Contender, built: Built, host: str) -> int:
    """A free one, or its own; StartError when that is taken."""
    if built.port is None:
        return free_port(host)
    if listeners(built.port, ()):
        taken = f"port {built.port}, which {contender.name} listens on, is taken: {describe_owners(built.port)}"
        raise StartError(taken, exited=True)
    return built.port


@dataclasses.dataclass(frozen=True)
class _Planned:
    argv: list[str]
    added: dict[str, str]
    hidden: dict[str, str]
    """Added over those, and shown nowhere."""
    workers: int
    threads: int
    host: str
    port: int


def _plan(contender: Contender, built: Built, cores: int, where: tuple[str, int], given: Mapping[str, str]) -> _Planned:
    """Pure: rules and placeholders. StartError when the contender's file asks for what does not exist."""
    host, port = where
    try:
        workers, threads = evaluate(contender.workers, cores), evaluate(contender.threads, cores)
        pool = None if contender.pool is None else evaluate(contender.pool, cores, workers)
        fill_in = partial(fill, host=host, port=port, workers=workers, threads=threads, cores=cores, pool=pool)
        own = dict(zip(contender.environment, fill_in(list(contender.environment.values())), strict=True))
        argv = fill_in(contender.serve)
        hidden = _filled(built.hidden, fill_in)
    except ValueError as error:
        raise StartError(f"{contender.name} cannot be started: {error}", exited=True) from None
    pooled = {} if pool is None else {"WEBDYNO_POOL": str(pool)}
    added = {**built.environment, **given, **pooled, **own}
    return _Planned(argv, added, hidden, workers, threads, host, port)


def _filled(hidden: Mapping[str, str], fill_in: Callable[[list[str]], list[str]]) -> dict[str, str]:
    """Their placeholders filled; ValueError, which does not say the value, for one that does not exist."""
    filled: dict[str, str] = {}
    for name, text in hidden.items():
        try:
            (filled[name],) = fill_in([text])
        except ValueError:
            raise ValueError(f"the value of {name} has a word in braces that is no placeholder") from None
    return filled


def _command(plan: _Planned, built: Built, home: Path, log: Path) -> Command:
    """The contender's, with ``home`` for a home and all that it writes in ``log``."""
    return Command(
        argv=plan.argv,
        cwd=Path(built.directory),
        environment=bare_environment({**plan.added, **plan.hidden}, home),
        role="contender",
        stdout=log,
        stderr=STDOUT,
        reads=(Path(built.directory), *folders_on(built.environment.get("PATH", ""))),
        contained=built.contained,
    )


def _until_served(
    contender: Contender, workload: Workload, plan: _Planned, group: Group, waiting: Waiting, notes: list[str]
) -> Served:
    begun_ns = time.monotonic_ns()
    timeout_s = _TIMEOUT_S + 2 * workload.floor_ms / 1000

    def asker(request: Request) -> Answer:
        return ask(plan.host, plan.port, request, timeout_s, waiting.check)

    def again(connections: int) -> object:
        patience_s = timeout_s + after_load_s(workload, connections)
        patient = partial(ask, plan.host, plan.port, timeout_s=patience_s, watch=waiting.check_interrupted)
        return _verified(workload, patient, waiting, notes)

    first = workload.requests[0]
    first_answer_ns = waiting.until_ready(first, asker, time.monotonic() + contender.ready_s)
    ready_ns = time.monotonic_ns() - begun_ns
    requests = _verified(workload, asker, waiting, notes)
    backlog = min((each.backlog for each in listeners(plan.port, ()) if each.backlog is not None), default=None)
    return Served(
        host=plan.host,
        port=plan.port,
        group=group,
        probe=probe(plan.host, plan.port, first, timeout_s, backlog, ready_ns, first_answer_ns),
        command=plan.argv,
        environment={name: without_password(text) for name, text in plan.added.items() if name not in plan.hidden},
        workers=plan.workers,
        threads=plan.threads,
        requests=requests,
        notes=notes,
        log_tail=waiting.tail,
        again=again,
    )


def after_load_s(workload: Workload, connections: int) -> float:
    """Seconds an answer may take more than before a load over ``connections``.

    A handler that blocks for a second, served by one process, owes each connection that second when the load ends, and
    works it off before it hears the next request: that is slow, not wrong. So is one that answers at once and was left
    thousands of connections.
    """
    owed_s = connections * max(workload.floor_ms, _LEAST_OWED_MS) / 1000
    return _AFTER_LOAD_S + min(owed_s, _LONGEST_QUEUE_S)


def _verified(workload: Workload, asker: Asker, waiting: Waiting, notes: list[str]) -> list[Request]:
    try:
        requests, found = verify(workload.requests, asker)
    except AnswerError as error:
        waiting.check_flood()
        raise AnswerError(str(error), waiting.tail()) from None
    notes.extend(note for note in found if note not in notes)
    return requests


class _Tail:
    """The end of what a log gained since this was made, shortened to what a Run keeps."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.begin = path.stat().st_size if path.exists() else 0

    def __call__(self) -> str:
        try:
            with self._path.open("rb") as log:
                end = log.seek(0, os.SEEK_END)
                log.seek(max(self.begin, end - LOOKED_AT_BYTES))
                text = log.read(LOOKED_AT_BYTES).decode(errors="replace")
        except OSError:
            return ""
        return end_of(text)
