"""The committed schemas are those of the nouns, and every catalogue file keeps to them."""

from __future__ import annotations

import json
import os
import tomllib
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from webdyno.read import default_folder, schema_text, write_schemas
from webdyno.read.folders import KINDS

SCHEMAS = default_folder() / "schemas"
FILES = [(kind, path) for kind, it in KINDS.items() for path in sorted(default_folder().glob(it.pattern))]


@cache
def validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(schema_text(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_committed_schema_is_up_to_date(kind: str) -> None:
    if os.environ.get("WEBDYNO_BLESS"):
        write_schemas(SCHEMAS)
    assert (SCHEMAS / f"{kind}.json").read_text("utf-8") == schema_text(kind), "set WEBDYNO_BLESS=1 to write it anew"


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text(kind)))


@pytest.mark.parametrize(("kind", "path"), FILES, ids=[str(path.relative_to(default_folder())) for _, path in FILES])
def test_every_catalogue_file_keeps_to_its_schema_and_names_it(kind: str, path: Path) -> None:
    text = path.read_text("utf-8")
    validator(kind).validate(tomllib.loads(text))
    named = text.partition("\n")[0].removeprefix("#:schema ")
    assert (path.parent / named).resolve() == SCHEMAS / f"{kind}.json"


def test_a_schema_refuses_a_name_and_an_unknown_key_and_explains_fields() -> None:
    schema = json.loads(schema_text("contender"))
    part = schema["$defs"]["Contender"]
    assert part["additionalProperties"] is False
    assert "name" not in part["properties"]
    assert part["properties"]["because"]["description"].startswith("Why it is in the catalogue")
    assert "name" in json.loads(schema_text("workload"))["$defs"]["Request"]["required"]
