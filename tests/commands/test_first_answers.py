"""What was measured by mistake is said: by ``load`` when it is over, by ``capacity`` before it begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.commands.test_load import recorded
from tests.serve.scripted import scripted
from webdyno.commands import call
from webdyno.commands import load as command
from webdyno.commands.loading.expecting import expectation
from webdyno.load.driver import Tls, Way
from webdyno.model.workload import Request
from webdyno.serve.ask import Answer, NoAnswer
from webdyno.session import odd_answers as first
from webdyno.session.engine import Loaded

LOGIN = b'<!doctype html><form><input type="password"></form>'
HTML = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"


def loaded(head: str | None, rules: list[str] | None = None, way: Way | None = None, **asked: Any) -> Loaded:
    """A finished load whose first answer began so."""
    like = recorded("ok")
    request = Request(name="r", path="/private", expect=expectation(rules, "GET"), **asked)
    order = msgspec.structs.replace(like.order, requests=[request], way=way or Way())
    return Loaded(order, like.slices, like.summary | {"first_answer": head})


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Requests that were asked once more, each answered by a login page."""
    asked: list[Request] = []

    def ask(host: str, port: int, request: Request, *_: object) -> Answer:
        asked.append(request)
        return Answer(200, "text/html", LOGIN, {"content-type": "text/html"})

    monkeypatch.setattr(first, "ask", ask)
    return asked


def test_a_redirect_is_told_by_its_head_alone(answers: list[Request]) -> None:
    said = first.odd_answer(loaded("HTTP/1.1 302 Found\r\nServer: x\r\nLocation: /login?next=/private\r\n"))
    assert said is not None
    assert said.startswith("GET /private: answered with 302, a redirect to /login..., which looks like a login;")
    assert "--expect 'status==302'" in said
    assert answers == []


def test_a_page_is_looked_at_when_the_load_is_over(answers: list[Request]) -> None:
    said = first.odd_answer(loaded(HTML))
    assert said is not None
    assert said.startswith("GET /private: answered with 200 and a page with a password field")
    assert len(answers) == 1


@pytest.mark.parametrize(
    ("head", "changes"),
    [
        (HTML, {"rules": ["body contains 'Welcome'"]}),  # somebody said what is right
        (HTML, {"method": "POST"}),  # would be one order more
        (HTML, {"way": Way(unix="/run/x")}),
        ("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", {}),
        ("HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n", {}),
        ("HTTP/1.1 304 Not Modified\r\n", {}),
        ("HTTP/1.1 302 Found\r\nLocation: /login\r\n", {"rules": ["status==302"]}),
        (None, {}),
    ],
)
def test_nothing_is_said_or_asked_where_there_is_no_reason(
    head: str | None, changes: dict[str, Any], answers: list[Request]
) -> None:
    assert first.odd_answer(loaded(head, **changes)) is None
    assert answers == []


def test_a_server_that_does_not_answer_any_more_is_told_by_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object) -> Answer:
        raise NoAnswer("there was none within 5 s")

    monkeypatch.setattr(first, "ask", silent)
    assert first.odd_answer(loaded(HTML)) is None


def test_load_says_it_first_among_its_doubts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        command, "carry_out", lambda order, watch, **_: loaded("HTTP/1.1 301 Moved\r\nLocation: https://x/\r\n")
    )
    assert call(["load", "http://127.0.0.1:8000/private"]) == 0
    doubts = [line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines() if "doubt" in line]
    assert doubts[0].startswith("the answer: GET /private: answered with 301, a redirect to https://x/;")


def test_capacity_refuses_a_redirect_before_it_measures_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with scripted([b"HTTP/1.1 302 Found\r\nLocation: /accounts/login/\r\nContent-Length: 0\r\n\r\n"]) as port:
        assert call(["capacity", f"http://127.0.0.1:{port}/admin/", "--slo", "p99<1s"]) == 2
    assert "GET /admin/: answered with 302, a redirect to /accounts/login/" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_capacity_of_a_port_where_nobody_listens_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with scripted() as port:
        pass
    assert call(["capacity", f"http://127.0.0.1:{port}/", "--slo", "p99<1s"]) == 1
    assert "the connection was refused: nothing listens there; start the server first" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_load_that_reached_nobody_has_one_sentence_and_no_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    like = recorded("ok")
    refused = "connect-refused: 127.0.0.1:8000 did not take the connection"
    summary = like.summary | {
        "ended": "unreachable", "ok": 0, "errors": {"connect-refused": 64}, "first_error": refused, "first_answer": None
    }  # fmt: skip
    monkeypatch.setattr(command, "carry_out", lambda order, watch, **_: Loaded(like.order, [], summary))
    assert call(["load", "http://127.0.0.1:8000/"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{refused}; nothing listens there: start the server first" in said.err
    assert call(["load", "http://127.0.0.1:8000/", "--json"]) == 1
    assert '"ended": "unreachable"' in capsys.readouterr().out


def test_a_certificate_is_taken_as_the_engine_was_told() -> None:
    assert first._secure("h", None) is None
    assert first._secure("h", Tls(verify=False)) is not None
