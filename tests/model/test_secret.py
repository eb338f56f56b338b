"""What lets somebody in is in no results file, whatever noun carries it; all else stays as it is."""

from __future__ import annotations

import shlex
import time

import pytest

from webdyno.model.secret import hidden, hidden_block, hidden_line, hidden_words, is_secret
from webdyno.model.workload import Request


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
        "X-Functions-Key",
        "AWS_SECRET_ACCESS_KEY",
        "SECRET_KEY_BASE",
        "PGPASSWORD",
        "DB_PASS",
        "sig",
    ],
)
def test_headers_that_let_somebody_in_are_secret(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *("Host", "Accept", "Content-Type", "User-Agent", "X-Request-Id", "Cache-Control", "author", "max_tokens"),
        *("session-timeout", "auth-type", "SECRET_FILE", "cookie-name", "monkey"),
    ],
)
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


SECRET = "s3 cr'et"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["wrk", "-H", f"Authorization:Bearer {SECRET}"], ["wrk", "-H", "Authorization:***"]),
        (["wrk", f"-HProxy-Authorization:{SECRET}"], ["wrk", "-HProxy-Authorization:***"]),
        (["h2load", "--header", f"X-Api-Key: {SECRET}"], ["h2load", "--header", "X-Api-Key: ***"]),
        (["ab", "-A", f"me:{SECRET}", "-c", "9"], ["ab", "-A", "me:***", "-c", "9"]),
        (["/usr/bin/ab", f"-Pme:{SECRET}"], ["/usr/bin/ab", "-Pme:***"]),
        (["ab", "-C", f"session={SECRET}"], ["ab", "-C", "session=***"]),
        (["curl", "--user", f"me:{SECRET}"], ["curl", "--user", "me:***"]),
        (["curl", "--oauth2-bearer", SECRET], ["curl", "--oauth2-bearer", "***"]),
        (["serve", "--db-password", SECRET, "-v"], ["serve", "--db-password", "***", "-v"]),
        (["serve", f"--api-key={SECRET}"], ["serve", "--api-key=***"]),
        (["env", f"API_TOKEN={SECRET}", "node"], ["env", "API_TOKEN=***", "node"]),
        (["podman", "run", f"--env=DB_PASSWORD={SECRET}"], ["podman", "run", "--env=DB_PASSWORD=***"]),
        (["serve", "http://a.test/?a=1&token=x&b=2"], ["serve", "http://a.test/?a=1&token=***&b=2"]),
        (["git", "clone", "https://ghp_0123456789abcdef@a.test/b"], ["git", "clone", "https://***@a.test/b"]),
        (["wrk", "-s", "x.lua", "--", "Bearer eyJh.e30.x1"], ["wrk", "-s", "x.lua", "--", "Bearer ***"]),
    ],
)
def test_a_secret_is_found_wherever_a_command_may_have_it(command: list[str], shown: list[str]) -> None:
    assert hidden_words(command) == shown
    assert shlex.split(hidden_line(shlex.join(command))) == shown
    assert hidden_words(shown) == shown


@pytest.mark.parametrize(
    "command",
    [
        "uvicorn auth:app --session-timeout 30 --proxy-headers",
        "gunicorn -u www-data -w 4 app:app",
        "mongod --auth --port '{port}'",
        "serve --token '{port}' --secret-file /run/secrets/key",
        "celery -A proj:app worker max_tokens=5 author=me",
        "node server.js --cookie-name=sid --author 'A: b'",
    ],
)
def test_what_is_no_secret_stays_as_it_was_typed(command: str) -> None:
    assert hidden_line(command) == command
    assert hidden_words(shlex.split(command)) == shlex.split(command)


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("API_TOKEN='my secret' node server.js {port}", "API_TOKEN=*** node server.js {port}"),
        ('PGPASSWORD="x y" npm start', "PGPASSWORD=*** npm start"),
        ("refused: Authorization: Basic dXNlcjpwYXNz", "refused: Authorization: ***"),
        ("GET /x?api_key=abc#top: it's status 401", "GET /x?api_key=***#top: it's status 401"),
    ],
)
def test_a_secret_is_found_in_a_sentence(sentence: str, shown: str) -> None:
    assert hidden_line(sentence) == shown


def test_a_request_keeps_its_path_but_for_secret_parameters() -> None:
    request = Request(name="GET /a?sig=x", path="/a?b=1&sig=x&c=2")
    assert hidden(request) == Request(name="GET /a?sig=***", path="/a?b=1&sig=***&c=2")
    assert hidden(Request(name="n", path="/a?b=1")) == Request(name="n", path="/a?b=1")


@pytest.mark.parametrize(
    "text", ["-" * 4096, "--a-" * 1024, "x-" * 2048, "secret-" * 585, "a: " * 1365, "://" + "w" * 4093]
)
def test_a_log_that_looks_like_a_thousand_secrets_takes_no_time(text: str) -> None:
    begun = time.process_time()
    hidden_line(text)
    assert time.process_time() - begun < 3.0  # it takes a hundredth of a second, and took six
