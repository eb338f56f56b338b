"""What a webdyno that has ended must not leave on the machine."""

from __future__ import annotations

import re
from pathlib import Path

_CGROUP = re.compile(r"webdyno-([0-9a-f]+)-")
_MARK = re.compile(rb"\0WEBDYNO_RIG=([0-9a-f]+)[.\0]")
of_others: set[str] = set()
"""Tokens of the rigs that were here before the first test: others measure here, or were killed while they did."""


def remember_others() -> None:
    """From now on what is on the machine at this moment is nobody's fault here."""
    of_others.update(token for token, _ in _cgroups() + _processes())


def processes(token: str = "") -> list[str]:
    """Command lines of living processes that were started on a rig of ours; with ``token`` on that one."""
    return [line for of, line in _processes() if of not in of_others and of.startswith(token)]


def cgroups(token: str = "") -> list[str]:
    """Cgroups of rigs of ours; with ``token`` of that one."""
    return [path for of, path in _cgroups() if of not in of_others and of.startswith(token)]


def ledgers(cache: Path) -> list[str]:
    """Entries of the rig's ledger."""
    return [path.name for path in (cache / "rig").glob("*.json")]


def folders(place: Path) -> list[str]:
    """Temporary folders of ours in ``place``."""
    return [path.name for path in place.glob("webdyno-*") if path.is_dir()]


def _processes() -> list[tuple[str, str]]:
    """The rig's token and the command line of each living process that was started on one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                mark = _MARK.search(b"\0" + (entry / "environ").read_bytes())
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if mark and state != "Z":
                    line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found.append((mark[1].decode(), line))
            except OSError:
                continue
    return found


def _cgroups() -> list[tuple[str, str]]:
    """The rig's token and the path of each cgroup with our name."""
    paths = (path for path in Path("/sys/fs/cgroup").rglob("webdyno-*") if path.is_dir())
    return [(named[1], str(path)) for path in paths if (named := _CGROUP.match(path.name))]
