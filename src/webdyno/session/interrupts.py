"""Ctrl-C, SIGTERM and a closed terminal as an Event, for commands that have something to finish first."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webdyno.rig.group import Group

_AGAIN_S = 0.5
"""A Ctrl-C so soon after the last one is the same one: what started us may hand it on, and the terminal sent it too."""
_LOOK_S = 0.05


@contextmanager
def listening_for_interrupts(
    end: Callable[[], object] | None = None, event: threading.Event | None = None
) -> Iterator[threading.Event]:
    """The Event that they set, ``event`` or one of its own: the Trial in flight is ended and recorded, not torn apart.

    ``end`` is called at the first of them, and then nothing is said: it is for what ends at once.

    A second Ctrl-C is a KeyboardInterrupt, for those who do not want to wait. What was ignored when we were started
    stays ignored (``nohup``).
    """
    interrupted = event or threading.Event()
    noted_at: float | None = None

    def note(number: int, _: FrameType | None) -> None:
        nonlocal noted_at
        at, before = time.monotonic(), noted_at
        if before is None:
            noted_at = at
            interrupted.set()
            if end is not None:
                end()
                return
            # not print: it may be in the middle of something itself, and the terminal may be gone
            with suppress(OSError):
                os.write(2, b"\nwebdyno: ending cleanly (Ctrl-C again: at once) ...\n")
        elif number == signal.SIGINT and at - before > _AGAIN_S:
            noted_at = at
            raise KeyboardInterrupt

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ours = threading.current_thread() is threading.main_thread()  # in another, who imported us hears them
    heeded = [number for number in numbers if ours and signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, note) for number in heeded}
    try:
        yield interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ended(group: Group, interrupted: threading.Event, within_s: float | None) -> int | None:
    """Exit status of its first process; None when that takes more than ``within_s`` seconds (None: it never does).

    KeyboardInterrupt as soon as ``interrupted`` is set.
    """
    deadline = None if within_s is None else time.monotonic() + within_s
    while (status := group.wait(_LOOK_S)) is None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        if deadline is not None and time.monotonic() > deadline:
            return None
    return status
