"""Whose Python the project's is: the one named, its virtual environment, the active one, or one made for it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from threading import Event

from webdyno.build.project import build_project, project_file
from webdyno.model.errors import MachineError, UsageError
from webdyno.rig.host import Host

_ENVIRONMENTS = (".venv", "venv", "env")
_NOT_READ = ("poetry.lock", "pdm.lock", "Pipfile.lock", "Pipfile", "environment.yml")
"""Where tools write what a project needs that we do not read; their environments are taken as they are."""


def project_python(named: Path | None, folder: Path, cache: Path, host: Host, interrupted: Event) -> tuple[Path, str]:
    """An interpreter and, for people, where it comes from. UsageError, BuildError, MachineError."""
    if named is not None:
        return _named(named), "--python"
    for name in _ENVIRONMENTS:
        if (python := folder / name / "bin" / "python").exists():
            return python, f"the project's {name}"
    active = os.environ.get("VIRTUAL_ENV")
    if active and Path(active).resolve() != Path(sys.prefix).resolve():
        if (python := Path(active) / "bin" / "python").exists():
            return python, "the active environment (VIRTUAL_ENV)"
        raise UsageError(f"VIRTUAL_ENV is {active}, which has no bin/python; activate another one, or give --python")
    if (file := project_file(folder)) is not None:
        made, note = build_project(folder, file, cache, host, interrupted)
        passed = _passed_over(folder) if file == "pyproject.toml" else ""
        return made, f"made in webdyno's cache from its {file}{note}{passed}"
    own = str(Path(sys.executable).parent)
    path = ":".join(part for part in os.environ.get("PATH", os.defpath).split(":") if part != own)
    for name in ("python3", "python"):
        if found := shutil.which(name, path=path):
            return Path(found), f"{name} on PATH{_passed_over(folder)}"
    raise MachineError("no Python was found for the project: give --python, its interpreter or its environment")


def _passed_over(folder: Path) -> str:
    """What to say of a file that would have told more; behind a semicolon."""
    name = next((name for name in _NOT_READ if (folder / name).is_file()), None)
    return "" if name is None else f"; its {name} is not read: --python takes an environment that was made from it"


def _named(named: Path) -> Path:
    """An interpreter, or the folder of an environment. Links stay: an environment's Python is one."""
    path = named.expanduser().absolute()
    if path.is_dir():
        path = path / "bin" / "python"
    if not path.exists() or not os.access(path, os.X_OK):
        raise UsageError(
            f"--python {named}: there is no Python there; give an interpreter, or the folder of an environment"
        )
    return path
