"""Rust: the app's crate, compiled by the commands its file names, with exactly the crates of its Cargo.lock.

What cargo compiles on the way to the program lies in one folder of the cache for all apps: most of them need the same
hundred crates in the same versions, and cargo tells apart what differs (compiler, features, profile). It locks that
folder, so builds wait for each other. A cargo before 1.91 knows nothing of it and compiles everything for each app.
https://doc.rust-lang.org/cargo/reference/build-cache.html
"""

from __future__ import annotations

from pathlib import Path

from webdyno.build.order import Order, Part, app_ingredients
from webdyno.build.tool import Workshop, ask

_NUMBER = "1"
"""Raise it when what this recipe does changes: it is part of every key."""
_TARGET = "target"
_SHARED = "crates"


def parts(order: Order) -> list[Part]:
    """One folder: sources and the program made from them."""

    def app(folder: Path, workshop: Workshop) -> dict[str, str]:
        order.host.put(order.sources, folder)
        # a target folder set by the user would be shared, and whose program is in it then is anybody's guess
        settings = {
            "CARGO_TARGET_DIR": str(folder / _TARGET),
            "CARGO_BUILD_BUILD_DIR": str(order.cache / _SHARED),
            "CARGO_INCREMENTAL": "0",
        }
        for command in order.app.build:
            argv = [order.found.program if command[0] == "cargo" else command[0], *command[1:]]
            workshop.run(f"compile the app ({' '.join(command)})", argv, folder, **settings)
        versions = _versions(order, folder)
        order.require_found(versions, "Cargo.lock")
        return versions

    commands = [word for command in order.app.build for word in command]
    ingredients = ["rust", _NUMBER, order.found.version, *commands, *order.requires, *app_ingredients(order.sources)]
    return [Part("apps", ingredients, app, programs=f"{_TARGET}/release")]


def _versions(order: Order, folder: Path) -> dict[str, str]:
    """Crates that went into the program, as cargo resolves them from the lock: ``serde v1.0.229``."""
    tree = ["tree", "--locked", "--manifest-path", str(folder / "Cargo.toml"), "--edges", "normal", "--prefix", "none"]
    told = ask(order.host, [order.found.program, *tree, "--format", "{p}"]) or ""
    lines = [line.split() for line in told.splitlines()[1:]]
    return {words[0]: words[1].removeprefix("v") for words in lines if len(words) > 1}
