"""Runtimes that come as npm packages (Bun, Deno): installed into the cache, once per exact version.

Install scripts do not run, as in node.py: the program lies in the package for this platform, where its maker put it,
and what npm links in node_modules/.bin would only find it after such a script, or start it through Node. npm compares
each file with the hash that the registry names, and writes that down; it has to be the one in the catalogue.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from threading import Event

from webdyno.build.cache import Complete, alone, clear, complete, publish
from webdyno.build.mismatch import not_as_locked
from webdyno.build.node import Package, installed
from webdyno.build.tool import ask
from webdyno.model.contender import Runtime
from webdyno.rig.host import Host


def brought(runtime: Runtime, cache: Path | None) -> list[str]:
    """Absolute paths of what may be the runtime in what ``bring`` has put into ``cache``; none without a cache."""
    if runtime.package is None or cache is None:
        return []
    folder = _folder(runtime.package, cache)
    if complete(folder) is None or _other_file(runtime, folder):
        return []
    there = [path for name in runtime.find for path in sorted((folder / "node_modules").rglob(name))]
    return [str(path) for path in there if path.is_file() and not path.is_symlink() and os.access(path, os.X_OK)]


def brought_by(runtime: Runtime) -> str | None:
    """The npm that would bring the runtime; None where there is none, or it is no package."""
    return shutil.which("npm") if runtime.package is not None else None


def bring(runtime: Runtime, cache: Path, host: Host) -> str | None:
    """Install the runtime's package; whether it worked, ``brought`` tells. Why not, where it is not the catalogue's."""
    if runtime.package is None:
        return None
    folder = _folder(runtime.package, cache)
    install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
    with alone(folder, Event()):
        if complete(folder) and not _other_file(runtime, folder):
            return None
        clear(folder)
        folder.mkdir()
        if ask(host, [*install, "--prefix", str(folder), runtime.package]) is None:
            return None
        if other := _other_file(runtime, folder):
            return f"{runtime.name}: {not_as_locked(other, f'the table integrity of runtimes/{runtime.name}.toml')}"
        name, _, version = runtime.package.rpartition("@")
        publish(folder, Complete(versions={name: version}, seconds=0.0))
    return None


def _other_file(runtime: Runtime, folder: Path) -> str | None:
    """The first package in ``folder`` that did not come from the file the catalogue names; None: all did."""
    if not runtime.integrity:
        return None
    packages = installed(folder) or [(runtime.package or "", Package())]
    return next((name for name, package in packages if package.integrity != runtime.integrity.get(name)), None)


def _folder(package: str, cache: Path) -> Path:
    return cache / "runtimes" / package.replace("/", "+")
