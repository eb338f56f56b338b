"""Memory that is free on this machine."""

from __future__ import annotations

import re
from pathlib import Path

_KIB = re.compile(r"[0-9]{1,18}")
_MEMINFO = Path("/proc/meminfo")


def free_memory_bytes(meminfo: Path = _MEMINFO) -> int | None:
    """What can be had without swapping (``MemAvailable``); None: it cannot be read."""
    try:
        lines = meminfo.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    found = [line.split() for line in lines if line.startswith("MemAvailable:")]
    words = found[0] if found else []
    return int(words[1]) * 1024 if len(words) > 1 and _KIB.fullmatch(words[1]) else None
