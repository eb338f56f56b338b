"""Network: a network namespace that has nothing but loopback, and in it all of a measurement: contenders, load tools,
services, and webdyno itself, which asks contenders before and after a load.

The thread that enters it stays there until it leaves, and whatever it starts meanwhile, threads and processes, is there
too; launch.py brings builds and tools back. The kernel takes it away with the last process in it.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from webdyno.model.errors import MachineError

NEW_NETWORK = 0x40000000
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
_FLAGS = struct.Struct("16sh14x")
INSTEAD = "--no-as-user runs contenders as the user you are"
_SETTINGS = ("core/somaxconn", "ipv4")
"""Of /proc/sys/net: what a server on loopback may depend on. A new namespace begins with the kernel's own."""


@contextlib.contextmanager
def own_network() -> Iterator[int]:
    """Enter a new one, with this machine's settings; gives a descriptor of the old one. MachineError."""
    libc = ctypes.CDLL(None, use_errno=True)
    outside = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        settings = _settings()
        if libc.unshare(NEW_NETWORK):
            reason = os.strerror(ctypes.get_errno()).lower()
            raise MachineError(
                f"--as-user is not possible here: a network namespace could not be made: {reason}; {INSTEAD}"
            )
        try:
            _begin_loopback()
            _take_over(settings)
            yield outside
        finally:
            libc.setns(outside, NEW_NETWORK)
    finally:
        os.close(outside)


def _begin_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        flags = _FLAGS.unpack(fcntl.ioctl(asked, _GET_FLAGS, _FLAGS.pack(b"lo", 0)))[1]
        fcntl.ioctl(asked, _SET_FLAGS, _FLAGS.pack(b"lo", flags | _UP))


def _settings() -> dict[Path, str]:
    """As they are here."""
    found: dict[Path, str] = {}
    for top in (Path("/proc/sys/net") / name for name in _SETTINGS):
        for path in [top] if top.is_file() else top.iterdir():
            with contextlib.suppress(OSError, UnicodeDecodeError):
                found[path] = path.read_text() if path.is_file() else ""
    return {path: text for path, text in found.items() if text.strip()}


def _take_over(settings: dict[Path, str]) -> None:
    for path, text in settings.items():
        with contextlib.suppress(OSError, UnicodeDecodeError):  # one that is the whole machine's, and shows in no other
            if path.read_text() != text:
                path.write_text(text)
