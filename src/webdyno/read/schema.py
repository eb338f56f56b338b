"""A JSON schema per kind of file, for editors that complete and validate TOML (``#:schema`` on a file's first line).

The schemas are made from the nouns themselves, the sentence under each field included, and committed in
``catalogue/schemas/``; a test holds them to the nouns. Rules that only check.py knows (references, say) are not there.
"""

from __future__ import annotations

import ast
import inspect
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from webdyno.read.folders import KINDS


def schema_text(kind: str) -> str:
    """The schema of ``kind`` ("contender", "app" ...) as JSON text."""
    noun = KINDS[kind].noun
    (reference,), parts = msgspec.json.schema_components([noun], ref_template="#/$defs/{name}")
    for struct in _structs(noun):
        for field, sentence in _sentences(struct).items():
            parts[struct.__name__]["properties"][field].setdefault("description", sentence)
    top = parts[noun.__name__]
    top["properties"].pop("name", None)  # a file is named by its file name
    top["required"] = [field for field in top["required"] if field != "name"]
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **reference, "$defs": parts}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> None:
    """Write ``KIND.json`` of every kind into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        (folder / f"{kind}.json").write_text(schema_text(kind), encoding="utf-8")


def _structs(noun: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    """``noun`` and every struct it holds."""
    found: list[type[msgspec.Struct]] = []

    def walk(kind: Any) -> None:
        if isinstance(kind, msgspec.inspect.StructType):
            if kind.cls not in found:
                found.append(kind.cls)
                for field in kind.fields:
                    walk(field.type)
        elif isinstance(kind, msgspec.inspect.ListType):
            walk(kind.item_type)
        elif isinstance(kind, msgspec.inspect.UnionType):
            for choice in kind.types:
                walk(choice)

    walk(msgspec.inspect.type_info(noun))
    return found


def _sentences(struct: type[msgspec.Struct]) -> dict[str, str]:
    """The docstring under each field of ``struct``, by field."""
    body = next(node.body for node in ast.walk(ast.parse(inspect.getsource(struct))) if isinstance(node, ast.ClassDef))
    sentences = {}
    for field, below in pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(sentence))):
                sentences[name] = " ".join(sentence.split())
    return sentences
