"""What a contender needs of the system beside its runtime: a program, a C header. Only looked for, never brought."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from webdyno.build.make import SYSTEM_PATH
from webdyno.model.contender import Contender

HEADER_FOLDERS = ("/usr/include", "/usr/local/include")
"""Where a C compiler looks on its own (``cc -xc -E -v /dev/null`` lists them)."""


def lacking(contender: Contender, header_folders: tuple[str, ...] = HEADER_FOLDERS) -> str | None:
    """Why ``contender`` cannot be had here, in one line that says what to install; None when nothing is missing."""
    missing = [name for name in contender.looks_for if not _is_here(name, header_folders)]
    return f"there is no {', no '.join(missing)} here; it needs {contender.needs}" if missing else None


def _is_here(name: str, header_folders: tuple[str, ...]) -> bool:
    if name.endswith(".h"):
        return any(Path(folder, name).is_file() for folder in header_folders)
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}") is not None
