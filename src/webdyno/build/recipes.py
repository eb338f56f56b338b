"""Which recipe builds for which kind of runtime. A new kind is one file beside this one and one line here."""

from __future__ import annotations

from webdyno.build import go, jvm, native, node, python, python2, ruby, rust
from webdyno.build.order import Recipe

RECIPES: dict[str, Recipe] = {
    "python": Recipe(python.parts, python.interpreters, python.fetch),
    "python-2": Recipe(python2.parts, python2.interpreters),
    "node": Recipe(node.parts),
    "go": Recipe(go.parts),
    "rust": Recipe(rust.parts),
    "jvm": Recipe(jvm.parts, tools=("mvn",)),
    "native": Recipe(native.parts),
    "ruby": Recipe(ruby.parts),
}
