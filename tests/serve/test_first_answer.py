"""What would be measured by mistake is told from what was asked for."""

from __future__ import annotations

import pytest

from webdyno.serve.first_answer import first_answer

LOGIN = b'<!DOCTYPE html><form><input name="user"><input name="p" type="password" required></form>'
DJANGO = (
    b'\n<!doctype html>\n<html lang="en">\n<head>\n  <title>Bad Request (400)</title>\n</head>\n<body>\n'
    b"  <h1>Bad Request (400)</h1><p></p>\n</body>\n</html>\n"
)
HTML = {"Content-Type": "text/html; charset=utf-8"}

SUSPICIOUS = [
    (302, {"Location": "/accounts/login/?next=/private"}, b"", "302, a redirect to /accounts/login/..., which looks"),
    (302, {"location": "/signin"}, b"", "log in with -H 'Cookie: ...', or accept it: --expect 'status"),
    (307, {"Location": "http://127.0.0.1:8000/items/"}, b"", "request that path instead, or accept it"),
    (301, {"Location": "https://127.0.0.1/"}, b"", "say -H 'X-Forwarded-Proto: https', or accept"),
    (300, {}, b"", "answered with 300, a redirect; the redirect itself would be measured"),
    (200, HTML, LOGIN, "a page with a password field; if that is a login page, log in with -H 'Cookie"),
    (200, {}, LOGIN, "--expect 'body contains \"...\"'"),
    (
        400,
        HTML,
        DJANGO,
        "add the requested host to ALLOWED_HOSTS (Django), or send one that is listed there: -H 'Host",
    ),
    (400, HTML, b"<title>DisallowedHost\n at /</title>", "ALLOWED_HOSTS"),
    (400, {}, b"Invalid host header", "TrustedHostMiddleware"),
    (400, HTML, b"<h1>Bad Request</h1><p>Host &#39;127.0.0.1:80&#39; is not trusted.</p>", "TRUSTED_HOSTS"),
    (403, HTML, b"<h1>Blocked hosts: 127.0.0.1:3000</h1>", "config.hosts (Rails)"),
]

PLAIN = [
    (200, HTML, b"<!DOCTYPE html><input type='search'>"),
    (200, {"Content-Type": "application/json"}, b'{"html": "<input type=password>"}'),
    (304, {}, b""),  # only whoever asks with If-None-Match gets one
    (400, HTML, b"<h1>Bad Request</h1><p>The CSRF token is missing.</p>"),
    (401, {"WWW-Authenticate": "Basic"}, LOGIN),
    (404, HTML, DJANGO),
    (500, HTML, LOGIN),
    (204, {}, b""),
]


@pytest.mark.parametrize(("status", "headers", "body", "sentence"), SUSPICIOUS)
def test_what_is_suspicious_is_said_with_what_to_try(
    status: int, headers: dict[str, str], body: bytes, sentence: str
) -> None:
    said = first_answer(status, headers, body)
    assert said is not None
    assert sentence in said


@pytest.mark.parametrize(("status", "headers", "body"), PLAIN)
def test_nothing_is_said_of_what_was_asked_for(status: int, headers: dict[str, str], body: bytes) -> None:
    assert first_answer(status, headers, body) is None


def test_where_a_redirect_leads_is_shown_without_what_may_be_secret_and_in_one_line() -> None:
    said = first_answer(302, {"Location": f"/a\x1b[31m{'x' * 100}?token=open-sesame"}, b"")
    assert said is not None
    assert "open-sesame" not in said
    assert said.isprintable()
    assert "x" * 80 not in said
