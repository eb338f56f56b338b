"""Machines laid out in a folder: fake /proc files and cgroup trees of the layouts met in the field."""

from __future__ import annotations

from pathlib import Path


def write(root: Path, files: dict[str, str]) -> Path:
    """Each file with its text below ``root``."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def proc(root: Path, cgroup: str, *mounts: tuple[str, Path, str, str]) -> Path:
    """A /proc whose self/cgroup is ``cgroup``; mounts as (root, mount point, type, options)."""
    lines = []
    for inside, point, kind, options in mounts:
        escaped = str(point).replace(" ", "\\040")
        lines.append(f"30 1 0:30 {inside} {escaped} rw,relatime shared:9 - {kind} {kind} {options}")
    return write(root / "proc", {"self/cgroup": cgroup, "self/mountinfo": "\n".join(lines) + "\n"})


def v2_group(folder: Path, *, controllers: str = "", given: str = "", procs: str = "") -> Path:
    """One group of a v2 tree, with the files the kernel would make."""
    return write(
        folder,
        {
            "cgroup.controllers": controllers,
            "cgroup.subtree_control": given,
            "cgroup.procs": procs,
            "cpu.stat": "usage_usec 30\nuser_usec 20\nsystem_usec 10\nnr_periods 0\nthrottled_usec 5\n",
        },
    )
