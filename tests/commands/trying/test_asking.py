"""What is asked: paths with weights, an app's own schema, a file of variables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from webdyno.commands.trying.asking import SCHEMAS, AppAsking, routes_of
from webdyno.commands.trying.envfile import read_env_file
from webdyno.commands.trying.first import _routes
from webdyno.commands.trying.running import _targets
from webdyno.model.errors import UsageError
from webdyno.model.workload import Request
from webdyno.serve.ask import Answer
from webdyno.serve.verify import Asker


def test_paths_have_weights_and_share_method_headers_and_expectation() -> None:
    asking = AppAsking(path=["3=/a", "/b?x=1"], method="put", header=["X-Y: z"], body="{}", expect=["status==201"])
    requests = asking.requests()
    assert [(r.method, r.path, r.weight, r.body) for r in requests] == [
        ("PUT", "/a", 3, "{}"),
        ("PUT", "/b?x=1", 1, "{}"),
    ]
    assert all(r.headers == [("X-Y", "z")] and r.expect.statuses == [201] for r in requests)


def test_without_a_path_the_root_is_asked_and_any_good_status_is_right() -> None:
    (request,) = AppAsking().requests()
    assert (request.path, request.method) == ("/", "GET")
    assert set(request.expect.statuses) == set(range(200, 400))


def test_a_body_from_a_file_makes_it_a_post(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text('{"a":1}')
    (request,) = AppAsking(body=f"@{tmp_path / 'body.json'}").requests()
    assert (request.method, request.body) == ("POST", '{"a":1}')


@pytest.mark.parametrize("path", ["api/items", "http://x/", "3=api", "=/x"])
def test_a_path_begins_with_a_slash(path: str) -> None:
    with pytest.raises(UsageError, match="a path begins with a slash"):
        AppAsking(path=[path]).requests()


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"openapi": True, "path": ["/a"]}, "--openapi picks the paths itself"),
        ({"openapi": True, "body": "x"}, "--openapi asks GET routes"),
        ({"openapi": True, "method": "post"}, "--openapi asks GET routes"),
    ],
)
def test_openapi_excludes_paths_and_bodies(flags: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        AppAsking(**flags).check()  # type: ignore[arg-type]


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
    with pytest.raises(UsageError, match="is no OpenAPI schema"):
        routes_of(text)


def test_an_env_file_is_read_as_shells_and_dotenv_write_it(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(
        "# comment\n\nA=1\nexport B = two words # said\nC='a # b'\nD=\"x\\ny\" # end\nE=\nF=http://u:p@h/#frag\n"
    )
    assert read_env_file(file) == {
        "A": "1",
        "B": "two words",
        "C": "a # b",
        "D": "x\ny",
        "E": "",
        "F": "http://u:p@h/#frag",
    }


def test_a_line_that_is_no_variable_is_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\nnonsense\n")
    with pytest.raises(UsageError, match=r"\.env:2: write NAME=value"):
        read_env_file(tmp_path / ".env")
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_env_file(tmp_path / "none")


def answering(**answers: tuple[int, bytes]) -> Asker:
    """An app that answers these paths, and every other one with a page."""

    def ask(request: Request) -> Answer:
        status, body = answers.get(request.path.lstrip("/"), (200, b"<!doctype html>"))
        return Answer(status, None, body)

    return ask


def test_a_page_for_every_path_does_not_hide_the_schema() -> None:
    *_, last = SCHEMAS
    app = answering(**{last.lstrip("/"): (200, schema(a={"get": {}}, b={"get": {}})), "b": (404, b"")})
    notes: list[str] = []
    assert [request.path for request in _routes(AppAsking(openapi=True), app, notes)] == ["/a"]
    assert notes == ["/b is left out: it answers 404"]
    with pytest.raises(UsageError, match="what the app gave is no OpenAPI schema"):
        _routes(AppAsking(openapi=True), answering(), notes)
    with pytest.raises(UsageError, match=r"the app has no schema \(asked for /"):
        _routes(AppAsking(openapi=True), answering(**{path.lstrip("/"): (404, b"") for path in SCHEMAS}), notes)


def test_the_first_equals_sign_of_a_path_parts_it_from_its_weight() -> None:
    targets = _targets("http://127.0.0.1:1/", AppAsking(path=["3=/login?next=/home", "/a=/b"]))
    assert [(target.weight, target.path) for target in targets] == [(3, "/login?next=/home"), (1, "/a=/b")]
