"""Sockets: the listening TCP sockets of this network namespace, asked of the kernel by netlink (sock_diag).

Netlink is the only one that tells the real length of a listen queue, which servers often set differently from what
they were told. Where it may not be used, /proc/net/tcp and tcp6 give all but that. Wire format: linux/inet_diag.h,
linux/netlink.h.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_SOCK_DIAG = 4  # NETLINK_SOCK_DIAG
_BY_FAMILY = 20  # SOCK_DIAG_BY_FAMILY
_REQUEST_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
_ERROR, _DONE = 2, 3
_LISTEN = 10  # TCP_LISTEN
_HEADER = struct.Struct("=IHHII")
_ASK = struct.Struct("=BBBxI48x")
_ANSWER = struct.Struct("=BBBB 2s2s 16s16s IQ IIIII")


class Listening(NamedTuple):
    """One socket; see Listener in ports.py."""

    address: str
    port: int
    inode: int
    backlog: int | None
    queue: int | None


def listening(port: int | None) -> list[Listening]:
    """Sockets listening on ``port`` (None: on any), on any address."""
    try:
        sockets = [each for family in (socket.AF_INET, socket.AF_INET6) for each in _ask(family)]
    except OSError:
        sockets = [*_read(Path("/proc/net/tcp")), *_read(Path("/proc/net/tcp6"))]
    return [each for each in sockets if port in (None, each.port)]


def _ask(family: int) -> list[Listening]:
    found: list[Listening] = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as netlink:
        netlink.settimeout(1.0)
        ask = _ASK.pack(family, socket.IPPROTO_TCP, 0, 1 << _LISTEN)
        netlink.send(_HEADER.pack(_HEADER.size + len(ask), _BY_FAMILY, _REQUEST_DUMP, 1, 0) + ask)
        while True:
            for kind, message in _messages(netlink.recv(1 << 17)):
                if kind == _DONE:
                    return found
                if kind == _ERROR:
                    raise OSError("sock_diag refused")
                found.append(_parse(message))


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        length, kind, *_ = _HEADER.unpack_from(data, at)
        yield kind, data[at + _HEADER.size : at + length]
        at += (length + 3) & ~3


def _parse(message: bytes) -> Listening:
    family, _, _, _, port, _, source, _, _, _, _, queue, backlog, _, inode = _ANSWER.unpack_from(message)
    address = source[:4] if family == socket.AF_INET else source
    return Listening(socket.inet_ntop(family, address), int.from_bytes(port, "big"), inode, backlog, queue)


def _read(path: Path) -> list[Listening]:
    """``sl local_address rem_address st ...``: addresses in hexadecimal, each 32-bit word in the machine's byte
    order.
    """
    try:
        lines = path.read_text(errors="replace").splitlines()[1:]
    except OSError:
        return []
    found = []
    for line in lines:
        with contextlib.suppress(ValueError, IndexError, OverflowError, struct.error):  # a line that is none of these
            fields = line.split()
            if int(fields[3], 16) == _LISTEN:
                found.append(_of(fields))
    return found


def _of(fields: list[str]) -> Listening:
    words, port = fields[1].split(":")
    raw = struct.pack(f"={len(words) // 8}I", *struct.unpack(f">{len(words) // 8}I", bytes.fromhex(words)))
    family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
    return Listening(socket.inet_ntop(family, raw), int(port, 16), int(fields[9]), None, None)
