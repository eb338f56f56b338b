"""Ask: one request on a connection of its own, by Python's own HTTP client, and the whole answer.

All waiting is cut into short pieces, between which ``watch`` may raise: a server that never answers, or never comes to
an end, must not keep a user's Ctrl-C waiting, nor fill the memory.
"""

from __future__ import annotations

import http.client
import io
import select
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from webdyno.model.workload import Request
from webdyno.serve.secure import Secure

_PIECE_S = 0.05
_PIECE_BYTES = 2**20
MOST_BYTES = 64 * 2**20
"""The longest body that is read."""


class Answer(NamedTuple):
    """What came back, decoded from its framing."""

    status: int
    content_type: str | None
    """Media type without its parameters, in small letters."""
    body: bytes
    headers: Mapping[str, str] = MappingProxyType({})
    """Names in small letters; of several, the last."""


class NoAnswer(Exception):  # noqa: N818  (an answer that did not come, not an error of ours)
    """No complete HTTP answer; its text continues the sentence "... but"."""


class Refused(NoAnswer):
    """Nobody listens there."""


def ask(
    host: str,
    port: int,
    request: Request,
    timeout_s: float,
    watch: Callable[[], None],
    secure: Secure | None = None,
) -> Answer:
    """NoAnswer when it is not whole within ``timeout_s``, or longer than MOST_BYTES; whatever ``watch`` raises.

    ``secure`` makes TLS of the connection.
    """
    connection, begun = http.client.HTTPConnection(host, port, timeout=timeout_s), False
    try:
        connection.connect()
        if secure is not None:
            connection.sock, connection.default_port = secure(connection.sock), http.client.HTTPS_PORT
        _send(connection, request)
        with http.client.HTTPResponse(connection.sock, method=request.method) as response:
            response.fp.close()
            response.fp = io.BufferedReader(_Watched(connection.sock, timeout_s, watch))
            response.begin()
            begun = True
            body = _body(response)
    except TimeoutError:
        what = "it had no end" if begun else "there was none"
        raise NoAnswer(f"{what} within {timeout_s:g} s") from None
    except (http.client.HTTPException, ValueError, OSError) as error:
        raise _no_answer(error) from None
    finally:
        connection.close()
    media = response.headers.get("Content-Type")
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status, media.partition(";")[0].strip().lower() if media else None, body, headers)


def _no_answer(error: http.client.HTTPException | ValueError | OSError) -> NoAnswer:
    """What went wrong, by the error that Python's client or a socket raised."""
    match error:
        case ConnectionRefusedError():
            return Refused("the connection was refused")
        case ConnectionError():  # http.client.RemoteDisconnected is one as well
            return NoAnswer("the connection was closed before it came")
        case http.client.IncompleteRead():
            return NoAnswer(f"the connection was closed in the middle of it (after {len(error.partial)} bytes)")
        case http.client.HTTPException() | ValueError():
            return NoAnswer(f"what came is not HTTP ({type(error).__name__}: {str(error)[:80]})")
    return NoAnswer(f"the connection failed: {error.strerror or error}")


def _send(connection: http.client.HTTPConnection, request: Request) -> None:
    names = {name.lower() for name, _ in request.headers}
    connection.putrequest(request.method, request.path, skip_host="host" in names, skip_accept_encoding=True)
    for name, value in request.headers:
        connection.putheader(name, value)
    body = None if request.body is None else request.body.encode()
    if body is not None and "content-length" not in names:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)


def _body(response: http.client.HTTPResponse) -> bytes:
    """All of it; IncompleteRead with what there was, NoAnswer when it is too long."""
    body = bytearray()
    try:
        while piece := response.read(_PIECE_BYTES):
            body += piece
            if len(body) > MOST_BYTES:
                raise NoAnswer(f"it is longer than {MOST_BYTES // 2**20} MiB")
    except http.client.IncompleteRead as error:
        raise http.client.IncompleteRead(bytes(body) + error.partial) from None
    if response.length:  # with a size asked for, Python's client does not mind a body that is cut off
        raise http.client.IncompleteRead(bytes(body))
    return bytes(body)


class _Watched(io.RawIOBase):
    """What comes over a socket: TimeoutError once ``timeout_s`` are over, however it trickles."""

    def __init__(self, sock: socket.socket, timeout_s: float, watch: Callable[[], None]) -> None:
        self._sock, self._watch = sock, watch
        self._deadline, self._look = time.monotonic() + timeout_s, 0.0
        self._poll = select.poll()  # select() itself cannot look at descriptors from 1024 on
        self._poll.register(sock, select.POLLIN)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Whatever is there first; 0 at the end."""
        while True:
            # what TLS has read and not given yet is in no socket
            held = isinstance(self._sock, ssl.SSLSocket) and self._sock.pending() > 0
            ready, now = held or self._poll.poll(_PIECE_S * 1000), time.monotonic()
            if now > self._deadline:
                raise TimeoutError
            if not ready or now > self._look:
                self._watch()
                self._look = now + _PIECE_S
            if ready:
                return self._sock.recv_into(buffer)
