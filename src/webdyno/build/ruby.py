"""Ruby: a server and libraries that the distribution packs, as they are; the app's sources are put beside them.

Nothing is installed, for gems that compile need a compiler and Debian has the servers ready: which of them a contender
cannot be without, its ``beside`` says. The gems of the machine are part of the key and of the recorded versions, for
any of them may be loaded.
"""

from __future__ import annotations

from pathlib import Path

from webdyno.build.order import Order, Part, app_ingredients
from webdyno.build.tool import Workshop, ask
from webdyno.model.errors import BuildError

_NUMBER = "1"
"""Raise it when what this recipe does changes: it is part of every key."""
_LIST = "Gem::Specification.reject(&:default_gem?).each { |gem| puts %(#{gem.name}:#{gem.version}) }"
"""Prints every gem but those that come with Ruby itself and have its version."""


def parts(order: Order) -> list[Part]:
    """One folder: the app's files, each Ruby source looked through for errors of syntax."""
    ruby, gems = order.found.program, _gems(order)
    order.require_found(gems, "this machine's Ruby", between=":")

    def app(folder: Path, workshop: Workshop) -> dict[str, str]:
        order.host.put(order.sources, folder)
        for source in sorted([*folder.rglob("*.rb"), *folder.rglob("*.ru")]):
            workshop.run(f"read {source.name}", [ruby, "-c", str(source)], folder)
        return gems

    listed = [f"{name}:{version}" for name, version in sorted(gems.items())]
    ingredients = ["ruby", _NUMBER, ruby, order.found.version, *listed, *app_ingredients(order.sources)]
    return [Part("apps", ingredients, app)]


def _gems(order: Order) -> dict[str, str]:
    """Gems and their versions; of one that is there several times the newest, which Ruby takes too."""
    if order.app.build:
        raise BuildError(f"app {order.app.name} has build commands, but a Ruby app has nothing to build")
    told = ask(order.host, [order.found.program, "-e", _LIST])
    if told is None:
        raise BuildError("could not read which gems are installed: ruby's Gem::Specification failed")
    pairs = [line.partition(":") for line in told.splitlines() if ":" in line]
    return {name: version for name, _, version in sorted(pairs, key=lambda pair: _numbers(pair[2]))}


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]
