"""Place: the folder of a results file, and whether the file there is still the one that was opened."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

LOGS: Final = "logs"


def identity(file: Path) -> tuple[int, int] | None:
    """Of the very file that has that name; None: there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def undo(file: Path) -> None:
    """Leave nothing of a folder in which nothing was written yet, unless there is something else in it."""
    for end in ("", "-wal", "-shm", "-journal"):
        file.with_name(file.name + end).unlink(missing_ok=True)
    with suppress(OSError):
        (file.parent / LOGS).rmdir()
        file.parent.rmdir()
