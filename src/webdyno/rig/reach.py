"""Reach: how long a byte takes from one host to another and back, and how many a second the network carries.

By one TCP connection that is given nothing else to do. So the time is the network's and two kernels', and the number
of bytes is what one connection reaches, which may be less than a load over many. What keeps it from more is told where
it is the card, by the speed that its driver says, or the core that takes what the card brings in.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import statistics
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from webdyno.model.errors import MachineError

TRIPS = 200
FLOOD_S = 0.5
FULL = 0.9
"""Part of what a card or a core can do, from which on it is the limit."""
_GET_ADDRESS = 0x8915
_PART = bytes(256 * 1024)
_TIMEOUT_S = 10.0


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """What lies between two hosts."""

    round_trip_ns: float
    """The middle one."""
    bytes_per_s: float
    """From the host that answers to the one that asks."""
    softirq: float | None = None
    """Highest part of a core of the host that asks which its kernel spent on what came in; None: unknown."""
    card_bytes_per_s: float | None = None
    """Speed of its network card; None: its driver names none, as of most virtual ones."""

    @property
    def limit(self) -> str:
        """What kept the bytes from being more; empty where it is neither the card nor a core."""
        if self.card_bytes_per_s is not None and self.bytes_per_s >= FULL * self.card_bytes_per_s:
            return "network card"
        return "softirq of a core" if self.softirq is not None and self.softirq >= FULL else ""


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
            before_s = softirq_s()
            asked.sendall(b"f")
            begun, received = time.monotonic(), 0
            while data := asked.recv(len(_PART)):
                received += len(data)
            seconds = time.monotonic() - begun
            return Reached(
                round_trip_ns=statistics.median(trips),
                bytes_per_s=received / seconds,
                softirq=_highest(before_s, softirq_s(), seconds),
                card_bytes_per_s=card_bytes_per_s(asked.getsockname()[0]),
            )
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise MachineError(
            f"{address} cannot be reached: {reason}; check that no firewall separates the hosts"
        ) from None


def softirq_s(stat: Path = Path("/proc/stat")) -> dict[str, float]:
    """Seconds that the kernel has spent on each core with what it had put off, mostly packets that came in."""
    try:
        rows = [line.split() for line in stat.read_text().splitlines()]
    except OSError:
        return {}
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    return {row[0]: int(row[7]) / ticks_per_s for row in rows if len(row) > 7 and row[0][3:].isdigit()}


def _highest(before_s: Mapping[str, float], after_s: Mapping[str, float], seconds: float) -> float | None:
    shares = [(after_s[core] - before_s[core]) / seconds for core in before_s.keys() & after_s.keys()]
    return max(shares, default=None)


def card_bytes_per_s(address: str, cards: Path = Path("/sys/class/net")) -> float | None:
    """Speed of the card with that address, as its driver says it; None where it does not."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            try:
                found = fcntl.ioctl(asked, _GET_ADDRESS, struct.pack("256s", name.encode()))[20:24]
                if socket.inet_ntoa(found) == address:
                    megabits_per_s = int((cards / name / "speed").read_text())
                    return megabits_per_s * 1e6 / 8 if megabits_per_s > 0 else None
            except (OSError, ValueError):  # it has no address, or names no speed
                continue
    return None


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
