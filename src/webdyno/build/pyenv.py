"""pyenv: interpreters behind its version switch. Its shims run only where somebody chose a version."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def programs(names: Iterable[str]) -> list[str]:
    """Programs in its versions folders: where PYENV_ROOT says, in the home, beside shims on PATH."""
    shims = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if Path(folder).name == "shims"]
    roots = [Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv"), *(folder.parent for folder in shims)]
    found = [path for name in names for root in roots for path in _versions(root, name)]
    return list(dict.fromkeys(str(path) for path in found if os.access(path, os.X_OK) and not _is_somebodys(path)))


def _versions(root: Path, name: str) -> list[Path]:
    """None where somebody else's folder may not be read: a variable outlives a change of user (su)."""
    try:
        return sorted(root.glob(f"versions/*/bin/{name}"))
    except PermissionError:
        return []


def _is_somebodys(program: Path) -> bool:
    """It is of an environment, which lie beside the versions."""
    return (program.parents[1] / "pyvenv.cfg").exists()
