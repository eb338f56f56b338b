"""pyproject.toml of somebody's project: what it needs, and whether building it writes into its folder."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from webdyno.build.own import canonical, named
from webdyno.model.errors import UsageError

_LEAVE_NOTHING = ("poetry.core.masonry.api", "hatchling.build", "flit_core.buildapi", "uv_build")
"""Build backends that write nothing into the folder they build. setuptools, which is also what counts when none is
named, leaves an egg-info there as soon as it is asked what a project needs."""


class _Project(msgspec.Struct, frozen=True, rename="kebab"):
    name: str = ""
    dependencies: list[str] = []
    optional_dependencies: dict[str, list[str]] = {}
    dynamic: list[str] = []


class _BuildSystem(msgspec.Struct, frozen=True, rename="kebab"):
    build_backend: str = "setuptools.build_meta:__legacy__"


class _Uv(msgspec.Struct, frozen=True):
    sources: dict[str, Any] = {}


class _Poetry(msgspec.Struct, frozen=True):
    dependencies: dict[str, Any] = {}


class _Tool(msgspec.Struct, frozen=True):
    uv: _Uv = _Uv()
    poetry: _Poetry = _Poetry()


class PyProject(msgspec.Struct, frozen=True, rename="kebab"):
    """The tables that say what a project needs (PEP 518, PEP 621, uv's and Poetry's own); the others are left aside."""

    project: _Project | None = None
    build_system: _BuildSystem | None = None
    tool: _Tool = _Tool()

    @property
    def says_needs(self) -> bool:
        """Whether it is about a project at all, and not a place for the settings of tools."""
        return self.project is not None or self.build_system is not None

    @property
    def writes(self) -> bool:
        """Whether building it may write into its own folder, or into another one that it takes packages from."""
        backend = (self.build_system or _BuildSystem()).build_backend
        return backend not in _LEAVE_NOTHING or any(self._local())

    def needs(self, extras: Sequence[str] = ()) -> list[str] | None:
        """What it requires, with that of ``extras``; None when only building it would tell."""
        about = self.project
        asked = {"dependencies", "optional-dependencies"} if extras else {"dependencies"}
        if about is None or asked & {*about.dynamic} or any(self._local()):
            return None
        needs = [*about.dependencies]
        for extra in extras:
            needs += about.optional_dependencies.get(extra, [])
        return None if any(named(each) == canonical(about.name) for each in needs) else needs

    def _local(self) -> Iterator[str]:
        """Packages that are taken from folders or files beside this one."""
        for name, given in (*self.tool.uv.sources.items(), *self.tool.poetry.dependencies.items()):
            for source in given if isinstance(given, list) else [given]:
                if isinstance(source, dict) and ("path" in source or source.get("workspace")):
                    yield name
        about = self.project or _Project()
        for need in chain(about.dependencies, *about.optional_dependencies.values()):
            if re.search(r"@\s*file:", need):
                yield named(need)


def pyproject_of(folder: Path) -> PyProject:
    """That of ``folder``; an empty one when there is none. UsageError when it cannot be read."""
    path = folder / "pyproject.toml"
    if not path.is_file():
        return PyProject()
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), PyProject)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise UsageError(f"{path} cannot be read ({error}): correct it, or give --python") from None
