"""Exchange: one request, read by the standard library's parser from bytes that are there whole, and its reply's head.

What that parser leaves open is closed here: names of other hosts (DNS rebinding), other methods, bodies, and error
pages that would echo what was asked.
"""

from __future__ import annotations

from collections.abc import Collection
from http.server import BaseHTTPRequestHandler
from io import BytesIO

from webdyno.view.shell import Reply

_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
RETRY_S = 5
"""When those may come again who find no room."""


class Exchange(BaseHTTPRequestHandler):
    """``refused`` is what is wrong with the request before its path is looked at."""

    protocol_version = "HTTP/1.1"

    def __init__(self, head: bytes, hosts: Collection[str], url: str) -> None:
        """Not the library's: here is no socket. ``hosts`` are the names that are answered, in small letters."""
        self.rfile, self.wfile = BytesIO(head), BytesIO()
        self.requestline, self.command, self.request_version = "", "", self.default_request_version
        self.refused: Reply | None = None
        self.raw_requestline = self.rfile.readline()
        self.is_read = self.parse_request()
        """False, and nothing is refused: an empty line, which deserves no answer."""
        if self.is_read:
            self.refused = self._refused(hosts, url)
        self.close_connection |= self.refused is not None

    @property
    def asked(self) -> tuple[str, str]:
        """Path, still quoted, and query."""
        path, _, query = self.path.partition("#")[0].partition("?")
        return path, query

    def head_of(self, reply: Reply, length: int | None) -> bytes:
        """The head of ``reply``; ``length`` in bytes, None for a stream, which ends with its connection."""
        self.close_connection |= length is None
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Security-Policy", reply.policy)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if reply.status == 405:
            self.send_header("Allow", "GET, HEAD")
        if reply.status == 503:
            self.send_header("Retry-After", str(RETRY_S))
        if self.close_connection:
            self.send_header("Connection", "close")
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        return self.wfile.getvalue()  # type: ignore[attr-defined, no-any-return] # our own BytesIO

    def _refused(self, hosts: Collection[str], url: str) -> Reply | None:
        if self.command not in ("GET", "HEAD"):
            return plain(405, "Only GET and HEAD are allowed: nothing can be changed here.")
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # whatever follows is a body, and is not read as a request
        named = self.headers.get_all("Host", [])
        if len(named) != 1 or named[0].strip().lower() not in hosts:
            return plain(403, f"Ask for {url}: no other name is answered.")
        return None

    def version_string(self) -> str:
        """What the header Server says."""
        return "webdyno"

    def handle_expect_100(self) -> bool:
        """No body is read, so none is asked for."""
        return True

    def send_error(self, code: int, *_: str | None, **__: str | None) -> None:
        """What the library refuses by itself (a request it cannot read): without echoing what was asked."""
        self.requestline, self.command = "", ""
        self.refused = plain(code, "This request is not understood.")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Nobody reads it."""


def plain(status: int, sentence: str) -> Reply:
    """A reply of one sentence."""
    return Reply(status, "text/plain; charset=utf-8", f"{sentence}\n".encode())
