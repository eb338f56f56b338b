"""What an interpreter says about itself in a contender's log while it serves."""

from __future__ import annotations

import re
from pathlib import Path

_MOST_BYTES = 4 << 20
"""Of a log; modules are loaded at the start."""
_SWITCHED_ON = re.compile(rb"global interpreter lock \(GIL\) has been enabled to load module '([^'\n]{1,200})'")


def gil_modules(log: Path, begin: int) -> list[str]:
    """Modules whose loading switched the GIL of a free-threaded Python back on, each once, in the log from ``begin``.

    CPython writes a RuntimeWarning to standard error when that happens (Python/import.c since 3.13), in every process.
    """
    try:
        with log.open("rb") as file:
            file.seek(begin)
            text = file.read(_MOST_BYTES)
    except OSError:
        return []
    return list(dict.fromkeys(match[1].decode(errors="replace") for match in _SWITCHED_ON.finditer(text)))
