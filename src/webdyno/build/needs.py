"""What a contender needs of the system beside its runtime: programs, headers, libraries. Looked for, never brought."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from webdyno.build.make import SYSTEM_PATH
from webdyno.model.contender import Contender

HEADER_FOLDERS = ("usr/include", "usr/local/include")
"""Where a C compiler looks on its own (``cc -xc -E -v /dev/null`` lists them)."""
LIBRARY_FOLDERS = ("lib", "lib64", "usr/lib", "usr/lib64", "usr/lib/*-linux-gnu", "usr/local/lib")
"""Where ld.so looks on its own, on Debian and its kin as on others."""


def lacking(contender: Contender, root: Path = Path("/")) -> str | None:
    """Why ``contender`` cannot be had here, in one line that says what to install; None when nothing is missing."""
    missing = [name for name in contender.looks_for if not _is_here(name, root)]
    return f"there is no {', no '.join(missing)} here; it needs {contender.needs}" if missing else None


def _is_here(name: str, root: Path) -> bool:
    if name.endswith(".h"):
        return _is_in(HEADER_FOLDERS, name, root)
    if ".so" in name:
        return _is_in(LIBRARY_FOLDERS, name, root)
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}") is not None


def _is_in(folders: tuple[str, ...], name: str, root: Path) -> bool:
    return any(True for folder in folders for _ in root.glob(f"{folder}/{name}"))
