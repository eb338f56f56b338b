"""A server that plays back bytes: one list of answers per connection, one answer per request head it reads."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator, Sequence


@contextlib.contextmanager
def scripted(*connections: Sequence[bytes], received: list[bytes] | None = None) -> Iterator[int]:
    """Its port. After a connection's last answer the server closes, unless that answer is empty: then it stays
    silent.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_play, args=(server, connections, received), daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def _play(server: socket.socket, connections: Sequence[Sequence[bytes]], received: list[bytes] | None) -> None:
    held = []
    with contextlib.suppress(OSError):
        for answers in connections:
            connection, _ = server.accept()
            for answer in answers:
                request = _request(connection)
                if received is not None:
                    received.append(request)
                if answer:
                    connection.sendall(answer)
                else:
                    held.append(connection)
            if connection not in held:
                connection.close()
        server.accept()  # until it is shut down
    for connection in held:
        connection.close()


def _request(connection: socket.socket) -> bytes:
    """One whole request; what there is of it when the client ends early."""
    data = b""
    while (missing := _missing(data)) and (piece := connection.recv(missing)):
        data += piece
    return data


def _missing(data: bytes) -> int:
    """How many more bytes may be read without taking any of the next request."""
    head, end, body = data.partition(b"\r\n\r\n")
    if not end:
        return 1
    _, _, length = head.lower().partition(b"content-length:")
    return int(length.split()[0]) - len(body) if length else 0
