"""What is asked of the application: --path with weights, or the GET routes of its own schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from webdyno.commands.loading.targets import Asking
from webdyno.commands.options import flag
from webdyno.model.errors import UsageError
from webdyno.model.workload import Request, Workload
from webdyno.session.target import one_server

_WEIGHTED = re.compile(r"(?P<weight>\d+)=(?P<path>/.*)", re.DOTALL)
SCHEMAS = ("/openapi.json", "/api/openapi.json", "/swagger.json", "/api/schema/?format=json", "/schema/openapi.json")
"""Where applications keep their OpenAPI schema, the commonest first."""
MOST_ROUTES = 20


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AppAsking:
    """The flags that say what is asked of the application."""

    path: Annotated[
        list[str] | None,
        flag("--path", "-p", help="What is asked (repeatable): /api/items; 3=/a is asked three times as often. '/'."),
    ] = None
    openapi: Annotated[
        bool, flag("--openapi", help="Ask the GET routes without required parameters of the app's own schema.")
    ] = False
    method: Annotated[str | None, flag("--method", "-m", "-X", help="GET, or POST when there is a body.")] = None
    header: Annotated[list[str] | None, flag("--header", "-H", help="A header, 'Name: value' (repeatable).")] = None
    body: Annotated[str | None, flag("--body", "-b", help="Body of the request; @FILE reads it from a file.")] = None
    expect: Annotated[
        list[str] | None,
        flag("--expect", help="What a right answer is (repeatable): 'status==200', 'body contains \"x\"', ..."),
    ] = None

    def check(self) -> None:
        """UsageError when the flags contradict each other, or one of them cannot be read."""
        if self.openapi and self.path:
            raise UsageError("--openapi picks the paths itself; give either --openapi or --path")
        if self.openapi and (self.body is not None or (self.method or "GET").upper() != "GET"):
            raise UsageError("--openapi asks GET routes; -m and -b go with --path")
        self.requests(["/"] if self.openapi else None)  # what cannot be asked is said before anything is built

    def requests(self, paths: list[str] | None = None) -> list[Request]:
        """Every request with its weight and what a right answer is; UsageError."""
        targets = one_server(tuple(map(_url, paths or self.path or ["/"])))
        return Asking(method=self.method, header=self.header, body=self.body, expect=self.expect).requests(targets)


def workload_of(requests: list[Request]) -> Workload:
    """Those requests as a workload of the name ``app``."""
    shown = ", ".join(f"{request.method} {request.path}" for request in requests[:3])
    more = f" and {len(requests) - 3} more" if len(requests) > 3 else ""
    return Workload(name="app", title=shown + more, kind="cpu", requests=requests)


def _url(text: str) -> str:
    weighted = _WEIGHTED.fullmatch(text)
    weight, path = (f"{weighted['weight']}=", weighted["path"]) if weighted else ("", text)
    if not path.startswith("/"):
        raise UsageError(f"--path {text}: a path begins with a slash, as in --path /api/items or --path 3=/api/items")
    return f"{weight}http://app{path}"


def routes_of(schema: bytes) -> list[str]:
    """GET routes of an OpenAPI (or Swagger 2) schema that need no parameter, in its order. UsageError for no schema."""
    try:
        said = json.loads(schema)
        paths = said["paths"]
        found = [path for path, item in paths.items() if _asked_plainly(item, said)]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError("--openapi: what the app gave is no OpenAPI schema; name what is asked with --path") from None
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
