"""A server that misbehaves in one way per path, the truth behind the golden outputs. Not a contender: only record.py
uses it.
"""

from __future__ import annotations

import asyncio
import socket
import struct

BODY = b"Hello, World!"
_DELAYS = {"slow": 1.2, "paced": 0.02}


class OddServer:
    """One asyncio server on 127.0.0.1 and ::1; every n-th request goes wrong, n by path."""

    def __init__(self) -> None:
        self.requests = 0

    async def listen(self, port: int) -> list[asyncio.Server]:
        return [await asyncio.start_server(self._connection, host, port) for host in ("127.0.0.1", "::1")]

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._request(reader, writer):
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; True when the connection goes on."""
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        self.requests += 1
        path = head.split()[1].decode().strip("/")
        old = b"http/1.0\r\n" in head
        stays = b"connection: keep-alive" in head if old else b"connection: close" not in head
        if b"content-length: " in head:
            await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
        says = b"Connection: keep-alive\r\n" if stays else b"Connection: close\r\n"
        odd = self.requests % 50 == 0
        if path == "reset" and odd:
            _reset(writer)
            return False
        if path == "silence" and self.requests % 200 == 0:
            await reader.read()  # until the client gives up
            return False
        if path in _DELAYS:
            await asyncio.sleep(_DELAYS[path])
        last = _last_answer(path, odd, says)
        if last is not None:
            writer.write(last)
            return False
        fails = path == "error" or (path == "errors-some" and odd)
        writer.write(_answer(b"no", says, b"500 Internal Server Error") if fails else _answer(BODY, says))
        return stays


def _last_answer(path: str, odd: bool, says: bytes) -> bytes | None:
    """What a connection ends with, for the paths that end one against what was agreed."""
    match path:
        case "silent-close":
            return _answer(BODY, says)
        case "announced-close":
            return _answer(BODY, b"Connection: close\r\n")
        case "until-close":
            return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + BODY
        case "truncated" if odd:
            return _answer(BODY, says).removesuffix(BODY[3:])
        case "empty":
            return b""
    return None


def _answer(body: bytes, says: bytes, status: bytes = b"200 OK") -> bytes:
    length = b"Content-Length: %d\r\n" % len(body)
    return b"HTTP/1.1 " + status + b"\r\nContent-Type: text/plain\r\n" + length + says + b"\r\n" + body


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST instead of FIN."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
