"""Order: one contender to be built, with all that a Recipe needs to do so. Part: one folder of what it becomes."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from webdyno.build.tool import Workshop
from webdyno.model.built import Found
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import BuildError
from webdyno.rig.host import Host


@dataclass(frozen=True)
class Order:
    """``sources`` is the app's folder; ``lock`` the contender's exact versions, where it has them."""

    contender: Contender
    app: App
    runtime: Runtime
    found: Found
    sources: Path
    lock: Path | None
    cache: Path
    host: Host
    interrupted: Event = field(default_factory=Event)

    @property
    def requires(self) -> list[str]:
        """Requirements of the app and of the contender, sorted, each once."""
        return sorted({*self.app.requires, *self.contender.requires})

    def require_found(self, versions: Mapping[str, str], where: str, between: str = "@") -> None:
        """BuildError unless each requirement is among ``versions``, written NAME@VERSION (or with ``between``)."""
        found = {f"{name}{between}{version}" for name, version in versions.items()}
        if missing := [requirement for requirement in self.requires if requirement not in found]:
            raise BuildError(f"{where} does not hold {', '.join(missing)}; write it there, or correct requires")


@dataclass(frozen=True)
class Part:
    """A folder in the cache that depends on ``ingredients`` and on nothing else, so all that have the same share it."""

    name: str
    """Of the folder it lies in: environments, apps."""
    ingredients: Sequence[str]
    make: Callable[[Path, Workshop], dict[str, str]]
    """Fills the folder, which does not exist yet; the versions it found in there."""
    programs: str | None = None
    """Folder inside it whose programs lead the PATH of the served process."""
    variables: Callable[[Path], dict[str, str]] = lambda _: {}
    """What the served process needs in its environment to find what lies in the folder."""

    @property
    def key(self) -> str:
        """Hash of the ingredients, each with its length so that no two lists look alike."""
        digest = hashlib.sha256()
        for ingredient in self.ingredients:
            text = ingredient.encode()
            digest.update(b"%d:%s" % (len(text), text))
        return digest.hexdigest()[:24]


def on_path(runtime: Runtime, _: Host) -> list[str]:
    """Programs the user would start by name."""
    return [path for path in map(shutil.which, runtime.find) if path]


@dataclass(frozen=True)
class Recipe:
    """How contenders of one kind of runtime are built; one per file, one line each in recipes.py."""

    parts: Callable[[Order], list[Part]]
    """What has to be there, in the order it is made; the last part is the folder that is served from."""
    candidates: Callable[[Runtime, Host], list[str]] = on_path
    """Absolute paths of programs on this machine that may be the runtime, best first."""
    fetch: Callable[[Runtime, Host], None] | None = None
    """Brings a runtime that is not there, where that needs no rights; whether it worked, ``candidates`` tells."""
    tools: tuple[str, ...] = ()
    """Programs on PATH that building needs beside the runtime's own."""


def app_ingredients(sources: Path) -> list[str]:
    """Every file of an app's folder by its path and content; what tools leave behind there does not count."""
    ingredients = []
    for path in sorted(sources.rglob("*")):
        inside = path.relative_to(sources)
        if path.is_file() and not {"__pycache__", "node_modules"}.intersection(inside.parts):
            ingredients += [inside.as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()]
    return ingredients
