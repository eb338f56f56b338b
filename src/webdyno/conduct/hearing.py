"""Hearing: what a driver says, line by line, while somebody looks whether it has to stop."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO

from webdyno.model.errors import MachineError
from webdyno.rig.group import Group

STOP_S = 3.0
"""How long a driver that was asked to end may take before its output is no longer waited for."""
DYING_S = 0.5
"""Between the end of a driver's output and its own."""
TICK_S = 0.1
"""How often one looks up from the driver's output."""


def killed(driver: Group) -> str:
    """What is to be added to a Fault of one whom a signal ended; empty for any other, and where its host is lost."""
    status = driver.wait(DYING_S)
    is_known = status is not None and status < 0 and not driver.lost
    return f" (it was ended by {driver.last_words()})" if is_known else ""


def heard(group: Group, log: BinaryIO, must_stop: Callable[[], bool]) -> Iterator[str]:
    """The driver's output line by line, which goes into ``log`` too, until it ends by itself or because it had to."""
    if group.stdout is None:
        raise MachineError("the driver was started without a pipe to read from")
    give_up, pending = float("inf"), b""
    with selectors.DefaultSelector() as selector:
        selector.register(group.stdout, selectors.EVENT_READ)
        while True:
            if selector.select(TICK_S):
                data = os.read(group.stdout.fileno(), 65536)
                if not data:
                    break
                log.write(data)
                *lines, pending = (pending + data).split(b"\n")
                yield from (line.decode("utf-8", "replace") for line in lines)
            if give_up == float("inf") and must_stop():
                give_up = time.monotonic() + STOP_S
                group.terminate()
            if time.monotonic() > give_up:
                break
    if pending:
        yield pending.decode("utf-8", "replace")
