"""Which files a catalogue folder holds, read together so that each may refer to what another folder defines.

Every folder may hold any subset of the kinds; a later folder adds names and never redefines one. References are checked
after everything has been read, so the order of files and folders does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import CatalogueError, UsageError
from webdyno.model.service import Service
from webdyno.model.study import Study
from webdyno.model.workload import Request, Workload
from webdyno.read.check import (
    Fault,
    app_faults,
    contender_faults,
    request_faults,
    runtime_faults,
    workload_faults,
)
from webdyno.read.check_service import service_faults
from webdyno.read.check_study import study_faults
from webdyno.read.convert import convert
from webdyno.read.source import Source, read_source, suggest


@dataclass(frozen=True)
class Kind:
    """One kind of file: its noun, its pattern inside a catalogue folder, and its checks."""

    noun: type[msgspec.Struct]
    pattern: str
    """The star is the name."""
    faults: Callable[[Any, Catalogue], Iterator[Fault]]

    @property
    def folder(self) -> str:
        """Where its files lie inside a catalogue folder."""
        return self.pattern.partition("/")[0]


KINDS: dict[str, Kind] = {
    "runtime": Kind(Runtime, "runtimes/*.toml", runtime_faults),
    "service": Kind(Service, "services/*.toml", service_faults),
    "workload": Kind(Workload, "workloads/*.toml", workload_faults),
    "app": Kind(App, "apps/*/app.toml", app_faults),
    "contender": Kind(Contender, "contenders/*.toml", contender_faults),
    "study": Kind(Study, "studies/*.toml", study_faults),
}
OTHER_FOLDERS = ("locks", "schemas")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass
class _Gathered:
    """Everything read so far, not yet checked against each other."""

    nouns: dict[str, dict[str, Any]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    sources: dict[tuple[str, str], Source] = field(default_factory=dict)


def default_folder() -> Path:
    """The catalogue that comes with webdyno."""
    return Path(__file__).resolve().parent.parent / "catalogue"


def read_catalogue(folders: Sequence[Path]) -> Catalogue:
    """Everything in ``folders``, the first usually default_folder(); CatalogueError at the first fault."""
    gathered = _Gathered()
    for folder in folders:
        _require_catalogue(folder)
        for kind in KINDS:
            _gather(gathered, kind, folder)
    catalogue = _catalogue(gathered)
    for (kind, name), source in gathered.sources.items():
        _check(source, kind, gathered.nouns[kind][name], catalogue)
    return catalogue


def read_study(path: Path, catalogue: Catalogue) -> Study:
    """The study in the file at ``path``, about what ``catalogue`` holds; CatalogueError."""
    source = read_source(path)
    study = convert(source, Study, path.stem)
    _check(source, "study", study, catalogue)
    return study


class _Requests(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file with requests and nothing else."""

    name: str
    requests: list[Request]


def read_requests(path: Path) -> list[Request]:
    """The ``[[requests]]`` of the file at ``path``, written as in a workload; CatalogueError."""
    source = read_source(path)
    requests = convert(source, _Requests, path.stem).requests
    for key, problem in request_faults(requests):
        raise source.wrong(key, problem)
    return requests


def lock_path(contender: str, folders: Sequence[Path]) -> Path:
    """Where the lock of ``contender`` belongs, in the folder that defines it, whether it is there yet or not."""
    for folder in folders:
        if (defined := folder / "contenders" / f"{contender}.toml").is_file():
            return _lock_beside(defined)
    known = [path.stem for folder in folders for path in folder.glob(KINDS["contender"].pattern)]
    raise UsageError(f'there is no contender "{contender}"; {suggest(contender, known)}')


def _lock_beside(contender: Path) -> Path:
    return contender.parent.parent / "locks" / f"{contender.stem}.txt"


def _require_catalogue(folder: Path) -> None:
    known = [kind.folder for kind in KINDS.values()]
    if not folder.is_dir():
        problem = "is not a folder" if folder.exists() else "does not exist"
        raise UsageError(f"{folder}: {problem}; a catalogue is a folder that holds {' or '.join(known)}")
    inside = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    for name in inside:
        if name not in (*known, *OTHER_FOLDERS) and "did you mean" in (hint := suggest(name, known)):
            raise UsageError(f'{folder}: unknown folder "{name}"; {hint}')
    if not set(known).intersection(inside):
        raise UsageError(f"{folder}: is not a catalogue; it holds none of {', '.join(known)}")


def _gather(gathered: _Gathered, kind: str, folder: Path) -> None:
    pattern = KINDS[kind].pattern
    if kind == "app":
        _require_app_files(folder)
    for path in sorted(folder.glob(pattern)):
        name = path.parent.name if pattern.endswith("app.toml") else path.stem
        if not _NAME.fullmatch(name):
            raise CatalogueError(path, None, None, f'"{name}" cannot be a name; use a-z, 0-9, dots and dashes')
        if first := gathered.sources.get((kind, name)):
            raise CatalogueError(
                path, None, None, f'{kind} "{name}" is already defined in {first.path}; give it another name'
            )
        source = read_source(path)
        gathered.nouns[kind][name] = convert(source, KINDS[kind].noun, name)
        gathered.sources[kind, name] = source


def _require_app_files(folder: Path) -> None:
    for path in sorted(folder.glob("apps/[!._]*")):
        if path.is_dir() and not (path / "app.toml").is_file():
            raise CatalogueError(path, None, None, "holds no app.toml, so it is not an app")


def _catalogue(gathered: _Gathered) -> Catalogue:
    paths = {key: source.path for key, source in gathered.sources.items()}
    locks = {name: _lock_beside(path) for (kind, name), path in paths.items() if kind == "contender"}
    return Catalogue(
        contenders=gathered.nouns["contender"],
        apps=gathered.nouns["app"],
        runtimes=gathered.nouns["runtime"],
        workloads=gathered.nouns["workload"],
        studies=gathered.nouns["study"],
        app_directories={name: path.parent.resolve() for (kind, name), path in paths.items() if kind == "app"},
        locks={name: path.resolve() for name, path in locks.items() if path.is_file()},
        services=gathered.nouns["service"],
        service_directories={
            name: path.with_suffix("").resolve()
            for (kind, name), path in paths.items()
            if kind == "service" and path.with_suffix("").is_dir()
        },
    )


def _check(source: Source, kind: str, noun: msgspec.Struct, catalogue: Catalogue) -> None:
    for key, problem in KINDS[kind].faults(noun, catalogue):
        raise source.wrong(key, problem)
