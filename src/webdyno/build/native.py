"""Native: a server that the machine already has, found on PATH; only its configuration is put beside it."""

from __future__ import annotations

from pathlib import Path

from webdyno.build.order import Order, Part, app_ingredients
from webdyno.build.tool import Workshop
from webdyno.model.errors import BuildError

_NUMBER = "1"
"""Raise it when what this recipe does changes: it is part of every key."""


def parts(order: Order) -> list[Part]:
    """One folder: the app's files, as they are."""
    if order.requires:
        raise BuildError(
            f"{order.contender.name} requires {', '.join(order.requires)}, but nothing is installed for a "
            "native server; leave out requires: its version is the one found"
        )
    if order.app.build:
        raise BuildError(f"app {order.app.name} has build commands, but a native server has nothing to build")

    def app(folder: Path, _: Workshop) -> dict[str, str]:
        order.host.put(order.sources, folder)
        return {}

    ingredients = ["native", _NUMBER, order.found.program, order.found.version, *app_ingredients(order.sources)]
    return [Part("apps", ingredients, app)]
