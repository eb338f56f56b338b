"""Now: one small file beside a results file that says which Trial is in flight; gone when nobody measures.

The store holds finished Runs alone, and one more durable transaction each second would put a disk's fsync into the
measurement. This file is replaced whole, is not synced, and is nobody's evidence: what cannot be written is left out,
what cannot be read is not there. A killed webdyno leaves it; a reader asks first whether the store is written.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

import msgspec

from webdyno.depth import is_deep
from webdyno.model.now import Now

FILE = "now.json"
_LARGEST_BYTES = 1 << 20


def write(folder: Path, now: Now) -> None:
    """Put ``now`` instead of what was there."""
    fresh = folder / f".{FILE}"
    with suppress(OSError):
        fresh.write_bytes(msgspec.json.encode(now))
        fresh.replace(folder / FILE)


def read(folder: Path) -> Now | None:
    """What is in flight; None when nothing is, or it cannot be read."""
    try:
        text = ordinary(folder / FILE, _LARGEST_BYTES)
        return None if is_deep(text) else msgspec.json.decode(text, type=Now)
    except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def ordinary(path: Path, most_bytes: int) -> bytes:
    """The beginning of a small file in a results folder, which somebody may have mailed.

    OSError also for a link, a pipe and a device: the one leads elsewhere, the others may never end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no ordinary file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most_bytes)
    finally:
        os.close(descriptor)


def clear(folder: Path) -> None:
    """Nothing is in flight."""
    for name in (FILE, f".{FILE}"):
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)
