"""``--wait``: until another webdyno on this machine has ended, instead of refusing to measure beside it."""

from __future__ import annotations

import sys
import threading
from typing import Annotated

from webdyno.commands.options import flag
from webdyno.rig.strap import Waiting

WaitOption = Annotated[bool, flag("--wait", help="Wait while another webdyno measures here, instead of refusing.")]
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
            print(f"waiting until another webdyno ({holder}) has ended; Ctrl-C ends the waiting", file=sys.stderr)
        if (interrupted or threading.Event()).wait(_LOOK_S):
            raise KeyboardInterrupt

    return look_again if wait else None
