"""What a webdyno that has ended must not leave on the machine."""

from __future__ import annotations

from pathlib import Path


def processes(token: str = "") -> list[str]:
    """Command lines of living processes that were started on a rig; with ``token`` on that one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                environ = (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if f"WEBDYNO_RIG={token}".encode() in environ and state != "Z":
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
    return found


def cgroups() -> list[str]:
    """Cgroups with our name."""
    root = Path("/sys/fs/cgroup")
    return [str(path) for path in root.rglob("webdyno-*") if path.is_dir()]


def ledgers(cache: Path) -> list[str]:
    """Entries of the rig's ledger."""
    return [path.name for path in (cache / "rig").glob("*.json")]


def folders(place: Path) -> list[str]:
    """Temporary folders of ours in ``place``."""
    return [path.name for path in place.glob("webdyno-*") if path.is_dir()]
