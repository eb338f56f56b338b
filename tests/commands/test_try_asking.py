"""What can be asked of an application: paths with weights, a method, headers, a body."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdyno.commands.trying.asking import AppAsking
from webdyno.model.errors import UsageError


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
        ({"openapi": True, "body": "x"}, "--openapi requests GET routes"),
        ({"openapi": True, "method": "post"}, "--openapi requests GET routes"),
    ],
)
def test_openapi_excludes_paths_and_bodies(flags: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        AppAsking(**flags).check()  # type: ignore[arg-type]


def test_the_first_equals_sign_of_a_path_parts_it_from_its_weight() -> None:
    targets = AppAsking(path=["3=/login?next=/home", "/a=/b"]).targets_below("http://127.0.0.1:1/")
    assert [(target.weight, target.path) for target in targets] == [(3, "/login?next=/home"), (1, "/a=/b")]
