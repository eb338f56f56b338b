"""Project: an environment for a project that has none, made in the cache from what its files say.

Nothing is written into the project. A folder of the user's that is to be installed itself (``-e .``, a member of a
workspace) would be built where it lies, and most builds leave something there. So it is left out: what it needs comes
from its pyproject.toml, and its modules are found where they lie, as after an editable install. Where only the build
tells what it needs, that is said, and the environment is the user's to make.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import uv

from webdyno.build.locks import write_lines
from webdyno.build.make import assemble
from webdyno.build.order import Order, Part
from webdyno.build.pyproject import pyproject_of
from webdyno.build.requirements import lines_of, local_of, source_root
from webdyno.build.tool import Workshop
from webdyno.model.built import Found
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import UsageError
from webdyno.rig.host import Host

_NUMBER = "3"
"""Raise it when what this recipe does changes: it is part of every key."""
PROJECT_FILES = ("uv.lock", "requirements.txt", "pyproject.toml")
"""Where a project may say what it needs; the first that does counts."""
_INCLUDE = re.compile(r"^[ \t]*(?:-r|-c|--requirement|--constraint)[ \t=]*([^\s#]+)", re.MULTILINE)
"""A line of a requirements file that names another one, beside which it lies."""
_YOURSELF = "make the project's environment yourself, as .venv in its folder or anywhere with --python"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is to be installed for a project: the lines, or None for its file as it stands; where its modules are."""

    lines: list[str] | None = None
    roots: list[Path] = field(default_factory=list)
    note: str = ""
    """What is to be said of it, behind a semicolon."""


def project_file(folder: Path) -> str | None:
    """The file in which the project says what it needs. UsageError for a pyproject.toml that cannot be read.

    A uv.lock counts beside its pyproject.toml only; a pyproject.toml with nothing but settings of tools says nothing.
    """
    about, locked = pyproject_of(folder), (folder / "pyproject.toml").is_file()
    counts = {"uv.lock": locked, "requirements.txt": True, "pyproject.toml": about.says_needs}
    return next((name for name in PROJECT_FILES if (folder / name).is_file() and counts[name]), None)


def build_project(folder: Path, file: str, cache: Path, host: Host, interrupted: Event) -> tuple[Path, str]:
    """The Python of an environment in the cache that has what ``file`` in ``folder`` names, and a note about it.

    BuildError; UsageError when it cannot be made without writing into the project.
    """
    asked = _asked(folder, file)
    files = [folder / name for name in (*PROJECT_FILES, ".python-version") if (folder / name).is_file()]
    marks = [hashlib.sha256(text).hexdigest() for path in files for text in _with_included(path)]
    roots = [str(root) for root in asked.roots]
    ingredients = ["project", _NUMBER, str(folder), file, *marks, *(asked.lines or ()), *roots]
    part = Part("environments", ingredients, _environment(folder, file, asked), programs="bin")
    found = Found(runtime="python", program="", version="")
    nobody = Contender(name="project", app="", runtime="", server="", model="", serve=[], because="", author="")
    order = Order(nobody, _NO_APP, _NO_RUNTIME, found, folder, None, cache, host, interrupted)
    built = assemble(order, [part])
    return Path(built.directory) / "bin" / "python", asked.note


_NO_APP = App(name="project", language="Python", interface="native", framework="none", answers=[])
_NO_RUNTIME = Runtime(name="python", kind="python", language="Python", find=[], version=[], install="")


def _with_included(file: Path) -> list[bytes]:
    """A file's bytes; of a requirements file those of all that it includes too, each once, wherever it is included."""
    found: dict[Path, bytes] = {}
    waiting = [file.resolve()]
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found[path] = path.read_bytes()
        if file.name == "requirements.txt":
            names = _INCLUDE.findall(found[path].decode(errors="replace"))
            waiting += [(path.parent / name).resolve() for name in names]
    return list(found.values())


def _asked(folder: Path, file: str) -> Asked:
    if file == "requirements.txt":
        return _of_requirements(folder, file)
    about = pyproject_of(folder)
    if file == "pyproject.toml" and about.needs() is None and about.writes:
        raise UsageError(
            f"{folder / file}: its requirements are known only by building the project, which would write into "
            f"it; {_YOURSELF}"
        )
    return Asked(roots=[source_root(folder)])


def _of_requirements(folder: Path, file: str) -> Asked:
    lines = list(lines_of((folder / file).resolve()))
    asked: list[str] = []
    left: list[str] = []
    roots: list[Path] = []
    for line in lines:
        local = local_of(line, folder)
        if local is None or not (about := pyproject_of(local.folder)).writes:
            asked.append(line)
            continue
        needs = about.needs(local.extras)
        if needs is None:
            raise UsageError(
                f"{folder / file}: {line!r} installs a folder of yours, and its requirements are known only by "
                f"building it, which would write into it; {_YOURSELF}"
            )
        asked += needs
        left.append(line)
        roots.append(local.root)
    if not left:
        return Asked()
    note = f"; not installed but imported from its folder, because a build would write there: {', '.join(left)}"
    return Asked(lines=asked, roots=roots, note=note)


def _environment(folder: Path, file: str, asked: Asked) -> Callable[[Path, Workshop], dict[str, str]]:
    def make(target: Path, workshop: Workshop) -> dict[str, str]:
        tool, python = uv.find_uv_bin(), str(target / "bin" / "python")
        # In the project's folder, so that its .python-version and requires-python count; nothing is written there.
        workshop.run("make an environment", [tool, "venv", str(target)], folder)
        lines, roots = asked.lines, asked.roots
        if file == "uv.lock":
            export = [tool, "export", "--frozen", "--no-emit-project", "--quiet", "--no-dev"]
            exported = target / "exported.txt"
            workshop.run("read uv.lock", [*export, "--output-file", str(exported)], folder)
            lines, more = _without_own(exported, folder)
            roots = [*roots, *more]
        requirements = str(folder / file) if lines is None else write_lines(target / "requirements.txt", lines)
        install = [tool, "pip", "install", "--python", python, "--compile-bytecode", "--requirements", requirements]
        workshop.run(f"install what {file} names", install, folder, UV_NO_PROGRESS="1")
        if roots:
            for site in target.glob("lib/*/site-packages"):
                write_lines(site / "webdyno_project.pth", map(str, roots))
        return {}

    return make


def _without_own(exported: Path, folder: Path) -> tuple[list[str], list[Path]]:
    """The lines that a lock names, without folders whose build would write there, and where the modules of those are.

    What they need is in the lock too.
    """
    lines: list[str] = []
    roots: list[Path] = []
    for line in lines_of(exported):
        local = local_of(line, folder)
        if local is not None and pyproject_of(local.folder).writes:
            roots.append(local.root)
        else:
            lines.append(line)
    return lines, roots
