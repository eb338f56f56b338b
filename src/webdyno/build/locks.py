"""Locks: exact versions of everything a Python contender needs, so that it is the same next year.

A contender names the few requirements that matter, pinned; its lock names all of them, for every platform. It is
written by webdyno's developers (``lock``) and held to the contender by a test (``unsatisfied``, without network).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import uv

from webdyno.build.tool import ask
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import MachineError, UsageError
from webdyno.rig.host import Host

_PIN = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==(?P<version>[^\s;]+)")


def lock(contender: Contender, app: App, runtime: Runtime, target: Path, host: Host) -> None:
    """Resolve everything anew and write it to ``target``; MachineError when that cannot be done."""
    if runtime.kind != "python":
        raise UsageError(
            f"{contender.name}: only Python contenders have a lock; {runtime.kind} keeps its own in the app"
        )
    requires = sorted({*app.requires, *contender.requires})
    compile_ = [uv.find_uv_bin(), "pip", "compile", "--quiet", "--universal", "--python-version", runtime.find[0]]
    with TemporaryDirectory(prefix="webdyno-lock-") as folder:
        options = ["--no-header", "--no-annotate", *written_apart(contender, Path(folder))]
        resolved = ask(host, [*compile_, *options, "-"], stdin="\n".join(requires).encode())
    if resolved is None:
        raise MachineError(
            f"{contender.name}: uv could not resolve {', '.join(requires)}; are all of them on the index?"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"# locked for {', '.join(requires)}; written by webdyno\n{resolved}", encoding="utf-8")


def apart(contender: Contender) -> list[tuple[str, list[str]]]:
    """Versions apart from what is required, each list with uv's option for it; lists with nothing in them left out."""
    both = [("--overrides", contender.overrides), ("--build-constraints", contender.build_with)]
    return [(option, versions) for option, versions in both if versions]


def written_apart(contender: Contender, folder: Path) -> list[str]:
    """uv's arguments for ``apart``, whose lists are written into files of ``folder``."""
    files = [(option, write_lines(folder / f"{option[2:]}.txt", versions)) for option, versions in apart(contender)]
    return [word for pair in files for word in pair]


def write_lines(path: Path, lines: Iterable[str]) -> str:
    """``path`` as text, its file written with one of ``lines`` each."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def locked_lines(text: str) -> list[str]:
    """The requirements of a lock, comments and blank lines left out."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def unsatisfied(requires: Iterable[str], lines: Iterable[str]) -> list[str]:
    """Those of ``requires`` that a lock's ``lines`` do not hold in exactly that version."""
    held = {_pin(line) for line in lines}
    return [requirement for requirement in requires if _pin(requirement) not in held]


def _pin(requirement: str) -> tuple[str, str]:
    """Name as PyPI compares names, and version; extras and markers do not matter here."""
    match = _PIN.match(requirement)
    return (re.sub(r"[-_.]+", "-", match["name"]).lower(), match["version"]) if match else ("", requirement)
