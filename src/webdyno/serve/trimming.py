"""Logs of what ran: a server that writes a line for each answer fills a disk, and one that runs for many trials too."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

MOST_BYTES = 4 * 2**20
KEPT_BYTES = 2**20


def trim(log: Path) -> None:
    """Keep the last MiB of ``log``, from the start of a line, when it is longer than four; nobody writes to it now."""
    with contextlib.suppress(OSError), log.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        if size <= MOST_BYTES:
            return
        file.seek(size - KEPT_BYTES)
        last = file.read()
        _, newline, whole = last.partition(b"\n")
        file.seek(0)
        file.write(whole if newline else last)
        file.truncate()
