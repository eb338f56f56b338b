"""Folders named after the hash of what went in: made once, then only read.

A folder is made where it will stay (an environment's scripts hold its absolute path, so it could not be moved) and is
there for others only once its ``.complete`` marker is, which is written last and in one step. What a killed build left
has no marker and is made again; two builds of one key wait for each other.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import msgspec

MARKER = ".complete"
_LOOK_S = 0.05


class Complete(msgspec.Struct, frozen=True, kw_only=True):
    """Content of a marker: what was found in the folder after it was made."""

    versions: dict[str, str]
    seconds: float


def complete(folder: Path) -> Complete | None:
    """The marker of ``folder``; None when it is not there, or not whole."""
    try:
        return msgspec.json.decode((folder / MARKER).read_bytes(), type=Complete)
    except (FileNotFoundError, NotADirectoryError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def publish(folder: Path, marker: Complete) -> None:
    """Make ``folder`` count."""
    fresh = folder / f"{MARKER}.new"
    fresh.write_bytes(msgspec.json.encode(marker))
    fresh.replace(folder / MARKER)


@contextlib.contextmanager
def alone(folder: Path, interrupted: Event) -> Iterator[None]:
    """Hold the right to make ``folder``, against threads and other processes; a killed holder gives it back."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("wb") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if interrupted.is_set():
                    raise KeyboardInterrupt from None
                time.sleep(_LOOK_S)
        yield


def clear(folder: Path) -> None:
    """Remove what an unfinished build left."""
    if folder.exists():
        shutil.rmtree(folder)
