"""From a Matrix to the Contenders and Apps it stands for, and to its file's keys back from theirs. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from webdyno.model.contender import App, Contender
from webdyno.model.matrix import Exclusion, Matrix
from webdyno.model.placeholder import placeholders
from webdyno.read.lines import Key


class Cell(NamedTuple):
    """One combination, by the keys of the three tables."""

    framework: str
    server: str
    runtime: str
    excluded: Exclusion | None

    @property
    def name(self) -> str:
        """Of the contender that it is, or would be."""
        return f"{self.framework}-{self.server}-{self.runtime}"


def cells(matrix: Matrix) -> Iterator[Cell]:
    """Every combination in the order of the file: frameworks, in each the servers, in each the runtimes."""
    for names in product(matrix.frameworks, matrix.servers, matrix.runtimes):
        yield Cell(*names, excluded=next((it for it in matrix.exclude if covers(it, *names)), None))


def covers(it: Exclusion, framework: str, server: str, runtime: str) -> bool:
    """True when ``it`` excludes this combination."""
    axes = ((it.frameworks, framework), (it.servers, server), (it.runtimes, runtime))
    return all(not names or name in names for names, name in axes)


def app_name(matrix: Matrix, framework: str) -> str:
    """Of the App that a framework of ``matrix`` becomes."""
    return f"{matrix.name}-{framework}"


def app(matrix: Matrix, framework: str) -> App:
    """The App of one framework; what it requires differs by runtime and stands in its contenders."""
    value = matrix.frameworks[framework]
    return App(
        name=app_name(matrix, framework),
        language=matrix.language,
        interface=value.interface,
        framework=value.framework,
        answers=matrix.answers,
    )


def contender(matrix: Matrix, cell: Cell) -> Contender:
    """The Contender of ``cell``, which ``cell_faults`` has nothing to say about."""
    framework, server, runtime = matrix.frameworks[cell.framework], matrix.servers[cell.server], cell.runtime
    program = matrix.runtimes[runtime].program
    words = server.serve[framework.interface]
    told = settings_told([*words, *server.environment.values()])
    return Contender(
        name=cell.name,
        app=app_name(matrix, cell.framework),
        runtime=matrix.runtimes[runtime].runtime,
        server=server.server,
        model=server.model,
        requires=[requirement for _, requirement in _requires(matrix, cell)],
        workers=server.workers if "workers" in told else 1,
        threads=server.threads if "threads" in told else 1,
        pool=server.pool,
        serve=[word.replace("{app}", framework.app).replace("{program}", program) for word in words],
        environment=server.environment,
        because=matrix.because,
        recommended=server.recommended,
        author=matrix.author,
        sweep={setting: values for setting, values in server.sweep.items() if setting in told},
        ready_s=matrix.runtimes[runtime].ready_s,
        warmup_s=matrix.runtimes[runtime].warmup_s,
        warmup_requests=matrix.runtimes[runtime].warmup_requests,
        stop_s=server.stop_s,
    )


def settings_told(texts: list[str]) -> set[str]:
    """Those of ``workers`` and ``threads`` that ``texts`` pass on to a server."""
    return {"workers", "threads"}.intersection(word for text in texts for word in placeholders(text))


def cell_faults(matrix: Matrix, cell: Cell) -> Iterator[tuple[Key, str]]:
    """What of ``cell`` is missing in the matrix, so that it cannot become a Contender."""
    or_exclude = f"or exclude {cell.framework} on {cell.server}"
    interface = matrix.frameworks[cell.framework].interface
    if interface not in matrix.servers[cell.server].serve:
        key = ("servers", cell.server, "serve", interface)
        yield key, f"is missing, and frameworks.{cell.framework} speaks {interface}; write the command, {or_exclude}"
    for name in (cell.framework, cell.server):
        if name not in matrix.runtimes[cell.runtime].requires:
            key = ("runtimes", cell.runtime, "requires", name)
            yield key, f"is missing; write its exact requirements, [] when it needs none, {or_exclude} {cell.runtime}"


def origin(matrix: Matrix, cell: Cell, key: Key) -> Key:
    """Where in the matrix' file stands what is ``key`` of the contender of ``cell``."""
    first, *rest = key
    if first == "requires" and rest:
        return _requires(matrix, cell)[int(rest[0])][0]
    if first in ("runtime", "ready_s", "warmup_s", "warmup_requests"):
        return ("runtimes", cell.runtime, *key)
    if first in ("because", "author"):
        return key
    if first == "serve":
        return ("servers", cell.server, "serve", matrix.frameworks[cell.framework].interface, *rest)
    return ("servers", cell.server, *key)


def _requires(matrix: Matrix, cell: Cell) -> list[tuple[Key, str]]:
    """Requirements of the framework and of the server there, each once and with its key."""
    found: dict[str, Key] = {}
    for name in dict.fromkeys((cell.framework, cell.server)):
        for at, requirement in enumerate(matrix.runtimes[cell.runtime].requires[name]):
            found.setdefault(requirement, ("runtimes", cell.runtime, "requires", name, at))
    return [(key, requirement) for requirement, key in found.items()]
