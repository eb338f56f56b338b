"""Ports: one that is certainly free, and who listens on one.

A port from the kernel's ephemeral range may be taken by any outgoing connection between our look and the server's
bind, so ours lie outside it. And that something answers on a port proves nothing about who: once a foreign server sat
there and passed every check. So listeners are told with the processes that own them.
"""

from __future__ import annotations

import errno
import itertools
import os
import socket
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from webdyno.model.errors import MachineError
from webdyno.rig.fingerprint import port_range
from webdyno.rig.process import all_stats, name_of
from webdyno.rig.sockets import listening

_FIRST, _LAST = 10_000, 65_000
_DEFAULT_EPHEMERAL = (32_768, 60_999)
_turn = itertools.count(os.getpid() * 37)
"""Where to go on looking: no port is used twice in a row, so that one trial's closing connections cannot touch the
next.
"""


class Listener(NamedTuple):
    """One listening TCP socket; with SO_REUSEPORT a port has several."""

    address: str
    port: int
    inode: int
    backlog: int | None
    """Longest allowed queue of connections not yet accepted; None where only /proc could be asked."""
    queue: int | None
    """How many wait in it now."""
    pids: tuple[int, ...]
    """Processes that have it open, as far as we may see."""


def free_port(host: str = "127.0.0.1") -> int:
    """A port outside the ephemeral range nobody uses, not even a closing connection; proven by binding it."""
    low, high = port_range() or _DEFAULT_EPHEMERAL
    ports = [port for port in range(_FIRST, _LAST) if not low <= port <= high]
    if not ports:  # the whole range is ephemeral: there is no better place left
        ports = list(range(_FIRST, _LAST))
    for _ in range(len(ports)):
        port = ports[next(_turn) % len(ports)]
        if _can_bind(host, port, reuse=False):
            return port
    raise MachineError(f"no port of {host} is free; see what listens with: ss -ltn")


def listeners(port: int, pids: Iterable[int] | None = None) -> list[Listener]:
    """Who listens on ``port``, on any address. Owners are looked for among ``pids`` (None: all processes, which is
    slower).
    """
    found = listening(port)
    if not found:
        return []
    owners = _owners({each.inode for each in found}, all_stats() if pids is None else pids)
    return [Listener(*each, tuple(owners.get(each.inode, ()))) for each in found]


def ports_of(pids: Iterable[int]) -> list[int]:
    """The TCP ports these processes listen on."""
    held = {target for pid in pids for target in open_files(pid)}
    return sorted({each.port for each in listening(None) if f"socket:[{each.inode}]" in held})


def wait_free(host: str, port: int, within_s: float = 2.0) -> str | None:
    """Wait until nobody listens on ``port`` and it can be bound; a sentence when that took long or did not happen."""
    begun = time.monotonic()
    while True:
        if not listening(port) and _can_bind(host, port, reuse=True):
            took = time.monotonic() - begun
            return f"its port {port} was free again only after {took:.1f} s" if took > 0.5 else None
        if time.monotonic() - begun > within_s:
            return f"its port {port} is not free again: {describe_owners(port)}"
        time.sleep(0.005)


def describe_owners(port: int) -> str:
    """``pid 12 (nginx) listens on it``, for a sentence."""
    pids = sorted({pid for listener in listeners(port) for pid in listener.pids})
    if pids:
        return ", ".join(f"pid {pid} ({name_of(pid)})" for pid in pids) + " listens on it"
    return "a process of another user listens on it" if listening(port) else "it cannot be bound"


def _can_bind(host: str, port: int, *, reuse: bool) -> bool:
    """``reuse`` forgives connections that are closing (TIME_WAIT)."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        if reuse:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise MachineError(f"{host} cannot be bound on this machine: {error.strerror}") from None
    return True


def _owners(inodes: set[int], pids: Iterable[int]) -> dict[int, list[int]]:
    wanted = {f"socket:[{inode}]": inode for inode in inodes}
    owners: dict[int, list[int]] = {}
    for pid in pids:
        for target in set(open_files(pid)):
            if target in wanted:
                owners.setdefault(wanted[target], []).append(pid)
    return owners


def open_files(pid: int) -> Iterator[str]:
    """What each descriptor of ``pid`` points to, such as ``socket:[123]``; nothing when that may not be seen."""
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)  # noqa: PTH208  (thousands of names many times a second)
    except OSError:
        return
    for name in names:
        try:
            yield os.readlink(f"{folder}/{name}")  # noqa: PTH115  (the same)
        except OSError:
            continue
