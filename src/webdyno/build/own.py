"""Own: an application that is somebody's project, with a server of the catalogue, and the project left as it is.

A server gets an environment of ours, made with the project's own interpreter. What the project has installed stands as
a constraint while the server is: they agree on every package both need, or the server is told not to fit, exactly as
if it had been installed into the project. The environment then sees the project's packages by a ``.pth`` line, its
own first; where both have a package, it is the same version, but for what the catalogue pins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import msgspec
import uv

from webdyno.build.locks import apart, write_lines, written_apart
from webdyno.build.make import assemble
from webdyno.build.order import Order, Part, app_ingredients
from webdyno.build.packages import packages_in
from webdyno.build.tool import Workshop
from webdyno.model.built import Built, Found
from webdyno.model.contender import App, Contender, Runtime
from webdyno.rig.host import Host

_NUMBER = "2"
"""Raise it when what these recipes do changes: it is part of every key."""
_PIN = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)")
APP = "webdyno_app"
"""Module that finds the application by the variable WEBDYNO_APP; what serves by a script of ours imports it."""
_APP = """\
import importlib
import os

module, _, expression = os.environ["WEBDYNO_APP"].partition(":")
app = eval(expression, vars(importlib.import_module(module)))
"""


@dataclass(frozen=True, kw_only=True)
class Packages:
    """A project's interpreter and what is installed for it."""

    program: str
    """The interpreter that its environment was made with."""
    version: str
    folders: list[str]
    """Its site-packages."""
    installed: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class OwnJob:
    """A server to be built for a project: the catalogue's contender with its app, and where that app's sources are."""

    contender: Contender
    app: App
    runtime: Runtime
    sources: Path


def build_own(job: OwnJob, packages: Packages, cache: Path, host: Host, interrupted: Event) -> Built:
    """The server's environment and the scripts it is served by; ``directory`` is the folder of those. BuildError."""
    found = Found(runtime=job.runtime.name, program=packages.program, version=f"Python {packages.version}")
    order = Order(job.contender, job.app, job.runtime, found, job.sources, None, cache, host, interrupted)
    built = assemble(order, [_environment(order, packages), _scripts(order)])
    return msgspec.structs.replace(built, versions={**packages.installed, **built.versions})


def _environment(order: Order, packages: Packages) -> Part:
    constraints = constraints_of(packages.installed, order.contender.requires)
    folders = [f"folder={path}" for path in packages.folders]
    apart_ = [word for option, versions in apart(order.contender) for word in (option, *versions)]
    made_with = [order.found.program, order.found.version]

    def make(folder: Path, workshop: Workshop) -> dict[str, str]:
        python = str(folder / "bin" / "python")
        venv = [uv.find_uv_bin(), "venv", "--no-project", "--python", order.found.program, str(folder)]
        workshop.run("make an environment", venv, folder.parent)
        if order.contender.requires:
            _install(order, folder, python, constraints, workshop)
        (site,) = folder.glob("lib/python*/site-packages")
        lines = "; ".join(f"site.addsitedir({path!r})" for path in packages.folders)
        (site / "webdyno_project.pth").write_text(f"import site; {lines or 'pass'}\n", encoding="utf-8")
        return packages_in(python, workshop)

    ingredients = ["own", _NUMBER, *made_with, *order.contender.requires, *constraints, *folders, *apart_]
    return Part("environments", ingredients, make, programs="bin")


def _install(order: Order, folder: Path, python: str, constraints: Sequence[str], workshop: Workshop) -> None:
    requires = write_lines(folder / "requirements.txt", order.contender.requires)
    argv = [uv.find_uv_bin(), "pip", "install", "--python", python, "--compile-bytecode", "--link-mode", "hardlink"]
    argv += ["--requirements", requires, *written_apart(order.contender, folder)]
    if constraints:
        argv += ["--constraints", write_lines(folder / "constraints.txt", constraints)]
    names = ", ".join(order.contender.requires)
    workshop.run(f"install {names} beside the project's packages", argv, folder, UV_NO_PROGRESS="1")


def constraints_of(installed: Mapping[str, str], requires: Sequence[str]) -> list[str]:
    """Everything installed in exactly its version, but for what the server itself requires."""
    own = {named(requirement) for requirement in requires}
    return sorted(f"{name}=={version}" for name, version in installed.items() if canonical(name) not in own)


def canonical(name: str) -> str:
    """As PEP 503 compares names of packages."""
    return re.sub(r"[-_.]+", "-", name).lower()


def named(requirement: str) -> str:
    """The package that a requirement names, as ``canonical`` writes it; empty where it names none."""
    match = _PIN.match(requirement)
    return canonical(match[0]) if match else ""


def _scripts(order: Order) -> Part:
    """The scripts by which the catalogue starts servers without a command line, with the application put in."""

    def make(folder: Path, _: Workshop) -> dict[str, str]:
        folder.mkdir(parents=True)
        (folder / f"{APP}.py").write_text(_APP, encoding="utf-8")
        for source in order.sources.glob("*.py"):
            if source.name == "app.py":
                (folder / "webdyno_nothing.py").write_bytes(source.read_bytes())
            else:
                (folder / source.name).write_text(script_for(source, APP, "app"), encoding="utf-8")
        return {}

    return Part("apps", ["own", _NUMBER, _APP, *app_ingredients(order.sources)], make)


def script_for(script: Path, module: str, name: str) -> str:
    """A script of the catalogue with the application imported from elsewhere."""
    taken = f"from {module} import {name}" + ("" if name == "app" else " as app")
    return script.read_text(encoding="utf-8").replace("from app import app\n", f"{taken}\n")
