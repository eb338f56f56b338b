"""Node: the app's sources with what its package-lock.json names, put there by ``npm ci`` without install scripts."""

from __future__ import annotations

from pathlib import Path

import msgspec

from webdyno.build.order import Order, Part, app_ingredients
from webdyno.build.tool import Workshop
from webdyno.model.errors import BuildError

_NUMBER = "1"
"""Raise it when what this recipe does changes: it is part of every key."""
_LOCK = "package-lock.json"


class Package(msgspec.Struct):
    """One that npm has installed; ``integrity`` is the hash that it has compared its file with."""

    version: str = ""
    integrity: str = ""


class _Installed(msgspec.Struct):
    """What npm writes down about a node_modules folder it has filled."""

    packages: dict[str, Package] = {}


def parts(order: Order) -> list[Part]:
    """One folder: node looks for packages beside the sources."""
    locked = (order.sources / _LOCK).is_file()
    if order.requires and not locked:
        raise BuildError(
            f"{order.sources} needs a {_LOCK} that holds {', '.join(order.requires)}; npm install writes it"
        )

    def app(folder: Path, workshop: Workshop) -> dict[str, str]:
        order.host.put(order.sources, folder)
        if not locked:
            return {}
        npm = _beside(order.found.program, "npm")
        install = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev"]
        workshop.run(f"install what {_LOCK} holds", install, folder)
        versions = _versions(folder)
        order.require_found(versions, _LOCK)
        return versions

    ingredients = ["node", _NUMBER, order.found.version, *order.requires, *app_ingredients(order.sources)]
    return [Part("apps", ingredients, app, programs="node_modules/.bin")]


def _beside(program: str, tool: str) -> str:
    """``tool`` from the folder of ``program`` when it is there, so that both belong together; else from PATH."""
    own = Path(program).with_name(tool)
    return str(own) if own.exists() else tool


def installed(folder: Path) -> list[tuple[str, Package]]:
    """Packages that npm has put into ``folder``, by name; those that the app itself sees come first. BuildError."""
    written = folder / "node_modules" / ".package-lock.json"
    if not written.is_file():
        return []
    try:
        packages = msgspec.json.decode(written.read_bytes(), type=_Installed).packages
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BuildError(f"{written} is not in npm's format ({error}): build the contender again") from None
    paths = sorted(packages, key=lambda path: path.count("node_modules/"))
    return [(path.rpartition("node_modules/")[2], packages[path]) for path in paths]


def _versions(folder: Path) -> dict[str, str]:
    """Packages by name; of one that is there several times, the version the app itself sees."""
    return {name: package.version for name, package in reversed(installed(folder))}
