"""What to copy: how to install the winner, its command, and that as a systemd unit, in a Procfile, in a Dockerfile."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from webdyno.build.own import APP, script_for
from webdyno.commands.trying.fitting import Setting
from webdyno.commands.trying.image import Image, image_command
from webdyno.commands.trying.project import Project
from webdyno.model.contender import Contender
from webdyno.model.placeholder import fill

PORT = 8000
_MARK = 60_606_060
"""Stands for the port while a line with $PORT is made: no command says this number by itself."""
ENTRY = "serving"
"""Module a user writes where the application is an expression and not a name."""


class Copied(msgspec.Struct, frozen=True, kw_only=True):
    """Texts ready to be copied, empty where there is none; ``files`` are to be written into the project first."""

    install: str
    command: str
    files: dict[str, str]
    systemd: str
    procfile: str
    dockerfile: str


def to_copy(
    setting: Setting,
    project: Project | None,
    folder: Path,
    original: Contender | None,
    scripts: Path | None,
    cores: int,
    variables: Path | None = None,
) -> Copied:
    """``original`` is the catalogue's contender with its scripts' folder; None for a command of the user's.
    ``variables`` is the file of --env-file.
    """
    files: dict[str, str] = {}
    words = setting.contender.serve
    if original is not None and project is not None and scripts is not None:
        files = files_for(original, project, scripts)
        words = [_own(word, project) for word in words]
    numbers = {"workers": setting.workers or 1, "threads": setting.threads or 1, "cores": cores}
    here = _shell(fill(words, host="127.0.0.1", port=PORT, **numbers))
    everywhere = fill(words, host="0.0.0.0", port=PORT, **numbers)  # noqa: S104 - what a container must listen on
    asked = " ".join(map(_with_port, fill(words, host="0.0.0.0", port=_MARK, **numbers)))  # noqa: S104
    requires = original.requires if original is not None else []
    return Copied(
        install=f"pip install {_shell(requires)}" if requires else "",
        command=here,
        files=files,
        systemd=_unit(
            fill(words, host="127.0.0.1", port=PORT, **numbers),
            project,
            folder,
            variables,
            installed=original is not None,
        ),
        procfile=f"web: {asked}",
        dockerfile=f"CMD {json.dumps(everywhere)}",
    )


def image_to_copy(image: Image, variables: Mapping[str, str]) -> Copied:
    """The container on a port of the machine's loopback; how it is deployed, whoever built the image knows."""
    command = _shell(image_command(image, variables, PORT))
    return Copied(install="", command=command, files={}, systemd="", procfile="", dockerfile="")


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


def _shell(words: list[str]) -> str:
    return " ".join(shlex.quote(word) for word in words)


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


def _unit(words: list[str], project: Project | None, folder: Path, variables: Path | None, *, installed: bool) -> str:
    """A systemd service; its program by its whole path, as systemd wants it.

    ``installed``: a server that will be installed into the project's environment; else a command the machine has.
    """
    own = "" if project is None else str(project.python.parent)
    found = shutil.which(words[0], path=f"{own}:{os.environ.get('PATH', os.defpath)}") or words[0]
    program = f"{own}/{words[0]}" if own and installed else found
    if "/" in words[0]:  # relative to where it is started, which systemd does not take
        program = os.path.normpath(folder / words[0])
    quoted = " ".join([_systemd(program), *(_systemd(word.replace("$", "$$")) for word in words[1:])])
    # not quoted: systemd takes the rest of the line as the path
    needed = "" if variables is None else f"EnvironmentFile={str(variables.absolute()).replace('%', '%%')}\n"
    return (
        "[Unit]\nAfter=network.target\n\n[Service]\n"
        f"WorkingDirectory={str(folder).replace('%', '%%')}\n{needed}ExecStart={quoted}\nRestart=on-failure\n\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )


def _systemd(word: str) -> str:
    """A word as systemd reads it: percent signs are its own, backslashes escape, quotes and semicolons part words.

    Dollar signs are its own too, but in the program's path: they are doubled before.
    """
    plain = word.replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return plain if re.fullmatch(r"[^\s'\"\\;]+", word) else f'"{plain}"'
