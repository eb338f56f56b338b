"""Waiting until another webdyno on this machine has ended, instead of refusing to measure beside it."""

from __future__ import annotations

import threading

from webdyno.rig.lock import Waiting
from webdyno.session.saying import say

_LOOK_S = 0.2
"""How often it is looked whether the machine is free."""


def waiting(wait: bool, interrupted: threading.Event | None = None) -> Waiting | None:
    """How ``strap`` and ``machine_lock`` wait for the machine; None: not at all.

    KeyboardInterrupt once ``interrupted`` is set; without it a Ctrl-C is one already.
    """
    told: set[str] = set()

    def look_again(holder: str) -> None:
        if holder not in told:
            told.add(holder)
            say(f"waiting until another webdyno ({holder}) has ended; Ctrl-C ends the waiting")
        if (interrupted or threading.Event()).wait(_LOOK_S):
            raise KeyboardInterrupt

    return look_again if wait else None
