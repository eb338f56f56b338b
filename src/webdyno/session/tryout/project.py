"""The user's project as it is: its folder, its Python and packages, its variables, and the application in it."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from webdyno.model.errors import BuildError, StartError, UsageError
from webdyno.rig.host import STDOUT, Command
from webdyno.rig.strap import Strapped
from webdyno.session.interrupts import ended
from webdyno.session.tryout import inspect_app
from webdyno.session.tryout.envfile import lying_there

Interface = Literal["wsgi", "asgi", "rsgi"]
IMPORT_S = 60.0
"""How long an application may take to be imported."""
_NOT_HANDED_ON = re.compile(r"VIRTUAL_ENV(_PROMPT)?|PYTHONHOME|PYTHONSTARTUP|__PYVENV_LAUNCHER__|UV_.*|WEBDYNO_.*")
"""Of the user's environment: what speaks of another Python than the project's, or of webdyno."""

_OF_THE_SOURCE = ("SyntaxError", "IndentationError", "TabError", "NameError", "ImportError")
"""Errors in import that no variable cures."""


class Said(msgspec.Struct, frozen=True):
    """What ``inspect_app.py`` found out."""

    version: list[int]
    implementation: str
    base: str
    folders: list[str]
    packages: dict[str, str]
    problem: str = ""
    sentence: str = ""
    traceback: str = ""
    interface: Interface | None = None
    expression: str = ""
    about: str = ""
    made: bool = False
    """A function that makes the application was called, though the user did not write the parentheses."""


@dataclass(frozen=True, kw_only=True)
class Project:
    """``target`` is MODULE:EXPRESSION, as it will be imported."""

    folder: Path
    python: Path
    how: str
    """Where ``python`` comes from, for people."""
    variables: dict[str, str]
    """Of --env-file."""
    target: str
    interface: Interface
    said: Said

    @property
    def is_plain(self) -> bool:
        """True when every server can be given ``target`` itself: a module and one name in it."""
        return self.target.partition(":")[2].isidentifier()

    @property
    def version(self) -> str:
        """Of its Python: 3.11.7."""
        return ".".join(map(str, self.said.version))

    @property
    def environment(self) -> dict[str, str]:
        """What the application runs with: the user's variables, those of the file, and nothing written."""
        return environment(self.folder, self.variables, self.python)


def environment(folder: Path, variables: dict[str, str], python: Path | None) -> dict[str, str]:
    """The user's environment for something in ``folder``, its own Python's programs first on PATH."""
    kept = {name: text for name, text in os.environ.items() if not _NOT_HANDED_ON.fullmatch(name)}
    path = variables.get("PATH", kept.get("PATH", os.defpath))
    own = sys.executable.rpartition("/")[0]
    others = [part for part in path.split(":") if part != own]  # webdyno's own programs are none of the project's
    first = [] if python is None else [str(python.parent)]
    before = variables.get("PYTHONPATH", kept.get("PYTHONPATH", ""))
    return {
        **kept,
        **variables,
        "PATH": ":".join(dict.fromkeys([*first, *others])),
        "PYTHONPATH": ":".join(dict.fromkeys([str(folder), *filter(None, before.split(":"))])),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def look(spec: str, folder: Path, python: Path, variables: dict[str, str], strapped: Strapped) -> Said:
    """What that Python says of itself and of the application ``spec`` (which may be empty). UsageError, StartError."""
    home = strapped.folder()
    target, log = home / "said.json", home / "log"
    command = Command(
        argv=[str(python), inspect_app.__file__, spec, str(target)],
        cwd=folder,
        environment=environment(folder, variables, python),
        role="tool",
        stdout=log,
        stderr=STDOUT,
    )
    try:
        group = strapped.start(command)
        try:
            status = ended(group, strapped.interrupted, IMPORT_S)
        finally:
            group.end(1.0)
        if target.is_file():
            return msgspec.json.decode(target.read_bytes(), type=Said)
        tail = log.read_text(encoding="utf-8", errors="replace")[-4096:] if log.is_file() else ""
    finally:
        strapped.drop(home)
    if status is None:
        raise StartError(
            f"{spec} had not been imported after {IMPORT_S:.0f} s; does its module start a server when it is imported?",
            tail,
            exited=False,
        )
    what = f"importing {spec}" if spec else "asked for its packages"
    raise StartError(f"{python} ended with status {status} while {what}", tail, exited=True)


def application(
    spec: str,
    folder: Path,
    python: tuple[Path, str],
    variables: dict[str, str],
    strapped: Strapped,
    given: Interface | None,
) -> Project:
    """The project with its application; ``python`` is an interpreter and where it comes from.

    UsageError when there is none of that name, BuildError when it fails itself.
    """
    module, colon, expression = spec.partition(":")
    if not module or not colon or not expression:
        raise UsageError(f"{spec}: name the application as module:attribute, such as myapp:app")
    said = look(spec, folder, python[0], variables, strapped)
    _refuse_problem(said, spec, folder, python, variables)
    interface = given or said.interface
    if interface is None:
        raise UsageError(
            f"{spec}: {said.sentence}, which is not WSGI, ASGI or RSGI; name its interface with --interface, or "
            "give the "
            "command that serves it: --cmd 'python serve.py {port}'"
        )
    return Project(
        folder=folder,
        python=python[0],
        how=python[1],
        variables=variables,
        target=f"{module}:{said.expression or expression}",
        interface=interface,
        said=said,
    )


def _refuse_problem(said: Said, spec: str, folder: Path, python: tuple[Path, str], variables: dict[str, str]) -> None:
    """UsageError, BuildError for an application that is not there, or cannot be imported."""
    if said.problem == "import-error":
        kind = said.sentence.partition(":")[0]
        if kind.endswith(("ModuleNotFoundError", "PackageNotFoundError")):
            hint = f"; its Python is {python[0]}, {python[1]}"
        else:
            hint = "" if kind in _OF_THE_SOURCE else lying_there(folder, os.environ | variables, said.sentence)
        raise BuildError(f"{spec} cannot be imported: {said.sentence}{hint}", said.traceback)
    if said.problem == "no-module":
        raise UsageError(f"{spec}: {said.sentence} in {folder}, nor in {python[0]}; see --folder and --python")
    if said.problem not in ("", "no-interface"):
        raise UsageError(f"{spec}: {said.sentence}")
