"""Disk: the one that a path lies on, for a sentence about what it refuses."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LITTLE_BYTES = 64 << 10
"""SQLite takes 32 KiB at once for the index of its log."""
REFUSALS = {
    errno.ENOSPC: "is full",
    errno.EDQUOT: "is full: the quota of this user is used up",
    errno.EFBIG: "accepts no larger file from this process (ulimit -f)",
    errno.EROFS: "can only be read",
    errno.EIO: "fails",
}
"""What a disk itself refuses, whatever is asked of it."""


def disk_of(path: Path) -> str:
    """``the disk at /mnt (0.0 MB free of 16.0 MB)``; of the folder above, where the path is not there."""
    there = _existing(path)
    mount = next((each for each in (there, *there.parents) if each.is_mount()), there)
    try:
        disk = os.statvfs(there)
    except OSError:
        return f"the disk at {mount}"
    free, whole = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
    files = ", and no room for another file" if disk.f_files and not disk.f_favail else ""
    return f"the disk at {mount} ({free / 1e6:,.1f} MB free of {whole / 1e6:,.1f} MB{files})"


def is_full(path: Path) -> bool:
    """Whether next to nothing can be written there."""
    with suppress(OSError):
        disk = os.statvfs(_existing(path))
        return disk.f_bavail * disk.f_frsize < LITTLE_BYTES or bool(disk.f_files and not disk.f_favail)
    return False


def refused(error: OSError, path: Path) -> str | None:
    """``the disk at ... is full``, where it was the disk of ``path`` that refused; None: the error is another."""
    said = REFUSALS.get(error.errno or 0)
    return None if said is None else f"{disk_of(path)} {said}"


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An OSError says which file it is of, also where it comes of writing to one that is open."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def _existing(path: Path) -> Path:
    path = path.absolute()
    return next((each for each in (path, *path.parents) if each.exists()), Path("/"))
