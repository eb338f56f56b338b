"""What to copy: how to install the winner, its command, and that as a systemd unit, in a Procfile, in a Dockerfile.

All of it must run as it stands, in the project's folder, from a shell that knows nothing: so programs are named by
their environment, and the variables that the app was given are given again, by the file they came from. No value of
one is ever printed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from webdyno.analyse.words import listing
from webdyno.build.own import APP, script_for
from webdyno.model.contender import Contender
from webdyno.model.placeholder import fill
from webdyno.model.secret import hidden
from webdyno.session.tryout.command import told_by_port
from webdyno.session.tryout.envfile import Read, how_read
from webdyno.session.tryout.fitting import Setting
from webdyno.session.tryout.image import Image, image_command
from webdyno.session.tryout.installing import Home, home_of, installing
from webdyno.session.tryout.project import Project
from webdyno.session.tryout.systemd import unit

PORT = 8000
_MARK = 60_606_060
"""Stands for the port while a line with $PORT is made: no command says this number by itself."""
ENTRY = "serving"
"""Module a user writes where the application is an expression and not a name."""


class Copied(msgspec.Struct, frozen=True, kw_only=True):
    """Texts ready to be copied, empty where there is none; ``files`` are to be written into the project first."""

    needs: str = ""
    """What is to be installed of the system before."""
    install: str
    command: str
    files: dict[str, str]
    systemd: str
    procfile: str
    dockerfile: str
    variables: str = ""
    """What is to be known of the variables that the app was given."""


@dataclass(frozen=True, kw_only=True)
class Around:
    """What a server is run with: the project, its folder and the variables of the call."""

    project: Project | None
    folder: Path
    cores: int
    cache: Path
    env_file: Path | None = None
    names: Sequence[str] = ()
    """Of --env."""


@dataclass(frozen=True)
class _Line:
    """A command with placeholders: its own variables, and its words."""

    words: list[str]
    variables: dict[str, str] = field(default_factory=dict)

    def filled(self, host: str, port: int, setting: Setting, cores: int) -> _Line:
        """With a place to listen, and the numbers of a setting."""
        numbers = {"workers": setting.workers or 1, "threads": setting.threads or 1, "cores": cores}
        texts = fill([*self.words, *self.variables.values()], host=host, port=port, **numbers)
        words, values = texts[: len(self.words)], texts[len(self.words) :]
        return _Line(words, dict(zip(self.variables, values, strict=True)))


def to_copy(setting: Setting, original: tuple[Contender, Path] | None, around: Around) -> Copied:
    """``original`` is the catalogue's contender with its scripts' folder; None for a command of the user's."""
    files: dict[str, str] = {}
    contender, project, home = hidden(setting.contender), around.project, None
    line, install = _Line(contender.serve, _own_variables(contender)), ""
    if original is not None and project is not None:
        home = home_of(project, around.cache)
        install, files = installing(original[0], home)
        files |= files_for(original[0], project, original[1])
        line = _Line([_own(word, project) for word in contender.serve], contender.environment)
    here = _installed(line.filled("127.0.0.1", PORT, setting, around.cores), home)
    everywhere = line.filled("0.0.0.0", PORT, setting, around.cores)  # noqa: S104 - what a container must listen on
    asked = line.filled("0.0.0.0", _MARK, setting, around.cores)  # noqa: S104
    read = None if around.env_file is None else how_read(around.env_file)
    return Copied(
        needs=(original[0].needs or "") if original is not None else "",
        install=install,
        command=_given(read) + _shell(here),
        files=files,
        systemd=unit(_whole(here, around), here.variables, around.folder, read),
        procfile="web: " + " ".join([*_assigned(asked, besides="PORT"), *map(_with_port, asked.words)]),
        dockerfile="\n".join([*map(_env_line, everywhere.variables.items()), f"CMD {json.dumps(everywhere.words)}"]),
        variables=_of_variables(read, around.names),
    )


