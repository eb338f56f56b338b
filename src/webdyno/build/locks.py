"""Locks: exact versions of everything a Python contender needs, so that it is the same next year, with the SHA-256 of
every file that an index has of each, so that it is the same files.

A contender names the few requirements that matter, pinned; its lock names all of them, for every platform, and behind
``BUILT_WITH`` what sdists among them are built with. It is written by webdyno's developers (``lock``) and held to the
contender by a test (``unsatisfied``, without network).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import uv

from webdyno.build.tool import ask
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import BuildError, MachineError, UsageError
from webdyno.rig.host import Host

BUILT_WITH = "# built with"
"""Line of a lock behind which stands what builds its sdists: installed for that, and not for the contender."""
KINDS = ("python", "python-2")
"""Kinds of runtimes whose contenders have a lock."""
_PIN = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==(?P<version>[^\s;]+)")


def lock(
    contender: Contender, app: App, runtime: Runtime, target: Path, host: Host, sharing: Sequence[Contender] = ()
) -> None:
    """Resolve everything again and write it to ``target``; MachineError when that cannot be done.

    With several contenders ``sharing`` the lock, it holds what any of them needs and says of each line who needs it;
    what they pin then overrules what a package pins itself, which is how cyclone lives with a Twisted of today.
    For Python 2 nothing is resolved: its contenders name every package.
    """
    if runtime.kind not in KINDS:
        raise UsageError(
            f"{contender.name}: only Python contenders have a lock; {runtime.kind} keeps its own in the app"
        )
    together = len(sharing) > 1
    requires = sorted({*app.requires, *(one for each in sharing or [contender] for one in each.requires)})
    with TemporaryDirectory(prefix="webdyno-lock-") as folder:
        options = written_apart(contender, Path(folder))
        if together:
            options += ["--overrides", write_lines(Path(folder) / "shared.txt", requires)]
        else:
            options.append("--no-annotate")
        if runtime.kind == "python-2":
            written = "".join(_looked_up(contender, requirement, target, host) for requirement in requires)
        else:
            written = _resolved(contender, requires, [*_python(runtime), *options], host)
    written = re.sub(r"--overrides? \S+", "the catalogue", written)
    if built_with := contender.build_with or _built_before(target):
        built = _resolved(contender, built_with, ["--no-deps", "--no-annotate"], host)
        written += f"{BUILT_WITH}\n{built}"
    head = f"# shared by the contenders of {target.stem}" if together else f"# locked for {', '.join(requires)}"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f"{head}; written by webdyno\n{written}", encoding="utf-8")


def _built_before(target: Path) -> list[str]:
    """What the lock named until now to build with: any would do, so this stays and no file of the contender says it."""
    if not target.is_file():
        return []
    return without_hashes(build_lines(target.read_text(encoding="utf-8")))


def _python(runtime: Runtime) -> list[str]:
    """For which Pythons is resolved."""
    version = runtime.minimum or re.sub(r"^\D+", "", runtime.find[0])  # uv calls one "pypy3.9"
    return ["--universal", "--python-version", version]


def _resolved(contender: Contender, requires: Sequence[str], options: Sequence[str], host: Host) -> str:
    """``requires`` with all that ``options`` lead to, each line with its hashes."""
    argv = [uv.find_uv_bin(), "pip", "compile", "--quiet", "--generate-hashes", "--no-header", *options, "-"]
    written = ask(host, argv, stdin="\n".join(requires).encode())
    if written is None:
        raise MachineError(
            f"{contender.name}: uv could not resolve {', '.join(requires)}; are all of them on the index?"
        )
    return written


def _looked_up(contender: Contender, requirement: str, target: Path, host: Host) -> str:
    """``requirement`` of Python 2 with its hashes: as uv finds it, or as ``target`` has it already.

    uv passes over sources that were packed as they were in the days of Python 2 (Twisted-13.0.0.tar.bz2).
    """
    try:
        return _resolved(contender, [requirement], ["--no-deps", "--no-annotate"], host)
    except MachineError as error:
        known = locked_lines(target.read_text(encoding="utf-8")) if target.is_file() else []
        for line in known:
            if _pin(line) == _pin(requirement):
                return re.sub(r" +--hash=", " \\\\\n    --hash=", line) + "\n"
        raise MachineError(f"{error} Else write it into {target} yourself, with --hash=sha256: and its hash") from None


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
    """The requirements of a lock, each with its hashes in one line; comments and blank lines left out."""
    return _lines(_parted(text)[0])


def build_lines(text: str) -> list[str]:
    """What a lock's sdists are built with, likewise."""
    return _lines(_parted(text)[1])


def without_hashes(lines: Iterable[str]) -> list[str]:
    """For people: names, versions and conditions."""
    return [line.partition("--hash=")[0].strip() for line in lines]


def _parted(text: str) -> tuple[str, str]:
    """What is installed and what that is built with, both with the lines joined that hashes broke."""
    installed, _, built = re.sub(r"\s*\\\n\s*", " ", text).partition(f"{BUILT_WITH}\n")
    return installed, built


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def lines_from(lock: Path, requires: Sequence[str], *, resolved: bool = True) -> list[str]:
    """What of ``lock`` is to be installed for ``requires``: what they lead to, or, not ``resolved``, themselves alone.

    BuildError when it does not hold them, or does not say by which files.
    """
    text = lock.read_text(encoding="utf-8", errors="replace")  # what is no text is in no line that is asked for
    lines = lines_for(requires, text)
    if not resolved:
        wanted = {_pin(requirement) for requirement in requires}
        lines = [line for line in lines if _pin(line) in wanted]
    if missing := unsatisfied(requires, lines):
        raise BuildError(f"{lock} does not hold {', '.join(missing)}; lock the contender again")
    bare = [line for line in [*lines, *build_lines(text)] if "--hash=" not in line]
    if bare:
        raise BuildError(f"{lock} has no hash of {bare[0]}; lock the contender again")
    return lines


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
    for written in _parted(text)[0].splitlines():
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
