"""Server: the site over HTTP/1.1, on 127.0.0.1 alone, for reading alone.

The standard library's server, because this is a page for one person on their own machine: a framework (starlette and
uvicorn bring seven packages and twice the memory) would buy nothing that a few GETs and a stream need, and every user
of webdyno would install it. What that server leaves open is closed here: names of other hosts (DNS rebinding), other
methods, bodies, idle connections, and error pages that would echo what was asked.
"""

from __future__ import annotations

import errno
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from webdyno.model.errors import MachineError
from webdyno.view.live import POLL_S
from webdyno.view.shelf import Shelf
from webdyno.view.shell import POLICY, Reply
from webdyno.view.site import Site

HOST = "127.0.0.1"
MOST_STREAMS = 16
"""Pages that are kept up to date at once; each asks the stores once a second."""
IDLE_S = 30
"""How long a connection may stay without a request, or without taking what is sent."""
END_S = 3.0
"""How long the end waits for streams to be closed."""
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


class Server(ThreadingHTTPServer):
    """Bound, and listening from then on; ``serve_forever`` in a thread, then ``end``. A context manager."""

    daemon_threads = True
    request_queue_size = 32

    def __init__(self, shelf: Shelf, port: int, complain: Callable[[str], None], poll_s: float = POLL_S) -> None:
        """``port`` 0: any that is free. MachineError when it is taken."""
        self.ending = threading.Event()
        self.site = Site(shelf, self.ending, poll_s)
        self.complain = complain
        self.streams = threading.BoundedSemaphore(MOST_STREAMS)
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise MachineError(_refused(port, error)) from None

    def server_bind(self) -> None:
        """Without asking a name server who 127.0.0.1 is."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]
        names = (HOST, "localhost")
        self.hosts = {f"{name}:{self.server_port}" for name in names}
        self.hosts |= set(names) if self.server_port == 80 else set()  # browsers leave out the usual port

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{HOST}:{self.server_port}/"

    def end(self) -> None:
        """Stop serving, end the streams cleanly, free the port."""
        self.ending.set()
        self.shutdown()
        for _ in range(MOST_STREAMS):
            if not self.streams.acquire(timeout=END_S):
                break  # somebody takes what is sent no more; its thread goes with the process
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the library's signature
        """Browsers hang up as they like, and that is no error; anything else is one line."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            self.complain(f"a connection was ended ({type(error).__name__}: {error})")


def _refused(port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"--port {port} is taken by another program: give another, or --port 0 for any that is free"
    return f"--port {port} cannot be listened on ({error.strerror}): give one from 1024 to 65535, or 0 for any"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    wbufsize = -1  # head and body leave together
    disable_nagle_algorithm = True
    server: Server

    def version_string(self) -> str:
        """What the header Server says."""
        return "webdyno"

    def do_GET(self) -> None:
        """Answer."""
        self._respond()

    do_HEAD = do_GET  # noqa: N815 - the library's name

    def __getattr__(self, name: str) -> Any:
        """Every other method is refused; the library looks for ``do_METHOD``."""
        if name.startswith("do_"):
            return lambda: self._refuse(405, "Only GET and HEAD: nothing can be changed here.")
        raise AttributeError(name)

    def _respond(self) -> None:
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # whatever follows is a body, and is not read as a request
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].strip().lower() not in self.server.hosts:
            self._refuse(403, f"Ask for {self.server.url}: no other name is answered.")
            return
        path, _, query = self.path.partition("#")[0].partition("?")
        try:
            reply = self.server.site.answer(path, query)
        except Exception as error:  # whatever a file holds: one line here and there, and the next page is served
            self.server.complain(f"{path!r} could not be answered ({type(error).__name__}: {error})")
            self._refuse(500, f"This page could not be made ({type(error).__name__}).")
            return
        if isinstance(reply, Reply):
            self._send(reply)
        else:
            self._stream(reply)

    def _send(self, reply: Reply) -> None:
        self._head(reply.status, reply.kind, reply.policy)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def _stream(self, events: Iterator[bytes]) -> None:
        """Server-sent events until they end, the browser leaves, or the server ends."""
        self.close_connection = True
        if not self.server.streams.acquire(blocking=False):
            self._refuse(503, f"{MOST_STREAMS} pages are kept up to date already: close one.")
            return
        try:
            self._head(200, "text/event-stream; charset=utf-8", POLICY)
            self.end_headers()
            for event in events if self.command != "HEAD" else ():
                self.wfile.write(event)
                self.wfile.flush()
        finally:
            self.server.streams.release()

    def _refuse(self, status: int, sentence: str) -> None:
        self.close_connection = True
        self._send(Reply(status, "text/plain; charset=utf-8", f"{sentence}\n".encode()))

    def _head(self, status: int, kind: str, policy: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", policy)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if status == 405:
            self.send_header("Allow", "GET, HEAD")
        if self.close_connection:
            self.send_header("Connection", "close")

    def send_error(self, code: int, *_: str | None, **__: str | None) -> None:
        """What the library refuses by itself (a request it cannot read): without echoing what was asked."""
        self.requestline, self.command = "", ""
        self._refuse(code, "This is not a request that is understood here.")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Nobody reads it."""
