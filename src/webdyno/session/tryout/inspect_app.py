"""Run by the Python of somebody's project, never by webdyno's own: import the application and say what it is.

    python inspect_app.py MODULE:ATTRIBUTE FILE      (without a colon: only the interpreter and its packages)

What was found goes into FILE as one JSON object, because the application may print what it likes. Only the standard
library, from Python 3.8 on.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    # Python puts a script's own folder first, and there project.py, profile.py and image.py of webdyno would be found
    # before modules of those names of the user's, or of the standard library.
    sys.path[:] = [path for path in sys.path if path.rstrip("/") != __file__.rpartition("/")[0]]

import difflib
import functools
import importlib
import inspect
import json
import traceback
from types import ModuleType
from typing import Any

TAIL_LINES = 30


def main(spec: str, target: str) -> None:
    """Find out everything, and write it whatever the application did."""
    said: dict[str, Any] = {"version": list(sys.version_info[:3]), "implementation": sys.implementation.name}
    said["base"] = getattr(sys, "_base_executable", "") or sys.executable
    folders = [path for path in sys.path if path.rstrip("/").endswith(("site-packages", "dist-packages"))]
    said["folders"] = list(dict.fromkeys(folders))
    said["packages"] = packages()
    if ":" in spec:
        try:
            said.update(application(*spec.split(":", 1)))
        except BaseException as error:  # SystemExit and KeyboardInterrupt of its own included
            said.update(problem="import-error", sentence=one_line(error), traceback=tail())
    with open(target, "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(said, file)


def packages() -> dict[str, str]:
    """Installed distributions and their versions."""
    from importlib import metadata

    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name and distribution.version:
            found.setdefault(name, distribution.version)
    return found


def application(module_name: str, expression: str) -> dict[str, Any]:
    """What ``module_name:expression`` is; a problem that is the user's own error in import is raised."""
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        parts = module_name.split(".")
        if type(error) is ModuleNotFoundError and error.name in [
            ".".join(parts[:length]) for length in range(1, len(parts) + 1)
        ]:
            return {"problem": "no-module", "sentence": f"there is no module {error.name!r}"}
        raise
    name = expression.split("(")[0].split(".")[0].split("[")[0].strip()
    if not hasattr(module, name):
        return {"problem": "no-attribute", "sentence": missing(module, name)}
    found = eval(expression, vars(module))  # noqa: S307 - the user's own expression, as gunicorn takes it
    kind = interface_of(found)
    if kind == "factory":
        kind = interface_of(found())
        if kind in INTERFACES:
            return {"interface": kind, "expression": f"{expression}()", "made": True, "about": about(found)}
    if kind in INTERFACES:
        return {"interface": kind, "expression": expression, "about": about(found)}
    return {"problem": "no-interface", "sentence": f"{expression} is {about(found)}"}


INTERFACES = ("wsgi", "asgi", "rsgi")


def interface_of(thing: Any) -> str | None:
    """Which interface a thing speaks, "factory" for a function to be called first, None for what is none of these."""
    if hasattr(thing, "__rsgi__"):
        return "rsgi"
    if not callable(thing):
        return None
    plain = inspect.isroutine(thing) or inspect.isclass(thing) or isinstance(thing, functools.partial)
    call = thing if plain else thing.__call__
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return None
    required = [each for each in parameters if each.default is each.empty and each.kind in POSITIONAL]
    if len(required) == 3:
        return "asgi"
    if len(required) == 2:
        return "wsgi"
    return "factory" if not required and inspect.isfunction(thing) else None


POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def about(thing: Any) -> str:
    """A thing for a sentence."""
    kind = thing if inspect.isclass(thing) else type(thing)
    named = f"{kind.__module__}.{kind.__qualname__}"
    return named if kind.__module__ != "builtins" else f"of type {kind.__name__}"


def missing(module: ModuleType, name: str) -> str:
    """There is no such attribute; what is there instead."""
    names = [each for each in vars(module) if not each.startswith("_")]
    able = [each for each in names if interface_of(getattr(module, each)) in INTERFACES and is_no_import(module, each)]
    near = difflib.get_close_matches(name, names, n=1) or able[:1]
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"module {module.__name__!r} has no attribute {name!r}{hint}"


def is_no_import(module: ModuleType, name: str) -> bool:
    """False for functions and classes that the module only took from elsewhere."""
    thing = getattr(module, name)
    plain = inspect.isroutine(thing) or inspect.isclass(thing)
    return not plain or getattr(thing, "__module__", None) == module.__name__


def one_line(error: BaseException) -> str:
    """``ValueError: what it says``."""
    return " ".join(traceback.format_exception_only(type(error), error)[-1].split())


def tail() -> str:
    """The traceback as Python prints it, less the frames of this file and of the import machinery."""
    kind, error, frames = sys.exc_info()
    kept = [
        frame
        for frame in traceback.extract_tb(frames)
        if frame.filename != __file__ and "importlib" not in frame.filename and "<frozen" not in frame.filename
    ]
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(kept)]
    lines += traceback.format_exception_only(kind, error)
    return "\n".join("".join(lines).splitlines()[-TAIL_LINES:])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
