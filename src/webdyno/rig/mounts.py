"""Mounts: where the cgroup hierarchies are mounted, and where in each of them this process stands.

/proc/self/cgroup says the path inside a hierarchy, /proc/self/mountinfo which part of the hierarchy is mounted where.
Inside containers the two disagree in every possible way (bind mounts of a part, cgroup namespaces that show ``/`` or
``/../..``), so the own folder is the first candidate that exists.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_OCTAL = re.compile(r"\\([0-7]{3})")


class Place(NamedTuple):
    """One mounted hierarchy: its mount point and the folder of it that this process is in."""

    mount: Path
    own: Path


def places(proc: Path = Path("/proc"), process: str = "self") -> dict[str, Place]:
    """By v1 controller name (``memory``, ``cpuset`` ...), and the v2 hierarchy under the name ``""``.

    ``own`` is of ``process`` (its number), the mounts are always our own.
    """
    try:
        mounted = (proc / "self/mountinfo").read_text(errors="replace").splitlines()
        paths = _own_paths((proc / process / "cgroup").read_text(errors="replace"))
    except OSError:
        return {}
    found: dict[str, Place] = {}
    for line in mounted:
        left, _, right = line.partition(" - ")
        fields, (kind, _, options) = left.split(" "), (*right.split(" ", 2), "", "", "")[:3]
        if len(fields) < 5:  # no line of mountinfo
            continue
        root, mount = _plain(fields[3]), Path(_plain(fields[4]))
        if kind == "cgroup2":
            names = [""]
        elif kind == "cgroup":
            names = [name for name in options.split(",") if name in paths]
        else:
            continue
        for name in names:
            if name not in found:
                found[name] = Place(mount, _own_folder(mount, root, paths.get(name, "/")))
    return found


def _own_paths(text: str) -> dict[str, str]:
    """``4:memory:/user`` -> memory: /user; ``0::/user`` -> "": /user; ``1:cpu,cpuacct:/`` -> both."""
    paths = {}
    for line in text.splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        for controller in controllers.split(","):
            paths[controller] = path
    return paths


def _own_folder(mount: Path, root: str, path: str) -> Path:
    inside = path[len(root) :] if root != "/" and path.startswith(root) else path
    for candidate in (mount / inside.lstrip("/"), mount / path.lstrip("/")):
        if ".." not in candidate.parts and candidate.is_dir():
            return candidate
    return mount


def _plain(text: str) -> str:
    """Mountinfo writes blanks and the like as three octal digits."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)
