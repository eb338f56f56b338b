"""A server inside our own process that answers at once: enough for a client that runs under a tool fifty times slower.

The gates count the client's instructions and system calls alone, so what the server costs does not matter, and no
second program has to be built. Its answer is that of the instant server, byte for byte in length.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from types import TracebackType
from typing import Self

ANSWER = (
    b"HTTP/1.1 200 OK\r\nServer: instant\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 15\r\nConnection: keep-alive\r\n\r\nxxxxxxxxxxxxxxx"
)


class Answering:
    """Listens on 127.0.0.1 from ``with`` to its end; one thread, any number of connections."""

    def __enter__(self) -> Self:
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = int(self._listener.getsockname()[1])
        self._woken, self._wake = socket.socketpair()
        for sock in (self._listener, self._woken):
            self._selector.register(sock, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._wake.close()
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._woken:
                    return
                if key.fileobj is self._listener:
                    client, _ = self._listener.accept()
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._selector.register(client, selectors.EVENT_READ)
                elif isinstance(key.fileobj, socket.socket):
                    self._answer(key.fileobj)

    def _answer(self, client: socket.socket) -> None:
        with contextlib.suppress(ConnectionError):
            asked = client.recv(65536).count(b"\r\n\r\n")
            if asked:
                client.sendall(ANSWER * asked)
                return
        self._selector.unregister(client)
        client.close()
