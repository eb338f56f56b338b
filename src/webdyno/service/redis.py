"""Redis, in the few words that are needed here, by its own protocol (RESP2, https://redis.io/docs/latest/develop/reference/protocol-spec/).

URLs as clients know them: ``redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]``, and ``rediss://`` for TLS.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from webdyno.service.data import KEY_COUNTER, KEY_STATIC, STATIC
from webdyno.service.unanswered import Unanswered

_TIMEOUT_S = 5.0
_PORT = 6379


class Redis:
    """One server; see Talker."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("redis", "rediss") or not parts.hostname:
            raise ValueError("must look like redis://localhost:6379/0 (or rediss:// for TLS)")
        try:
            port = parts.port
        except ValueError:
            raise ValueError("has an invalid port: redis://localhost:6379/0") from None
        database = parts.path.strip("/")
        if database and not database.isdecimal():
            raise ValueError(f"names the database {database!r}, and Redis only numbers them: redis://localhost:6379/0")
        self._host, self._port, self._tls = parts.hostname, port or _PORT, parts.scheme == "rediss"
        self._greeting: list[list[str]] = []
        if parts.password is not None:
            user = [unquote(parts.username)] if parts.username else []
            self._greeting.append(["AUTH", *user, unquote(parts.password)])
        if database and int(database):
            self._greeting.append(["SELECT", database])

    def identify(self) -> tuple[str, str]:
        """``redis-server``, or what it calls itself when it is a fork or a copy: valkey, dragonfly, keydb ..."""
        lines = (self._ask(["INFO", "server"]) or "").splitlines()
        said = dict(line.split(":", 1) for line in lines if ":" in line)
        if "dragonfly_version" in said:
            return "dragonfly", said["dragonfly_version"]
        name = said.get("server_name", "redis")
        if name != "redis":
            return name, said.get(f"{name}_version", said.get("redis_version", "unknown"))
        return "redis-server", said.get("redis_version", "unknown")

    def load(self, warm_s: float = 0.0) -> None:
        """The string, and the counter at 0."""
        self._ask(["SET", KEY_STATIC, STATIC], ["SET", KEY_COUNTER, "0"])
        until = time.monotonic() + warm_s
        while time.monotonic() < until:
            self._ask(["GET", KEY_STATIC])

    def reset(self, delay_ms: int = 0) -> None:
        """The counter back to 0; nothing that answers later is a way to have it."""
        if delay_ms:
            raise Unanswered(f"a Redis that runs already does not answer {delay_ms} ms later")
        self._ask(["SET", KEY_COUNTER, "0"])

    def _ask(self, *commands: list[str]) -> str | None:
        """The answer to the last of ``commands``."""
        answer = None
        with self._connected() as stream:
            for command in [*self._greeting, *commands]:
                words = [word.encode() for word in command]
                stream.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in words))
                stream.flush()
                answer = _answer(stream)
        return answer

    @contextmanager
    def _connected(self) -> Iterator[BinaryIO]:
        try:
            with socket.create_connection((self._host, self._port), _TIMEOUT_S) as plain:
                if not self._tls:
                    with plain.makefile("rwb") as stream:
                        yield stream  # type: ignore[misc]  # a buffered pair is both
                    return
                wrapped = ssl.create_default_context().wrap_socket(plain, server_hostname=self._host)
                with wrapped, wrapped.makefile("rwb") as stream:
                    yield stream  # type: ignore[misc]
        except OSError as error:
            raise Unanswered(f"{self._host}:{self._port}: {error.strerror or error}") from None


def _answer(stream: BinaryIO) -> str | None:
    """One reply: a status, a number, a string, or nothing. Unanswered for an error, or when it is no RESP."""
    line = stream.readline()
    kind, text = line[:1], line[1:].strip().decode("utf-8", "replace")
    if kind in (b"+", b":"):
        return text
    if kind == b"$" and text.lstrip("-").isdecimal():
        size = int(text)
        return None if size < 0 else stream.read(size + 2)[:size].decode("utf-8", "replace")
    if kind == b"-":
        raise Unanswered(f"it says: {text}")
    raise Unanswered(f"what came is not Redis ({line[:40]!r})" if line else "it closed the connection")
