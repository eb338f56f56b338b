"""What a webdyno that has ended must not leave on the machine."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import NamedTuple

_CGROUP = re.compile(r"webdyno-([0-9a-f]+)-")
PATIENCE_S = 20.0
_MARK = re.compile(rb"\0WEBDYNO_RIG=([0-9a-f]+)[.\0]")
of_others: set[str] = set()
"""Tokens of the rigs that were here before the first test: others measure here, or were killed while they did."""
_ours = b""
"""The folder that all our calls of webdyno work in; tests that run beside these have others."""


def remember(ours: Path) -> None:
    """From now on what is on the machine at this moment is nobody's fault here, nor is what others do beside us."""
    global _ours
    _ours = bytes(ours)
    of_others.update(_cgroups(), (process.token for process in marked()))


def processes(token: str = "") -> list[str]:
    """Command lines of living processes on the rig ``token``, else of ours on any whose webdyno is no more."""
    if token:
        return [process.line for process in marked() if process.token == token]
    return [process.line for process in marked() if process.ours and not process.owned]


def cgroups(token: str = "") -> list[str]:
    """Cgroups of the rig ``token``, else of any that no living webdyno works on.

    Those do not tell whose they are; but one that was left stays, and what tests beside these make soon goes.
    """
    if token:
        return _cgroups().get(token, [])
    deadline = time.monotonic() + PATIENCE_S
    while (left := _unowned_cgroups()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def ledgers(cache: Path) -> list[str]:
    """Entries of the rig's ledger."""
    return [path.name for path in (cache / "rig").glob("*.json")]


def folders(place: Path) -> list[str]:
    """Temporary folders of ours in ``place``."""
    return [path.name for path in place.glob("webdyno-*") if path.is_dir()]


class Process(NamedTuple):
    """One that was started on a rig."""

    token: str
    line: str
    ours: bool
    """It works in our folder, or was given something in it: its HOME, its TMPDIR, or ours as it is."""
    owned: bool
    """By a webdyno that lives: among what it descends from is one."""


def marked() -> list[Process]:
    """Every living process that was started on a rig, whoever owns it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                given = (entry / "environ").read_bytes()
                mark = _MARK.search(b"\0" + given)
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                if mark and state != "Z":
                    line = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                    ours = _ours in b"\0".join((given, line, bytes((entry / "cwd").readlink())))
                    found.append(Process(mark[1].decode(), line.decode(), ours, _is_owned(int(parent))))
            except OSError:
                continue
    return found


def _is_owned(pid: int) -> bool:
    """Whether ``pid`` or what started it is a webdyno; not whether it is one that a rig holds, as an engine is."""
    while pid > 1:
        try:
            if not _is_marked(pid) and b"webdyno" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return True
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False


def _is_marked(pid: int) -> bool:
    try:
        return _MARK.search(b"\0" + Path(f"/proc/{pid}/environ").read_bytes()) is not None
    except PermissionError:  # webdyno's own, which it hides from its user's other programs
        return False


def _unowned_cgroups() -> list[str]:
    found = _cgroups()
    busy = of_others | {process.token for process in marked() if process.owned}
    return [path for of in found.keys() - busy for path in found[of]]


def _cgroups() -> dict[str, list[str]]:
    """Paths of the cgroups with our name, by the rig's token."""
    found: dict[str, list[str]] = {}
    for folder, names, _ in os.walk("/sys/fs/cgroup"):  # others' vanish meanwhile, which it passes over
        for name in names:
            if named := _CGROUP.match(name):
                found.setdefault(named[1], []).append(str(Path(folder, name)))
    return found
