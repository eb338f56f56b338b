"""Installing: the line that brings a server into the project's own environment, and where its programs are then.

Nothing of webdyno's may stand in what is copied: an environment that was made in its cache, or a system's Python that
takes no packages (PEP 668), is one the user makes as ``.venv`` first, by the same line.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from webdyno.build.locks import apart
from webdyno.build.own import canonical
from webdyno.build.project import project_file
from webdyno.model.contender import Contender
from webdyno.session.tryout.project import Project

NEW = ".venv"


@dataclass(frozen=True)
class Home:
    """The environment that a server is to be installed into."""

    programs: str
    """Folder of its programs, as it is written in the project's folder."""
    make: str
    """The line that makes it, with what the project needs; empty where it is there."""
    pip: bool
    """It has pip; else uv installs into it."""

    @property
    def python(self) -> str:
        """Its interpreter."""
        return f"{self.programs}/python"

    def install(self, words: Sequence[str]) -> str:
        """The line that installs these into it."""
        if not words:
            return self.make
        into = [self.python, "-m", "pip", "install"] if self.pip else ["uv", "pip", "install", "--python", self.python]
        return " && ".join(filter(None, [self.make, shlex.join([*into, *words])]))


def home_of(project: Project, cache: Path) -> Home:
    """The project's own environment, or ``.venv`` and the line that makes it."""
    python = Path(os.path.normpath(project.python))
    its_own = (python.parent.parent / "pyvenv.cfg").is_file() and not python.is_relative_to(cache)
    if its_own:
        inside = python.is_relative_to(project.folder)
        programs = python.parent.relative_to(project.folder) if inside else python.parent
        return Home(str(programs), "", "pip" in map(canonical, project.said.packages))
    version = ".".join(map(str, project.said.version[:2]))
    file = project_file(project.folder) if python.is_relative_to(cache) else None
    if file == "uv.lock":
        return Home(f"{NEW}/bin", f"uv sync --python {version}", pip=False)
    if file == "requirements.txt":
        own = f"{NEW}/bin/python -m pip install -r requirements.txt"
        return Home(f"{NEW}/bin", f"python{version} -m venv {NEW} && {own}", pip=True)
    if file == "pyproject.toml":
        own = f"uv pip install --python {NEW}/bin/python {_itself(project.folder)}"
        return Home(f"{NEW}/bin", f"uv venv --python {version} {NEW} && {own}", pip=False)
    return Home(f"{NEW}/bin", f"{shlex.quote(str(python))} -m venv --system-site-packages {NEW}", pip=True)


def _itself(folder: Path) -> str:
    """A project that is built is installed where it lies; one that is not has only needs."""
    text = (folder / "pyproject.toml").read_text(encoding="utf-8", errors="replace")
    return "-e ." if "[build-system]" in text else "-r pyproject.toml"


def installing(original: Contender, home: Home) -> tuple[str, dict[str, str]]:
    """The line that installs a server of the catalogue, and the files that it reads.

    What its packages are held to against what they say themselves only uv takes, and only from files.
    """
    held = {option: (f"webdyno-{option[2:]}.txt", versions) for option, versions in apart(original)}
    if not held:
        return home.install(original.requires), {}
    words = [word for option, (name, _) in held.items() for word in (option, name)]
    files = {name: "".join(f"{version}\n" for version in versions) for name, versions in held.values()}
    return Home(home.programs, home.make, pip=False).install([*words, *original.requires]), files
