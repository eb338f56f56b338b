"""Python 2, CPython or Jython: packages unpacked into a folder, found by PYTHONPATH or JYTHONPATH.

There are no environments for it any more. The interpreter's own pip fills the folder where it has one; where it has
none (Jython) that of a CPython 2.7 does, or else uv, by a Python 3: what is compiled there is of no use to it, so a
package must also run without, and uv refuses sources that were packed as they were in the days of Python 2.
Nothing is resolved: a contender names every package that it needs, and its lock has their hashes.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import uv

from webdyno.build import pyenv
from webdyno.build.locks import lines_from, write_lines
from webdyno.build.order import Order, Part, app_ingredients
from webdyno.build.tool import Workshop, ask
from webdyno.model.contender import Runtime
from webdyno.model.errors import BuildError
from webdyno.rig.host import Host

_NUMBER = "1"
"""Raise it when what this recipe does changes: it is part of every key."""
_INSTALLED = re.compile(r"(?P<name>.+?)-(?P<version>\d[^-]*)(?:-py[\d.]+)?\.(?:dist|egg)-info")
_COMPILE = "import compileall; compileall.compile_dir('.', quiet=1)"
"""Ends well also when a file is of another Python than this one: nobody imports such a file."""
_HEADERS = {"C_INCLUDE_PATH": "/usr/include", "LD_LIBRARY_PATH": f"/usr/lib/{os.uname().machine}-linux-gnu"}
"""Where fapws3 looks for libev; without them its setup.py walks the whole disk, and links in circles for ever."""


def interpreters(runtime: Runtime, _: Host) -> list[str]:
    """Every one on PATH, then those behind pyenv's shims."""
    return [*_on_path(runtime.find), *pyenv.programs(runtime.find)]


def _on_path(names: list[str]) -> list[str]:
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    programs = [Path(folder or ".") / name for name in names for folder in folders]
    return [str(program.absolute()) for program in programs if os.access(program, os.X_OK) and program.is_file()]


def parts(order: Order) -> list[Part]:
    """The packages, shared by all that ask for the same; and the app."""
    program = order.found.program
    interpreter = ["python-2", _NUMBER, program, order.found.version]
    lines = order.requires if order.lock is None else lines_from(order.lock, order.requires, resolved=False)

    def packages(folder: Path, workshop: Workshop) -> dict[str, str]:
        folder.mkdir(parents=True)
        if not order.requires:
            return {}
        purpose = f"unpack {', '.join(order.requires)}"
        named = ["--requirement", write_lines(folder / "requirements.txt", lines)]
        checked = [] if order.lock is None else ["--require-hashes"]
        argv = [*_installer(order), *checked, "--target", str(folder), *named]
        workshop.run(purpose, argv, folder, **_HEADERS)
        declare_namespaces(folder)
        workshop.run("compile the packages", [program, "-c", _COMPILE], folder)
        versions = installed(folder)
        found = {(_plain(name), version) for name, version in versions.items()}
        if missing := [it for it in order.requires if (_plain(it.split("==")[0]), it.split("==")[1]) not in found]:
            raise BuildError(f"{', '.join(missing)} was installed, but is not there", workshop.tail())
        return versions

    def app(folder: Path, workshop: Workshop) -> dict[str, str]:
        order.host.put(order.sources, folder)
        workshop.run("compile the app", [program, "-m", "compileall", "-q", "."], folder)
        return {}

    def found_by(folder: Path) -> dict[str, str]:
        return {"PYTHONPATH": str(folder), "JYTHONPATH": str(folder)}

    return [
        Part("packages", [*interpreter, *lines], packages, variables=found_by),
        Part("apps", [*interpreter, *app_ingredients(order.sources)], app),
    ]


def installed(folder: Path) -> dict[str, str]:
    """Packages in ``folder`` and their versions, by what every installer leaves beside them."""
    matches = [_INSTALLED.fullmatch(path.name) for path in sorted(folder.iterdir())]
    return {match["name"].lower(): match["version"] for match in matches if match}


def declare_namespaces(folder: Path) -> None:
    """Make packages of those that several distributions share (paste, zope): Python 2 knows no others."""
    for path in folder.glob("*-info/namespace_packages.txt"):
        for name in path.read_text(encoding="utf-8").split():
            (folder.joinpath(*name.split(".")) / "__init__.py").touch()


def _installer(order: Order) -> list[str]:
    for program in [order.found.program, *_on_path(["python2.7"]), *pyenv.programs(["python2.7"])]:
        pip = [program, "-m", "pip"]
        if ask(order.host, [*pip, "--version"]) is not None:
            return [*pip, "install", "--disable-pip-version-check", "--no-deps", "--no-compile"]
    return [uv.find_uv_bin(), "pip", "install", "--no-deps", "--no-compile-bytecode", "--python", sys.executable]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
