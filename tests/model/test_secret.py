"""What lets somebody in is in no results file, whatever noun carries it; all else stays as it is."""

from __future__ import annotations

import pytest

from webdyno.model.secret import hidden_block, hidden_line, hidden_words, is_secret


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "proxy-authorization",
        "Cookie",
        "Set-Cookie",
        "X-Api-Key",
        "apikey",
        "X-Amz-Security-Token",
        "X-CSRFToken",
        "PRIVATE-TOKEN",
        "X-Session-Id",
    ],
)
def test_headers_that_let_somebody_in_are_secret(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", ["Host", "Accept", "Content-Type", "User-Agent", "X-Request-Id", "Cache-Control"])
def test_other_headers_are_not(name: str) -> None:
    assert not is_secret(name)


def test_commands_of_load_tools_are_kept_without_their_secrets() -> None:
    said = [
        "wrk",
        "-H",
        "Authorization: Bearer a:b c",
        "-H",
        "Host: a.test",
        "--header=Cookie: x=1; y=2",
        "-HX-Token: t",
    ]
    assert hidden_words(said) == [
        *("wrk", "-H", "Authorization: ***", "-H", "Host: a.test", "--header=Cookie: ***", "-HX-Token: ***")
    ]
    urls = ["--db", "redis://me:secret@host/0", "http://127.0.0.1:8000/a:b"]
    assert hidden_words(urls) == ["--db", "redis://me:***@host/0", "http://127.0.0.1:8000/a:b"]


def test_words_that_only_look_like_a_header_stay() -> None:
    words = ["uvicorn", "auth:app", "session.wsgi:application", "--factory", "tokens:make(x)"]
    assert hidden_words(words) == words


def test_a_header_block_keeps_its_lines() -> None:
    block = "HTTP/1.1 200 OK\r\nServer: x\r\nSet-Cookie:session=abc; Path=/\r\nset-cookie: b=2\r\nDate: now\r\n"
    assert hidden_block(block) == ("HTTP/1.1 200 OK\r\nServer: x\r\nSet-Cookie:***\r\nset-cookie: ***\r\nDate: now\r\n")


def test_lines_that_were_typed_are_kept_without_their_secrets_and_else_as_they_were() -> None:
    line = "caddy run --header 'X-Token: s3cret' --header 'Accept: text/html' --db redis://me:secret@host/0"
    assert (
        hidden_line(line) == "caddy run --header 'X-Token: ***' --header 'Accept: text/html' --db redis://me:***@host/0"
    )
    assert hidden_line("serve 'redis://me:my secret@host'") == "serve 'redis://me:***@host'"
    assert hidden_line("it's redis://me:my secret@host") == "it's redis://me:***@host"
    innocent = "DB=redis://localhost:6379/0 MAIL=admin@example.com python app:app {port}"
    assert hidden_line(innocent) == innocent
