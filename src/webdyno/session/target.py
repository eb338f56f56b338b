"""Target: a URL taken apart, and the one server that a load is of."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from webdyno.model.errors import UsageError
from webdyno.model.secret import hidden_line

_WEIGHTED = re.compile(r"(?P<weight>\d+)=(?P<url>.+)", re.DOTALL)
"""A URL begins with a scheme or a host, and neither has a digit followed by an equals sign."""
_PORTS = {"http": 80, "https": 443}
_NO_PORT = "its port is not a number from 1 to 65535"


class Target(NamedTuple):
    """One URL, taken apart."""

    url: str
    """As it may be shown."""
    tls: bool
    host: str
    port: int
    path: str
    weight: int

    @property
    def origin(self) -> tuple[bool, str, int]:
        """Scheme, host and port: what is one server (RFC 6454, 4)."""
        return self.tls, self.host.lower(), self.port


def one_server(urls: tuple[str, ...]) -> list[Target]:
    """Every URL, proven to be of one server; those that are alike are one, with the sum of their weights."""
    if not urls:
        raise UsageError("load what? Give a URL such as http://127.0.0.1:8000/path")
    targets = [_target(url) for url in urls]
    for target in targets:
        if target.origin != targets[0].origin:
            raise UsageError(
                f"{target.url} is a different server from {targets[0].url}: a load has one server, so start a "
                "second webdyno for the other"
            )
    merged: dict[str, Target] = {}
    for target in targets:
        before = merged.get(target.path)
        merged[target.path] = target if before is None else before._replace(weight=before.weight + target.weight)
    return list(merged.values())


def _target(text: str) -> Target:
    weighted = _WEIGHTED.fullmatch(text)
    weight, url = (int(weighted["weight"]), weighted["url"]) if weighted else (1, text)
    if weight < 1:
        raise UsageError(f"{hidden_line(text)}: a weight is a whole number of at least 1, as in 3={hidden_line(url)}")
    shown = hidden_line(url)
    try:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError as error:
        what = _NO_PORT if "ort" in str(error) else str(error)
        raise UsageError(f"{shown}: {what}") from None
    if port == 0:
        raise UsageError(f"{shown}: {_NO_PORT}")
    if scheme not in _PORTS or not host:
        raise UsageError(f"{shown}: give a URL such as http://127.0.0.1:8000/path")
    if parts.username is not None:
        raise UsageError(f"{shown}: a name and password in a URL are not sent; give -H 'Authorization: Basic ...'")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not path.isascii() or not path.isprintable() or " " in path:
        raise UsageError(f"{shown}: write characters that are not valid in a URL as %XX")
    return Target(shown, scheme == "https", host, _PORTS[scheme] if port is None else port, path, weight)
