"""Ctrl-C, SIGTERM and a closed terminal as an Event, for commands that have something to finish first."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def listening_for_interrupts() -> Iterator[threading.Event]:
    """The Event that they set: the Trial in flight is ended and recorded, not torn apart."""
    interrupted = threading.Event()

    def note(_: int, __: FrameType | None) -> None:
        if not interrupted.is_set():
            print("\nwebdyno: ending cleanly ...", file=sys.stderr)
        interrupted.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