def image_to_copy(image: Image, variables: Mapping[str, str]) -> Copied:
    """The container on a port of the machine's loopback; how it is deployed, its builder knows."""
    command = _shell(_Line(image_command(image, variables, PORT)))
    return Copied(install="", command=command, files={}, systemd="", procfile="", dockerfile="")


def _own_variables(contender: Contender) -> dict[str, str]:
    """Those of a command, PORT only where nothing else says where to listen, or where it was typed."""
    typed = contender.environment.get("PORT") != "{port}" or told_by_port(contender)
    return {name: text for name, text in contender.environment.items() if name != "PORT" or typed}


def _installed(line: _Line, home: Home | None) -> _Line:
    """Its program as it is named in the project's folder, once it is installed."""
    return line if home is None else _Line([f"{home.programs}/{line.words[0]}", *line.words[1:]], line.variables)


def _whole(line: _Line, around: Around) -> list[str]:
    """Its words, the program by its whole path: relative to where it is started, which systemd does not take, or by
    the PATH of the user's shell.
    """
    program, own = line.words[0], "" if around.project is None else f"{around.project.python.parent}:"
    if "/" in program:
        whole = os.path.normpath(around.folder / program)
    else:
        whole = shutil.which(program, path=own + os.environ.get("PATH", os.defpath)) or program
    return [whole, *line.words[1:]]


def files_for(original: Contender, project: Project, scripts: Path) -> dict[str, str]:
    """What the project needs besides: the script that starts a server without a command line, the name of an app."""
    module, _, expression = project.target.partition(":")
    named = [word for word in original.serve if word.startswith("serve_") and word.endswith(".py")]
    found: dict[str, str] = {}
    if not project.is_plain:
        found[f"{ENTRY}.py"] = f"import {module}\n\napp = eval({expression!r}, vars({module}))\n"
        name = re.match(r"\w+", expression)
        if name is not None:
            found[f"{ENTRY}.py"] = f"from {module} import {name[0]}\n\napp = {expression}\n"
        module, expression = ENTRY, "app"
    return found | {word: script_for(scripts / word, module, expression) for word in named}


def _own(word: str, project: Project) -> str:
    """A word of a measured command as it is in the project."""
    if word == f"{APP}:app" and not project.is_plain:
        return f"{ENTRY}:app"
    return Path(word).name if word.startswith("/") and Path(word).name.startswith("serve_") else word


def _given(read: Read | None) -> str:
    """What gives a shell the variables of --env-file."""
    return "" if read is None else f"set -a; . {shlex.quote(str(read.path))}; set +a; "


def _shell(line: _Line) -> str:
    return " ".join([*_assigned(line), *map(shlex.quote, line.words)])


def _assigned(line: _Line, besides: str = "") -> list[str]:
    return [f"{name}={_with_port(text)}" for name, text in line.variables.items() if name != besides]


def _env_line(variable: tuple[str, str]) -> str:
    name, text = variable
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'ENV {name}="{quoted}"'


def _with_port(word: str) -> str:
    """A word for a shell that knows PORT, with _MARK in the places of it."""
    if str(_MARK) not in word:
        return shlex.quote(word)
    first, *rest = word.split(str(_MARK))
    told = shlex.quote(first) if first else ""
    for part in rest:
        told += "${PORT}" if re.match(r"\w", part) else "$PORT"
        told += shlex.quote(part) if part else ""
    return told


def _of_variables(read: Read | None, names: Sequence[str]) -> str:
    """What the user has to do so that the app has what it was given here; empty where nothing is."""
    said = []
    if read is not None and read.by_shell and read.by_systemd:
        lines = listing([str(number) for number in sorted({*read.by_shell, *read.by_systemd})])
        one = "line" if len({*read.by_shell, *read.by_systemd}) == 1 else "lines"
        said.append(
            f"{one} {lines} of {read.path} have different meanings in a shell and in systemd: write NAME='value'"
        )
    if names:
        said.append(f"variables given by --env must be set where it runs: {listing(list(names))}")
    return "; ".join(said)
