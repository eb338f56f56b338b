"""Folders named after the hash of what went in: made once, then only read.

A folder is made where it will stay (an environment's scripts hold its absolute path, so it could not be moved) and is
there for others only once its ``.complete`` marker is, which is written last and in one step. What a killed build left
has no marker and is made again; two builds of one key wait for each other.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import re
import shutil
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import msgspec

from webdyno.disk import disk_of, refused
from webdyno.model.errors import MachineError

MARKER = ".complete"
_LOOK_S = 0.05
_SAID = re.compile(r"(?P<ENOSPC>[Nn]o space left on device|ENOSPC)|(?P<EDQUOT>[Dd]isk quota exceeded|EDQUOT)")
"""How tools say that a disk refused them."""


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


def pack(folder: Path, target: Path) -> None:
    """All that is in ``folder``, which is complete, as one file; for a host of the same kind."""
    with tarfile.open(target, "w:gz", compresslevel=1) as archive:
        for path in sorted(folder.iterdir()):
            if path.name != MARKER:
                archive.add(path, path.name)
        archive.add(folder / MARKER, MARKER)


def unpack(source: Path, folder: Path, interrupted: Event) -> None:
    """What ``pack`` wrote, into ``folder``; it counts once all of it is there."""
    with alone(folder, interrupted), tarfile.open(source) as archive:
        if complete(folder):
            return
        clear(folder)
        archive.extraction_filter = lambda member, _: member  # links to interpreters are absolute
        for member in archive:
            if Path(member.name).is_absolute() or ".." in Path(member.name).parts:
                raise MachineError(f"{member.name!r} leads out of {folder}: do not trust a host that sends such a name")
            if member.name != MARKER:
                archive.extract(member, folder)
        marker = archive.extractfile(MARKER)
        publish(folder, msgspec.json.decode(b"" if marker is None else marker.read(), type=Complete))


@contextlib.contextmanager
def explained(cache: Path) -> Iterator[None]:
    """What the disk or the folder of the cache refuses is a MachineError: no contender is to blame for it."""
    try:
        yield
    except OSError as error:
        where = Path(error.filename) if isinstance(error.filename, str) else cache
        why = refused(error, where) or f"{(error.strerror or str(error)).lower()}; it lies on {disk_of(where)}"
        raise MachineError(_sentence(cache, f"{where}: {why}")) from None


def refuse_full(folder: Path, purpose: str, said: str, variable: str) -> None:
    """MachineError where a tool ``said`` that a disk refused it; what it wrote may be gone again by now."""
    if (match := _SAID.search(said)) is not None and match.lastgroup is not None:
        error = OSError(getattr(errno, match.lastgroup), match[0])
        raise MachineError(_sentence(folder, f"could not {purpose}: {refused(error, folder)}", variable))


def _sentence(folder: Path, what: str, variable: str = "WEBDYNO_CACHE") -> str:
    return (
        f"{what}; builds are kept in {folder}: make room, restore its permissions, or name a folder on another "
        f"disk with {variable}"
    )
