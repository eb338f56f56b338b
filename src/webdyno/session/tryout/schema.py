"""The application's own OpenAPI schema: where it is found, and the routes in it that can be asked plainly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from webdyno.model.errors import UsageError

SCHEMAS = ("/openapi.json", "/api/openapi.json", "/swagger.json", "/api/schema/?format=json", "/schema/openapi.json")
"""Where applications keep their OpenAPI schema, the commonest first."""
MOST_ROUTES = 20


def routes_of(schema: bytes) -> list[str]:
    """GET routes of an OpenAPI (or Swagger 2) schema that need no parameter, in its order. UsageError for no schema."""
    try:
        said = json.loads(schema)
        paths = said["paths"]
        found = [path for path, item in paths.items() if _asked_plainly(item, said)]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise UsageError("--openapi: the app's answer is not an OpenAPI schema; name the paths with --path") from None
    base = said.get("basePath", "").rstrip("/") if isinstance(said.get("basePath"), str) else ""
    return [base + path for path in found if "{" not in path and path.startswith("/")][:MOST_ROUTES]


def _asked_plainly(item: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """A GET without required parameters and without a body."""
    if "get" not in item:
        return False
    asked = [*item.get("parameters", []), *item["get"].get("parameters", [])]
    needs = any(each.get("required") for each in _resolved(asked, schema))
    return not needs and not item["get"].get("requestBody", {}).get("required")


def _resolved(parameters: list[Any], schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Parameters, those that are only referred to looked up."""
    for each in parameters:
        found: Any = each
        for key in each.get("$ref", "").lstrip("#/").split("/") if "$ref" in each else []:
            found = (schema if found is each else found)[key]
        yield found
