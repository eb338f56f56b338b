"""Whose Python the project's is: the one named, its virtual environment, the active one, or one made for it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from threading import Event

from webdyno.build.own import PROJECT_FILES, build_project
from webdyno.model.errors import MachineError, UsageError
from webdyno.rig.host import Host

_ENVIRONMENTS = (".venv", "venv", "env")


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
    for file in PROJECT_FILES:
        if (folder / file).is_file():
            return build_project(folder, file, cache, host, interrupted), f"made in webdyno's cache from its {file}"
    own = str(Path(sys.executable).parent)
    path = ":".join(part for part in os.environ.get("PATH", os.defpath).split(":") if part != own)
    for name in ("python3", "python"):
        if found := shutil.which(name, path=path):
            return Path(found), f"{name} on PATH"
    raise MachineError("no Python was found for the project: give --python, its interpreter or its environment")


def _named(named: Path) -> Path:
    """An interpreter, or the folder of an environment. Links stay: an environment's Python is one."""
    path = named.expanduser().absolute()
    if path.is_dir():
        path = path / "bin" / "python"
    if not path.exists() or not os.access(path, os.X_OK):
        raise UsageError(f"--python {named}: there is no Python; give an interpreter, or the folder of an environment")
    return path
