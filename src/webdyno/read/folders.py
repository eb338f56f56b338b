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
from webdyno.model.matrix import Matrix
from webdyno.model.pattern import spelt_out
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
from webdyno.read.check_matrix import expansion_faults, matrix_faults
from webdyno.read.check_service import service_faults
from webdyno.read.check_study import study_faults
from webdyno.read.convert import convert
from webdyno.read.expand import app, cells, contender
from webdyno.read.like import answered, filled_in, like_faults
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
    "matrix": Kind(Matrix, "matrices/*.toml", matrix_faults),
    "study": Kind(Study, "studies/*.toml", study_faults),
}
OTHER_FOLDERS = ("locks", "schemas")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass
class _Gathered:
    """Everything read so far, not yet checked against each other."""

    nouns: dict[str, dict[str, Any]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    sources: dict[tuple[str, str], Source] = field(default_factory=dict)
    """The file of each noun; those that a matrix became have the matrix'."""
    matrix_of: dict[str, str] = field(default_factory=dict)
    lock_places: dict[str, Path] = field(default_factory=dict)
    excluded: dict[str, str] = field(default_factory=dict)


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
    files = dict(gathered.sources)
    for matrix in gathered.nouns["matrix"].values():
        _expand(gathered, matrix)
    _fill_in(gathered)
    catalogue = _catalogue(gathered)
    for (kind, name), source in files.items():
        _check(source, kind, gathered.nouns[kind][name], catalogue)
    studies = {name: _spelt_out(study, catalogue) for name, study in catalogue.studies.items()}
    return msgspec.structs.replace(catalogue, studies=studies)


def read_study(path: Path, catalogue: Catalogue) -> Study:
    """The study in the file at ``path``, about what ``catalogue`` holds; CatalogueError."""
    source = read_source(path)
    study = convert(source, Study, path.stem)
    _check(source, "study", study, catalogue)
    return _spelt_out(study, catalogue)


def _spelt_out(study: Study, catalogue: Catalogue) -> Study:
    return msgspec.structs.replace(study, contenders=spelt_out(study.contenders, catalogue))


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
    by_folder = pattern.endswith("app.toml")
    for name, path in sorted((path.parent.name if by_folder else path.stem, path) for path in folder.glob(pattern)):
        if not _NAME.fullmatch(name):
            raise CatalogueError(path, None, None, f'"{name}" cannot be a name; use a-z, 0-9, dots and dashes')
        _require_new(gathered, kind, name, path)
        source = read_source(path)
        gathered.nouns[kind][name] = convert(source, KINDS[kind].noun, name)
        gathered.sources[kind, name] = source
        if kind == "contender":
            gathered.lock_places[name] = _locks(path) / f"{name}.txt"


def _require_new(gathered: _Gathered, kind: str, name: str, path: Path) -> None:
    if first := gathered.sources.get((kind, name)):
        raise CatalogueError(
            path, None, None, f'{kind} "{name}" is already defined in {first.path}; give it another name'
        )


def _expand(gathered: _Gathered, matrix: Matrix) -> None:
    """Add the contenders and apps of ``matrix`` as if each had a file; they have one lock per runtime."""
    source = gathered.sources["matrix", matrix.name]
    for key, problem in expansion_faults(matrix):
        raise source.wrong(key, problem)
    for framework in matrix.frameworks:
        _add(gathered, "app", app(matrix, framework), source)
    for cell in cells(matrix):
        if cell.excluded:
            gathered.excluded[cell.name] = f"excluded from the matrix {matrix.name}: {cell.excluded.reason}"
        else:
            _add(gathered, "contender", contender(matrix, cell), source)
            gathered.matrix_of[cell.name] = matrix.name
            gathered.lock_places[cell.name] = _locks(source.path) / f"{matrix.name}-{cell.runtime}.txt"


def _fill_in(gathered: _Gathered) -> None:
    """Give workloads that are like another one its requests, and have them answered where that is."""
    workloads: dict[str, Workload] = gathered.nouns["workload"]
    for name, each in workloads.items():
        for key, problem in like_faults(each, workloads):
            raise gathered.sources["workload", name].wrong(key, problem)
    gathered.nouns["workload"] = {
        name: filled_in(each, workloads[each.like]) if each.like else each for name, each in workloads.items()
    }
    for kind in ("app", "contender"):
        for name, each in gathered.nouns[kind].items():
            if each.answers is not None:
                more = answered(each.answers, workloads)
                gathered.nouns[kind][name] = msgspec.structs.replace(each, answers=more)


def _add(gathered: _Gathered, kind: str, noun: App | Contender, source: Source) -> None:
    _require_new(gathered, kind, noun.name, source.path)
    gathered.nouns[kind][noun.name] = noun
    gathered.sources[kind, noun.name] = source


def _locks(path: Path) -> Path:
    """The folder of locks in the catalogue that holds ``path``."""
    return path.parent.parent.resolve() / "locks"


def _sources(path: Path) -> Path:
    """Where the sources of an app lie: beside its file, or in the folder named as the matrix it comes from."""
    return path.parent.resolve() if path.name == "app.toml" else path.with_suffix("").resolve()


def _require_app_files(folder: Path) -> None:
    for path in sorted(folder.glob("apps/[!._]*")):
        if path.is_dir() and not (path / "app.toml").is_file():
            raise CatalogueError(path, None, None, "holds no app.toml, so it is not an app")


def _catalogue(gathered: _Gathered) -> Catalogue:
    paths = {key: source.path for key, source in gathered.sources.items()}
    return Catalogue(
        contenders=gathered.nouns["contender"],
        apps=gathered.nouns["app"],
        runtimes=gathered.nouns["runtime"],
        workloads=gathered.nouns["workload"],
        studies=gathered.nouns["study"],
        app_directories={name: _sources(path) for (kind, name), path in paths.items() if kind == "app"},
        locks={name: path for name, path in gathered.lock_places.items() if path.is_file()},
        lock_places=gathered.lock_places,
        services=gathered.nouns["service"],
        service_directories={
            name: path.with_suffix("").resolve()
            for (kind, name), path in paths.items()
            if kind == "service" and path.with_suffix("").is_dir()
        },
        matrices=gathered.nouns["matrix"],
        matrix_of=gathered.matrix_of,
        excluded=gathered.excluded,
    )


def _check(source: Source, kind: str, noun: msgspec.Struct, catalogue: Catalogue) -> None:
    for key, problem in KINDS[kind].faults(noun, catalogue):
        raise source.wrong(key, problem)
