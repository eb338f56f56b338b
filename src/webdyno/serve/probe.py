"""Probe: how a server speaks HTTP, asked over a bare socket because HTTP libraries hide exactly this.

The same request twice on one connection: does it answer with 1.0 or 1.1, how does it frame the body, does it say that
it closes, does it answer the second one? A server that closes without saying so (there are some in wide use) shows up
here as neither keep-alive nor announcing.
"""

from __future__ import annotations

import contextlib
import socket
from typing import NamedTuple

from webdyno.model.run import Probe
from webdyno.model.workload import Request

_HEADER_SHOWN = 2048
_HEADER_MOST = 64 * 1024


class _Head(NamedTuple):
    text: str
    version: str
    status: str
    fields: dict[str, str]
    """Names in small letters; of several, the last."""


def probe(
    host: str,
    port: int,
    request: Request,
    timeout_s: float,
    backlog: int | None,
    ready_ns: int,
    first_answer_ns: int | None = None,
) -> Probe | None:
    """None when the answer cannot be read as HTTP/1 or does not come (which verify has said, or will, better)."""
    message = _message(host, port, request)
    with contextlib.suppress(OSError, ValueError), socket.create_connection((host, port), timeout_s) as connection:
        connection.sendall(message)
        head, rest = _read_head(connection)
        framing, length = _framing(request, head)
        _skip_body(connection, framing, length, rest)
        closes = "close" in head.fields.get("connection", "").lower()
        return Probe(
            http_version=head.version,
            keep_alive=not closes and framing != "close" and _answers_again(connection, message),
            announces_close=closes,
            framing=framing,
            header=head.text[:_HEADER_SHOWN],
            backlog=backlog,
            ready_ns=ready_ns,
            first_answer_ns=first_answer_ns,
        )
    return None


def _message(host: str, port: int, request: Request) -> bytes:
    names = {name.lower() for name, _ in request.headers}
    body = (request.body or "").encode()
    lines = [f"{request.method} {request.path} HTTP/1.1"]
    if "host" not in names:
        lines.append(f"Host: [{host}]:{port}" if ":" in host else f"Host: {host}:{port}")
    lines += [f"{name}: {value}" for name, value in request.headers]
    if request.body is not None and "content-length" not in names:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def _read_head(connection: socket.socket) -> tuple[_Head, bytes]:
    """The first head that is not 1xx, and what was read beyond it."""
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece or len(data) > _HEADER_MOST:
                raise ValueError("no complete header block")
            data += piece
        block, _, data = data.partition(b"\r\n\r\n")
        text = block.decode("latin-1")
        status, *lines = text.split("\r\n")
        version, code, *_ = status.split(" ")
        if not version.startswith("HTTP/"):
            raise ValueError("not HTTP")
        if not code.startswith("1"):
            fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            return _Head(text, version.removeprefix("HTTP/"), code, fields), data


def _framing(request: Request, head: _Head) -> tuple[str, int]:
    """How the body ends, and its length where that is told beforehand. RFC 9112 section 6.3, in its order."""
    if request.method == "HEAD" or head.status in ("204", "304"):
        return "content-length", 0
    if "chunked" in head.fields.get("transfer-encoding", "").lower():
        return "chunked", 0
    if "content-length" in head.fields:
        return "content-length", int(head.fields["content-length"])
    return "close", 0


def _skip_body(connection: socket.socket, framing: str, length: int, data: bytes) -> None:
    """Read the body to its end, so that what comes next is the next answer."""
    if framing == "content-length":
        _drop(connection, data, length)
    elif framing == "chunked":
        _skip_chunks(connection, data)
    else:
        while connection.recv(65536):
            pass


def _skip_chunks(connection: socket.socket, data: bytes) -> None:
    while True:
        line, data = _line(connection, data)
        size = int(line.partition(b";")[0], 16)
        if size == 0:
            break
        data = _drop(connection, data, size + 2)
    while line:  # trailers, up to an empty line
        line, data = _line(connection, data)


def _line(connection: socket.socket, data: bytes) -> tuple[bytes, bytes]:
    while b"\r\n" not in data:
        data += _more(connection)
    line, _, rest = data.partition(b"\r\n")
    return line, rest


def _drop(connection: socket.socket, data: bytes, count: int) -> bytes:
    while len(data) < count:
        data += _more(connection)
    return data[count:]


def _more(connection: socket.socket) -> bytes:
    piece = connection.recv(65536)
    if not piece:
        raise ValueError("closed in the middle of the body")
    return piece


def _answers_again(connection: socket.socket, message: bytes) -> bool:
    try:
        connection.sendall(message)
        _read_head(connection)
    except (OSError, ValueError):
        return False
    return True
