"""Runtimes that come as npm packages (Bun, Deno): installed into the cache, once per exact version.

Install scripts do not run, as in node.py: the program lies in the package for this platform, where its maker put it,
and what npm links in node_modules/.bin would only find it after such a script, or start it through Node.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from threading import Event

from webdyno.build.cache import Complete, alone, clear, complete, publish
from webdyno.build.tool import ask
from webdyno.model.contender import Runtime
from webdyno.rig.host import Host


def brought(runtime: Runtime, cache: Path | None) -> list[str]:
    """Absolute paths of what may be the runtime in what ``bring`` has put into ``cache``; none without a cache."""
    if runtime.package is None or cache is None:
        return []
    folder = _folder(runtime.package, cache)
    if complete(folder) is None:
        return []
    there = [path for name in runtime.find for path in sorted((folder / "node_modules").rglob(name))]
    return [str(path) for path in there if path.is_file() and not path.is_symlink() and os.access(path, os.X_OK)]


def brought_by(runtime: Runtime) -> str | None:
    """The npm that would bring the runtime; None where there is none, or it is no package."""
    return shutil.which("npm") if runtime.package is not None else None


def bring(runtime: Runtime, cache: Path, host: Host) -> None:
    """Install the runtime's package; whether it worked, ``brought`` tells."""
    if runtime.package is None:
        return
    folder = _folder(runtime.package, cache)
    install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
    with alone(folder, Event()):
        if complete(folder):
            return
        clear(folder)
        folder.mkdir()
        if ask(host, [*install, "--prefix", str(folder), runtime.package]) is None:
            return
        name, _, version = runtime.package.rpartition("@")
        publish(folder, Complete(versions={name: version}, seconds=0.0))


def _folder(package: str, cache: Path) -> Path:
    return cache / "runtimes" / package.replace("/", "+")
