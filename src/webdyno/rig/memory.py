"""Memory that is free on this machine."""

from __future__ import annotations

from pathlib import Path

_MEMINFO = Path("/proc/meminfo")


def free_memory_bytes(meminfo: Path = _MEMINFO) -> int | None:
    """What can be had without swapping (``MemAvailable``); None: it cannot be read."""
    try:
        lines = meminfo.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None
