"""Python: an environment per distinct set of requirements, made by uv, and the app's sources beside it.

uv comes with webdyno as a package, so nothing has to be there but an interpreter. Bytecode is compiled while building:
otherwise the first start of a contender would be slower than its later ones. With a lock, exactly the lock is
installed, by files with the hashes it names: wheels where there are any, which uv prefers. Without one uv resolves, and
the versions it chose are recorded like all others.
"""

from __future__ import annotations

from pathlib import Path

import uv

from webdyno.build import pyenv
from webdyno.build.locks import apart, build_lines, lines_from, write_lines, written_apart
from webdyno.build.order import Order, Part, app_ingredients
from webdyno.build.packages import packages_in
from webdyno.build.tool import Workshop, ask
from webdyno.model.contender import Runtime
from webdyno.rig.host import Host

_NUMBER = "1"
"""Raise it when what this recipe does changes: it is part of every key."""


def interpreters(runtime: Runtime, host: Host) -> list[str]:
    """What uv finds, environments left aside, which belong to somebody; then those that uv does not look behind."""
    find = [uv.find_uv_bin(), "python", "find", "--no-project", "--no-python-downloads", "--system"]
    found = [ask(host, [*find, version]) for version in runtime.find]
    names = [f"python{version}" if version[0].isdigit() else version for version in runtime.find]
    return [*(path.strip() for path in found if path and path.strip()), *pyenv.programs(names)]


def fetch(runtime: Runtime, host: Host) -> None:
    """uv installs the interpreter for this user, as it does for everybody who works with uv."""
    ask(host, [uv.find_uv_bin(), "python", "install", "--no-bin", runtime.find[0]])


def parts(order: Order) -> list[Part]:
    """The environment, shared by all that ask for the same; and the app."""
    program = order.found.program
    interpreter = ["python", _NUMBER, program, order.found.version]
    lines = _lines(order)

    def environment(folder: Path, workshop: Workshop) -> dict[str, str]:
        tool, python = uv.find_uv_bin(), str(folder / "bin" / "python")
        make = [tool, "venv", "--no-project", "--python", program, str(folder)]
        workshop.run("make an environment", make, folder.parent)
        if lines:
            _install(folder, workshop, [tool, "pip", "install", "--python", python], lines, order)
        return packages_in(python, workshop)

    def app(folder: Path, workshop: Workshop) -> dict[str, str]:
        order.host.put(order.sources, folder)
        workshop.run("compile the app", [program, "-m", "compileall", "-q", "."], folder)
        return {}

    return [
        Part("environments", [*interpreter, *lines, *_apart_ingredients(order)], environment, programs="bin"),
        Part("apps", [*interpreter, *app_ingredients(order.sources)], app),
    ]


def _apart_ingredients(order: Order) -> list[str]:
    """None where nothing is said, so that such an environment's key is what it always was."""
    if order.lock is not None:
        return _built_with(order.lock)
    return [word for option, versions in apart(order.contender) for word in (option, *versions)]


def _built_with(lock: Path) -> list[str]:
    return build_lines(lock.read_text(encoding="utf-8"))


def _lines(order: Order) -> list[str]:
    """What is to be installed: the lock, when there is one and it still fits."""
    return order.requires if order.lock is None else lines_from(order.lock, order.requires)


def _install(folder: Path, workshop: Workshop, install: list[str], lines: list[str], order: Order) -> None:
    options = ["--compile-bytecode", "--link-mode", "hardlink"]
    if order.lock is None:
        options += written_apart(order.contender, folder)
    else:
        options += ["--no-deps", "--require-hashes"]
        if built_with := _built_with(order.lock):
            options += ["--build-constraints", write_lines(folder / "build-constraints.txt", built_with)]
    requirements = write_lines(folder / "requirements.txt", lines)
    argv = [*install, *options, "--requirements", requirements]
    workshop.run(f"install {', '.join(order.requires)}", argv, folder, UV_NO_PROGRESS="1")
