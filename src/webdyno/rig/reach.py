"""Reach: how long a byte takes from one host to another and back, and how many a second the network carries.

By one TCP connection that is given nothing else to do. So the time is the network's and two kernels', and the number
of bytes is what one connection reaches, which may be less than a load over many.
"""

from __future__ import annotations

import contextlib
import socket
import statistics
import threading
import time
from collections.abc import Iterator

import msgspec

from webdyno.model.errors import MachineError

TRIPS = 200
FLOOD_S = 0.5
_PART = bytes(256 * 1024)
_TIMEOUT_S = 10.0


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """What lies between two hosts."""

    round_trip_ns: float
    """The middle one."""
    bytes_per_s: float
    """From the host that answers to the one that asks."""


@contextlib.contextmanager
def answering(address: str) -> Iterator[int]:
    """A port of ``address`` that answers one who measures, as often as wanted, one after the other."""
    with socket.create_server((address, 0)) as server:
        threading.Thread(target=_answer, args=(server,), name="webdyno-answering", daemon=True).start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)


def reach(address: str, port: int) -> Reached:
    """Ask it from here; MachineError when it cannot be reached."""
    try:
        with socket.create_connection((address, port), _TIMEOUT_S) as asked:
            asked.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            trips = [_trip(asked) for _ in range(TRIPS)]
            asked.sendall(b"f")
            begun, received = time.monotonic(), 0
            while data := asked.recv(len(_PART)):
                received += len(data)
            return Reached(round_trip_ns=statistics.median(trips), bytes_per_s=received / (time.monotonic() - begun))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise MachineError(
            f"{address} cannot be reached: {reason}; check that no firewall separates the hosts"
        ) from None


def _trip(asked: socket.socket) -> int:
    before_ns = time.monotonic_ns()
    asked.sendall(b"t")
    if not asked.recv(1):
        raise ConnectionResetError("it closed the connection")
    return time.monotonic_ns() - before_ns


def _answer(server: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it was closed
        while True:
            client, _ = server.accept()
            with client, contextlib.suppress(OSError):
                _serve(client)


def _serve(client: socket.socket) -> None:
    client.settimeout(_TIMEOUT_S)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while client.recv(1) == b"t":
        client.sendall(b"t")
    until = time.monotonic() + FLOOD_S
    while time.monotonic() < until:
        client.sendall(_PART)
