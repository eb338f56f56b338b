"""Is a runtime here, and which version of it; if not, the one line that says why and what would bring it in."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from webdyno.build.npm_runtime import bring, brought, brought_by
from webdyno.build.order import Recipe
from webdyno.build.recipes import RECIPES
from webdyno.build.tool import ask
from webdyno.model.built import Found
from webdyno.model.contender import Runtime
from webdyno.model.errors import MachineError
from webdyno.rig.host import STDOUT, Host


def find_runtime(runtime: Runtime, host: Host, cache: Path | None = None) -> Found | str:
    """The first program that is there, tells its version and is new enough; else one line why not.

    What the machine has comes first, then what was brought into ``cache`` by an earlier ``fetch_runtime``.
    """
    recipe = RECIPES.get(runtime.kind)
    if recipe is None:
        return f"{runtime.name}: webdyno cannot build for {runtime.kind} yet"
    return _look(runtime, recipe, host, cache)


def expect_runtime(runtime: Runtime, host: Host, cache: Path | None = None) -> Found | str:
    """Like ``find_runtime``, but brings nothing and counts also what npm would bring, saying so in ``comes_from``."""
    found = find_runtime(runtime, host, cache)
    npm = brought_by(runtime)
    if isinstance(found, Found) or npm is None or runtime.package is None:
        return found
    whence = f"npm brings {runtime.package} into the cache when it is first needed"
    return Found(runtime=runtime.name, program=npm, version=runtime.package, comes_from=whence)


def fetch_runtime(runtime: Runtime, host: Host, cache: Path | None = None) -> Found | str:
    """Like ``find_runtime``, but brings what is not there, where that can be had without rights.

    Pythons come by uv; a runtime that is an npm package comes by npm, into ``cache``.
    """
    found = find_runtime(runtime, host, cache)
    recipe = RECIPES.get(runtime.kind)
    if isinstance(found, Found) or recipe is None:
        return found
    if recipe.fetch is not None:
        recipe.fetch(runtime, host)
    elif runtime.package is not None and cache is not None:
        if problem := bring(runtime, cache, host):
            return problem
    else:
        return found
    return _look(runtime, recipe, host, cache)


def _look(runtime: Runtime, recipe: Recipe, host: Host, cache: Path | None) -> Found | str:
    for tool in recipe.tools:
        if shutil.which(tool) is None:
            return f"{tool} was not found, and {runtime.language} is built with it; to get it: {runtime.install}"
    why = f"{runtime.language} was not found (looked for {', '.join(runtime.find)})"
    for program in [*recipe.candidates(runtime, host), *brought(runtime, cache)]:
        try:
            told = _told([program, *runtime.version], host)
        except MachineError as error:
            why = str(error)
            continue
        if not told:
            why = f"{program} does not report its version"
        elif runtime.minimum and _numbers(told) < _numbers(runtime.minimum):
            why = f"{program} is {told.splitlines()[0]}, and {runtime.minimum} or newer is needed"
        else:
            return Found(runtime=runtime.name, program=program, version=told.splitlines()[0])
    return f"{why}; to get it: {runtime.install}"


def _told(argv: list[str], host: Host) -> str:
    """What a program says of its version; some (nginx) say it on standard error. MachineError as of ``heard``."""
    said = (ask(host, argv, is_short=True) or "").strip()
    return said or (ask(host, argv, errors=STDOUT, is_short=True) or "").strip()


def _numbers(text: str) -> list[int]:
    """The first version number in ``text``, with a dot if there is one: "h2o version 2.2.5" -> [2, 2, 5]."""
    match = re.search(r"\d+(?:\.\d+)+", text) or re.search(r"\d+", text)
    return [int(part) for part in match[0].split(".")] if match else []
