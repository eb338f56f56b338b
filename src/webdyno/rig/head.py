"""Head: whether the head of a cluster still takes connections.

What carries us may end our whole process where it has lost its head (Ray does, after a minute, and says so in a log of
its own). So we look ourselves, notice it before, and end what is far in our own way.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

from webdyno.rig.far import LOST_S

LOOK_S = 2.0
_CONNECT_S = 5.0


class Head:
    """``address``: ``HOST:PORT``."""

    lost = ""
    """Why nothing more can be asked of the cluster, in one sentence; empty as long as it answers."""

    def __init__(self, address: str) -> None:
        self.address = address

    def answers(self) -> bool:
        """Whether it takes a connection now."""
        host, _, port = self.address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()
        except OSError:
            return False
        return True

    def watch(self, over: threading.Event, lost_s: float = LOST_S, look_s: float = LOOK_S) -> None:
        """Until it is lost, or ``over``."""
        answered_s = time.monotonic()
        while not over.wait(look_s):
            if self.answers():
                answered_s = time.monotonic()
            elif time.monotonic() - answered_s > lost_s:
                self.lost = f"{self.address}, the head of the cluster, has not answered for {lost_s:g} s"
                return


@contextlib.contextmanager
def watched(address: str) -> Iterator[Head]:
    """With its loss noticed."""
    head, over = Head(address), threading.Event()
    threading.Thread(target=head.watch, args=(over,), name="webdyno-head", daemon=True).start()
    try:
        yield head
    finally:
        over.set()
