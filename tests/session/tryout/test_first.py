"""What the first answers and a failed import say, before anything is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from webdyno.commands.trying.asking import AppAsking
from webdyno.model.errors import AnswerError, BuildError, UsageError
from webdyno.serve.ask import Answer
from webdyno.session.tryout.first import check
from webdyno.session.tryout.project import Said, application

DJANGO = b"<title>Bad Request (400)</title>\n<h1>Bad Request (400)</h1><p></p>"
LOGIN = b"<!doctype html><input type=password name=p>"


def checked(answer: Answer, *, expect: list[str] | None = None, path: str = "/") -> str | None:
    (request,) = AppAsking(path=[path], expect=expect).requests()
    return check(request, answer, lambda: "log", judged=expect is None)


def test_a_redirect_is_refused_until_somebody_says_that_it_is_right() -> None:
    login = Answer(302, None, b"", {"location": "/accounts/login/?next=/private"})
    with pytest.raises(UsageError, match=r"^GET /private: answered with 302, a redirect to /accounts/login/\.\.\., wh"):
        checked(login, path="/private")
    assert checked(login, expect=["status==302"]) is None


def test_a_host_that_django_does_not_know_is_told_as_such_and_other_refusals_as_before() -> None:
    with pytest.raises(UsageError, match=r"ALLOWED_HOSTS \(Django\), or send one that is listed there: -H 'Host: "):
        checked(Answer(400, "text/html", DJANGO))
    with pytest.raises(UsageError, match=r"^GET /: the app answers 400; send what it requires with -H, -m and -b"):
        checked(Answer(400, "text/plain", b"no name given"))
    with pytest.raises(AnswerError, match="the app itself answers 500"):
        checked(Answer(500, None, LOGIN))


def test_what_may_be_a_login_page_is_measured_and_noted() -> None:
    said = checked(Answer(200, "text/html", LOGIN))
    assert said is not None
    assert said.startswith("GET /: answered with 200 and a page with a password field")
    assert checked(Answer(200, "text/html", LOGIN), expect=["status==200"]) is None
    assert checked(Answer(200, "text/html", b"<!doctype html>")) is None


def imported(
    folder: Path, monkeypatch: pytest.MonkeyPatch, sentence: str, variables: dict[str, str] | None = None
) -> str:
    said = Said([3, 11, 7], "cpython", "python", [], {}, problem="import-error", sentence=sentence)
    monkeypatch.setattr("webdyno.session.tryout.project.look", lambda *_: said)
    strapped: Any = None
    with pytest.raises(BuildError) as caught:
        application("shop:app", folder, (Path("python"), "here"), variables or {}, strapped, None)
    return str(caught.value)


def test_a_missing_variable_that_stands_in_a_file_beside_it_is_told_with_the_flag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = "KeyError: 'SHOP_DATABASE'"
    assert imported(tmp_path, monkeypatch, missing) == f"shop:app cannot be imported: {missing}"
    (tmp_path / ".env").write_text("export SHOP_DATABASE=secret\n")
    told = imported(tmp_path, monkeypatch, missing)
    assert told.endswith(f"; SHOP_DATABASE stands in its .env: give that with --env-file {tmp_path}/.env")
    assert "secret" not in told
    unset = "django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty."
    told = imported(tmp_path, monkeypatch, unset)
    assert told.endswith(f"; there is a .env, which it was not given: --env-file {tmp_path}/.env")


def test_nothing_is_said_of_a_file_that_cannot_help(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("SHOP_DATABASE=secret\n")
    missing = "KeyError: 'SHOP_DATABASE'"
    assert "--env-file" not in imported(tmp_path, monkeypatch, missing, {"SHOP_DATABASE": "given"})
    assert "--env-file" not in imported(tmp_path, monkeypatch, "SyntaxError: invalid syntax")
    assert "its Python is python, here" in imported(tmp_path, monkeypatch, "ModuleNotFoundError: No module named 'x'")
    monkeypatch.setenv("SHOP_DATABASE", "exported")
    assert "--env-file" not in imported(tmp_path, monkeypatch, missing)
    monkeypatch.delenv("SHOP_DATABASE")
    (tmp_path / ".env").write_text("not a variable\n")
    assert "--env-file" not in imported(tmp_path, monkeypatch, missing)
