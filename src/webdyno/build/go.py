"""Go: the app's sources, compiled by the commands its file names, with the modules of go.sum and no other toolchain."""

from __future__ import annotations

from pathlib import Path

from webdyno.build.order import Order, Part, app_ingredients
from webdyno.build.tool import Workshop, ask

_NUMBER = "1"
"""Raise it when what this recipe does changes: it is part of every key."""
_SETTINGS = {"GOFLAGS": "-trimpath -mod=readonly -buildvcs=false", "GOTOOLCHAIN": "local", "GOWORK": "off"}


def parts(order: Order) -> list[Part]:
    """One folder: sources and the program made from them."""

    def app(folder: Path, workshop: Workshop) -> dict[str, str]:
        order.host.put(order.sources, folder)
        for command in order.app.build:
            argv = [order.found.program if command[0] == "go" else command[0], *command[1:]]
            workshop.run(f"compile the app ({' '.join(command)})", argv, folder, **_SETTINGS)
        versions = _versions(order, folder)
        order.require_found(versions, "go.mod")
        return versions

    commands = [word for command in order.app.build for word in command]
    ingredients = ["go", _NUMBER, order.found.version, *commands, *order.requires, *app_ingredients(order.sources)]
    return [Part("apps", ingredients, app, programs=".")]


def _versions(order: Order, folder: Path) -> dict[str, str]:
    """Modules that are in the compiled programs of ``folder``, as the programs themselves tell."""
    told = ask(order.host, [order.found.program, "version", "-m", str(folder)]) or ""
    lines = [line.split() for line in told.splitlines()]
    return {words[1]: words[2] for words in lines if words[:1] == ["dep"] and len(words) > 2}
