"""The routes of an app's own schema: which are asked, and what is said of those that are not."""

from __future__ import annotations

import json

import pytest

from webdyno.commands.trying.asking import AppAsking
from webdyno.model.errors import UsageError
from webdyno.model.workload import Request
from webdyno.serve.ask import Answer
from webdyno.serve.verify import Asker
from webdyno.session.tryout.first import _routes
from webdyno.session.tryout.schema import SCHEMAS, routes_of


def schema(**paths: object) -> bytes:
    parameters = {"Needed": {"name": "q", "in": "query", "required": True}, "Free": {"name": "n", "in": "query"}}
    document = {"openapi": "3.1.0", "paths": {f"/{name}": item for name, item in paths.items()}}
    return json.dumps(document | {"components": {"parameters": parameters}}).encode()


def test_only_gets_without_required_parameters_are_picked() -> None:
    found = routes_of(
        schema(
            plain={"get": {}},
            optional={"get": {"parameters": [{"name": "q", "in": "query", "required": False}]}},
            free={"get": {"parameters": [{"$ref": "#/components/parameters/Free"}]}},
            needed={"get": {"parameters": [{"$ref": "#/components/parameters/Needed"}]}},
            shared={"parameters": [{"name": "h", "in": "header", "required": True}], "get": {}},
            posted={"post": {}},
            **{"items/{id}": {"get": {}}},
        )
    )
    assert found == ["/plain", "/optional", "/free"]


def test_swagger_2_paths_stand_below_their_base() -> None:
    assert routes_of(json.dumps({"swagger": "2.0", "basePath": "/v1/", "paths": {"/a": {"get": {}}}}).encode()) == [
        "/v1/a"
    ]


@pytest.mark.parametrize("text", [b"<html>", b"[]", b"{}", b'{"paths": 3}', b'{"paths": {"/a": {"get": 1}}}'])
def test_what_is_no_schema_is_said(text: bytes) -> None:
    with pytest.raises(UsageError, match="is not an OpenAPI schema"):
        routes_of(text)


def answering(**answers: tuple[int, bytes]) -> Asker:
    """An app that answers these paths, and every other one with a page."""

    def ask(request: Request) -> Answer:
        status, body = answers.get(request.path.lstrip("/"), (200, b"<!doctype html>"))
        return Answer(status, None, body)

    return ask


def test_a_page_for_every_path_does_not_hide_the_schema() -> None:
    *_, last = SCHEMAS
    app = answering(**{last.lstrip("/"): (200, schema(a={"get": {}}, b={"get": {}})), "b": (404, b"")})
    asked, notes = AppAsking(openapi=True).questions, list[str]()
    assert [request.path for request in _routes(asked, app, notes)] == ["/a"]
    assert notes == ["/b is left out: it answers 404"]
    with pytest.raises(UsageError, match="the app's answer is not an OpenAPI schema"):
        _routes(asked, answering(), notes)
    with pytest.raises(UsageError, match=r"the app has no schema \(asked for /"):
        _routes(asked, answering(**{path.lstrip("/"): (404, b"") for path in SCHEMAS}), notes)
