"""The way to make control groups on this machine, found out once per strap and proven by putting a process into one.

Contender, driver and services get sibling groups below (or beside) the group webdyno is in, never one in a group and
the other outside. Refused: cpu weights, groups that are not ours, and guessing. Where nothing can be written
(a user's ssh session, a container with a read-only /sys/fs/cgroup) the kind is none, ``reason`` says why and what would
help, and everything else still works by affinity, sessions and marks.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from webdyno.model.rig import CgroupKind
from webdyno.rig import cgroup_v1, cgroup_v2
from webdyno.rig.cgroup import Cgroup
from webdyno.rig.ledger import Ledger
from webdyno.rig.mounts import Place, places
from webdyno.rig.process import ancestors

_DELEGATE = "start webdyno with: systemd-run --user --scope -p Delegate=yes webdyno ..., or as root"


_DISPENSABLE = (("pids",), ("cpuset",), ("pids", "cpuset"))
"""Controllers of v1 that are done without where they cannot be had; each is mounted, and given away, for itself."""


class Way(NamedTuple):
    """The folders groups are made in; all of them empty where nothing can be made."""

    v1: dict[str, Path] = {}  # noqa: RUF012  (never written to)
    v2: Path | None = None
    v2_controllers: frozenset[str] = frozenset()
    cpu_v1: Path | None = None


class Cgroups:
    """``kind`` none may still have a v2 hierarchy that counts CPU and kills, only no memory limit."""

    def __init__(self, kind: CgroupKind, reason: str, way: Way, ledger: Ledger | None = None) -> None:
        self.kind: CgroupKind = kind
        self.reason = reason
        self._way, self._ledger = way, ledger

    def make(
        self,
        name: str,
        cores: tuple[int, ...],
        memory_bytes: int | None,
        processes: int | None = None,
        cpus: float | None = None,
    ) -> Cgroup | None:
        """A new, empty group of this many processes and threads at most; None where there is nothing to make one in."""
        way = self._way
        v1 = {controller: parent / name for controller, parent in way.v1.items()}
        v2 = way.v2 / name if way.v2 else None
        cgroup = Cgroup(v1, v2, way.cpu_v1, self._ledger)
        if not cgroup.folders:
            return None
        try:
            for folder in cgroup.folders:
                if self._ledger is not None:
                    self._ledger.add_cgroup(folder)
                folder.mkdir(exist_ok=True)
            cgroup_v1.configure(v1, cores, memory_bytes, processes, cpus)
            if v2 is not None:
                cgroup_v2.configure(v2, way.v2_controllers, cores, memory_bytes, processes, cpus)
            cgroup.hold()
        except BaseException:
            cgroup.remove()
            raise
        return cgroup


def no_cgroups() -> Cgroups:
    """None, because none was wanted."""
    return Cgroups("none", "contenders are started bare, as requested", Way())


def find_cgroups(
    token: str, ledger: Ledger | None = None, proc: Path = Path("/proc"), *, quota: bool = False
) -> Cgroups:
    """What can be done here; with a ``quota``, groups that can also limit CPU time, or none."""
    found = places(proc)
    unified = found.get("")
    if "memory" in found:
        return _find_v1(token, ledger, found, unified, quota=quota)
    if unified is None:
        return Cgroups("none", "no cgroup hierarchy is mounted here", Way(), ledger)
    return _find_v2(token, ledger, unified, quota=quota)


def _find_v1(
    token: str, ledger: Ledger | None, found: dict[str, Place], unified: Place | None, *, quota: bool
) -> Cgroups:
    """v1, with the v2 hierarchy beside it where it can be written (then cpuacct is not needed)."""
    counted = Way(v2=unified.own) if unified else Way()
    if _refusal(token, ledger, counted):
        counted = Way()
    wanted = [name for name in cgroup_v1.CONTROLLERS if name in found and not (name == "cpuacct" and counted.v2)]
    cpu = found["cpu"].own if "cpu" in found else None
    if quota and cpu is None:
        return Cgroups("none", "the cpu controller of cgroup v1 is not mounted here", counted, ledger)
    wanted += ["cpu"] if quota else []
    way = counted._replace(v1={name: found[name].own for name in wanted}, cpu_v1=cpu)
    refusal = _refusal(token, ledger, way)
    for without in _DISPENSABLE if refusal else ():
        less = way._replace(v1={name: folder for name, folder in way.v1.items() if name not in without})
        if less != way and not _refusal(token, ledger, less):
            way, refusal = less, ""
            break
    if refusal:
        return Cgroups("none", f"{refusal}; run webdyno as root to have a memory limit", counted, ledger)
    return Cgroups("v1", "", way, ledger)


def _find_v2(token: str, ledger: Ledger | None, unified: Place, *, quota: bool) -> Cgroups:
    wanted = [*cgroup_v2.CONTROLLERS, *(["cpu"] if quota else [])]
    parent = cgroup_v2.choose_parent(unified.own, unified.mount, wanted) or _step_aside(unified.own, wanted)
    if parent is None:
        counted = Way(v2=unified.own)
        if _refusal(token, ledger, counted):
            counted = Way()
        return Cgroups("none", _why_not(unified), counted, ledger)
    if quota and "cpu" not in parent.controllers:
        return Cgroups("none", f"the cpu controller is not delegated to {parent.folder}; {_DELEGATE}", Way(), ledger)
    way = Way(v2=parent.folder, v2_controllers=parent.controllers)
    refusal = _refusal(token, ledger, way)
    if refusal:
        return Cgroups("none", f"{refusal}; {_DELEGATE}", Way(), ledger)
    return Cgroups("v2", "", way, ledger)


def _step_aside(own: Path, wanted: Sequence[str]) -> cgroup_v2.Parent | None:
    """Where our own group could be the parent but for ourselves being in it, move into a child of it, for good.

    Only when nobody else is in it but those that started us: a scope made for us, or a container of ours. They stay
    in the child (it ends with that scope or container), so it stands in no ledger: a sweep must not end a user's
    shell.
    """
    inside = cgroup_v2.pids(own)
    if not os.access(own, os.W_OK) or not set(inside) <= {os.getpid(), *ancestors(os.getpid())}:
        return None
    aside = own / "aside-for-webdyno"
    try:
        aside.mkdir(exist_ok=True)
        for pid in inside:
            (aside / "cgroup.procs").write_text(str(pid))
        given = cgroup_v2.enable(own, wanted)
    except OSError:
        given = frozenset()
    if "memory" in given:
        return cgroup_v2.Parent(own, given)
    for pid in inside:
        with contextlib.suppress(OSError):
            (own / "cgroup.procs").write_text(str(pid))
    Cgroup({}, aside).remove()
    return None


def _refusal(token: str, ledger: Ledger | None, way: Way) -> str:
    """Make a trial group, put a process into it, remove it; the empty text when all of it worked."""
    cgroups = Cgroups("none", "", way, ledger)
    limit = 1 << 30 if way.v1 or way.v2_controllers else None
    try:
        cgroup = cgroups.make(f"webdyno-{token}-trial", tuple(os.sched_getaffinity(0)), limit, limit and 1000)
    except OSError as error:
        return f"no cgroup could be made in {_above(error)}: {_text(error)}"
    if cgroup is None:
        return "there is no cgroup hierarchy to write to"
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE)
    try:
        for path in cgroup.join_files:
            path.write_text(str(child.pid))
    except OSError as error:
        return f"no process could be put into a cgroup in {_above(error)}: {_text(error)}"
    finally:
        child.kill()
        child.communicate()
        cgroup.remove()
    return ""


def _why_not(unified: Place) -> str:
    if not os.access(unified.own, os.W_OK):
        if os.statvfs(unified.own).f_flag & os.ST_RDONLY:
            return f"{unified.mount} is read-only here, as in most containers; mount it writable, or run outside of it"
        return f"{unified.own} cannot be written by this user; {_DELEGATE}"
    available = (unified.own / "cgroup.controllers").read_text().split()
    if "memory" not in available:
        return f"the memory controller is not delegated to {unified.own}; {_DELEGATE}"
    return f"there are other processes in {unified.own}, so it cannot delegate the memory controller; {_DELEGATE}"


def _above(error: OSError) -> Path:
    """Where it happened, without the trial's own name: reasons are kept in Runs and must not differ between them."""
    path = Path(error.filename or "/")
    return next((folder.parent for folder in (path, *path.parents) if folder.name.startswith("webdyno-")), path)


def _text(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
