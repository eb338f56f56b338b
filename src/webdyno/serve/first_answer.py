"""First answer: what a user would not have wanted to measure, said before anything is measured.

A redirect to a login page is answered fast and correctly by every server, and so is the page a framework gives to a
host that it does not know; the figures would be of these. What is said continues "GET /private: " and is for answers
that nobody called right by --expect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

_LOGIN_PATH = re.compile(r"log-?_?in|sign-?_?in|/auth|/sso|oauth|saml|/cas/", re.IGNORECASE)
_PASSWORD_FIELD = re.compile(rb"<input\b[^>]{0,400}\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
_LOOKED_AT_BYTES = 1 << 18
"""Of a body: a form stands near its start, and a page of 64 MiB need not be searched."""
_STRANGE_HOSTS: tuple[tuple[int, re.Pattern[bytes], str], ...] = (
    (400, re.compile(rb"DisallowedHost|<h1>Bad Request \(400\)</h1><p></p>"), "ALLOWED_HOSTS (Django)"),
    (400, re.compile(rb"\AInvalid host header"), "allowed_hosts of TrustedHostMiddleware (Starlette, FastAPI)"),
    (400, re.compile(rb"Host .{0,100} is not trusted"), "TRUSTED_HOSTS (Flask, Werkzeug)"),
    (403, re.compile(rb"Blocked hosts?:"), "config.hosts (Rails)"),
    (403, re.compile(rb"This host \(.{0,100}\) is not allowed"), "server.allowedHosts (Vite)"),
)
"""What frameworks answer to a host they do not know, and where its name belongs."""


def first_answer(status: int, headers: Mapping[str, str], body: bytes) -> str | None:
    """What is suspicious about it and what to try, as a clause; None where nothing is. Names are in any case."""
    fields = {name.lower(): value for name, value in headers.items()}
    if _is_redirect(status):
        return _redirect(status, fields.get("location", ""))
    looked_at = body[:_LOOKED_AT_BYTES]
    if setting := _where_hosts_belong(status, looked_at):
        return (
            f"answered with {status}, as for a Host that the app does not know; add the requested host to "
            f"{setting}, or send one that is listed there: -H 'Host: www.example.org'"
        )
    if 200 <= status < 300 and _is_html(fields, looked_at) and _PASSWORD_FIELD.search(looked_at):
        return (
            f"answered with {status} and a page with a password field; if that is a login page, log in with "
            "-H 'Cookie: ...', or define a correct answer: --expect 'body contains \"...\"'"
        )
    return None


def instead(status: int, headers: Mapping[str, str], body: bytes) -> str | None:
    """What an answer is whose status was not expected, as far as that can be told; without advice about flags."""
    fields = {name.lower(): value for name, value in headers.items()}
    if _is_redirect(status):
        location = fields.get("location", "")
        return f"a redirect{_to(location)}" + (", which looks like a login" if _LOGIN_PATH.search(location) else "")
    if setting := _where_hosts_belong(status, body[:_LOOKED_AT_BYTES]):
        return f"as for a Host that the app does not know: add the requested host to {setting}, or send one of these"
    return None


def _is_redirect(status: int) -> bool:
    return 300 <= status < 400 and status != HTTPStatus.NOT_MODIFIED


def _where_hosts_belong(status: int, looked_at: bytes) -> str | None:
    """The setting of a framework that answers so to a host it does not know."""
    for refused, page, setting in _STRANGE_HOSTS:
        if status == refused and page.search(looked_at):
            return setting
    return None


def _to(location: str) -> str:
    return f" to {_shown(location)}" if location else ""


def _redirect(status: int, location: str) -> str:
    """Where it leads, and what to try in its place."""
    where = _to(location)
    if _LOGIN_PATH.search(location):
        what, better = f"a redirect{where}, which looks like a login", "log in with -H 'Cookie: ...'"
    elif location.lower().startswith("https://"):
        what, better = f"a redirect{where}", "if only http is refused, say -H 'X-Forwarded-Proto: https'"
    else:
        what, better = f"a redirect{where}", "request that path instead"
    return (
        f"answered with {status}, {what}; the redirect itself would be measured: {better}, or accept it: "
        f"--expect 'status=={status}'"
    )


def _shown(location: str) -> str:
    """Without its query, which may hold a token, and never long."""
    path, query, _ = location.partition("?")
    short = "".join(sign if sign.isprintable() else "?" for sign in path[:80])
    return short + ("..." if len(path) > 80 or query else "")


def _is_html(fields: Mapping[str, str], body: bytes) -> bool:
    return "html" in fields.get("content-type", "").lower() or body.lstrip()[:14].lower().startswith(b"<!doctype html")
