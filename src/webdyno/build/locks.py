"""Locks: exact versions of everything a Python contender needs, so that it is the same next year.

A contender names the few requirements that matter, pinned; its lock names all of them, for every platform. It is
written by webdyno's developers (``lock``) and held to the contender by a test (``unsatisfied``, without network).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import uv

from webdyno.build.tool import ask
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import MachineError, UsageError
from webdyno.rig.host import Host

_PIN = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==(?P<version>[^\s;]+)")


def lock(
    contender: Contender, app: App, runtime: Runtime, target: Path, host: Host, sharing: Sequence[Contender] = ()
) -> None:
    """Resolve everything anew and write it to ``target``; MachineError when that cannot be done.

    With several contenders ``sharing`` the lock, it holds what any of them needs and says of each line who needs it;
    what they pin then overrules what a package pins itself, which is how cyclone lives with a Twisted of today.
    """
    if runtime.kind == "python-2":
        raise UsageError(f"{contender.name}: a contender of Python 2 has no lock; it names every package by itself")
    if runtime.kind != "python":
        raise UsageError(
            f"{contender.name}: only Python contenders have a lock; {runtime.kind} keeps its own in the app"
        )
    together = len(sharing) > 1
    requires = sorted({*app.requires, *(one for each in sharing or [contender] for one in each.requires)})
    version = runtime.minimum or re.sub(r"^\D+", "", runtime.find[0])  # uv calls one "pypy3.9"
    compile_ = [uv.find_uv_bin(), "pip", "compile", "--quiet", "--universal", "--python-version", version]
    with TemporaryDirectory(prefix="webdyno-lock-") as folder:
        options = ["--no-header", *written_apart(contender, Path(folder))]
        if together:
            options += ["--overrides", write_lines(Path(folder) / "shared.txt", requires)]
        else:
            options.append("--no-annotate")
        resolved = ask(host, [*compile_, *options, "-"], stdin="\n".join(requires).encode())
        if resolved is not None:
            resolved = re.sub(r"--overrides? \S+", "the catalogue", resolved)
    if resolved is None:
        raise MachineError(
            f"{contender.name}: uv could not resolve {', '.join(requires)}; are all of them on the index?"
        )
    head = f"# shared by the contenders of {target.stem}" if together else f"# locked for {', '.join(requires)}"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"{head}; written by webdyno\n{resolved}", encoding="utf-8")


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


def lines_for(requires: Iterable[str], text: str) -> list[str]:
    """The lines of a lock that ``requires`` lead to; of a lock that says nothing of who needs what, all of them."""
    needed_by = _needed_by(text)
    if not any(needed_by.values()):
        return list(needed_by)
    wanted = {_name(requirement) for requirement in requires}
    lines: list[str] = []
    while found := [
        line for line, by in needed_by.items() if line not in lines and (_name(line) in wanted or wanted & by)
    ]:
        lines += found
        wanted |= {_name(line) for line in found}
    return [line for line in needed_by if line in lines]


def _needed_by(text: str) -> dict[str, set[str]]:
    """Each line of a lock with the names of the packages that need it, as uv writes them under it (``# via``)."""
    needed: dict[str, set[str]] = {}
    line = ""
    for written in text.splitlines():
        if not written.strip():
            continue
        if not written.lstrip().startswith("#"):
            line = written.strip()
            needed[line] = set()
        elif line and (by := written.strip(" #").removeprefix("via").strip()):
            needed[line].add(_name(by))
    return needed


def unsatisfied(requires: Iterable[str], lines: Iterable[str]) -> list[str]:
    """Those of ``requires`` that a lock's ``lines`` do not hold in exactly that version."""
    held = {_pin(line) for line in lines}
    return [requirement for requirement in requires if _pin(requirement) not in held]


def _pin(requirement: str) -> tuple[str, str]:
    """Name as PyPI compares names, and version; extras and markers do not matter here."""
    match = _PIN.match(requirement)
    return (_name(match["name"]), match["version"]) if match else ("", requirement)


def _name(requirement: str) -> str:
    """The name in front of extras and version, as PyPI compares names."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[=]", requirement, maxsplit=1)[0]).lower()
