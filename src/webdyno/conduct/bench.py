"""Bench: what stays the same from Trial to Trial, what is under load in one of them, and how its driver is heard.

Apart from trial.py, so that seats and warm-ups, which a Trial is conducted with, know of it too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from webdyno.conduct.fence import Fence
from webdyno.conduct.record import Record
from webdyno.load.driver import Driver, DriverCommand, Event, Fault, Order
from webdyno.load.order import earlier
from webdyno.measure.proc import Readable
from webdyno.model.block import Taken
from webdyno.model.sample import Role
from webdyno.model.trial import Plan, Trial
from webdyno.rig.group import Group
from webdyno.rig.strap import Strapped
from webdyno.serve.serving import Served, serve
from webdyno.service import Running

GRACE_S = 15.0
"""How much longer than asked a driver may take (connects, time-outs, its own start) before it is ended."""


class Backers(Protocol):
    """What stands behind contenders."""

    def ready(self, name: str, delay_ms: int = 0) -> Running:
        """The service of that name, answering that much later; ServiceError."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What stays the same from Trial to Trial of one command."""

    plan: Plan
    strapped: Strapped
    services: Backers
    driver: Driver
    driver_version: str
    contender_log: Callable[[Trial], Path]
    driver_log: Callable[[Trial], Path]
    watch: Callable[[Event | Taken], None] = lambda _: None
    """Told every event of the driver as it comes, for a live view."""
    serve: Callable[..., AbstractContextManager[Served]] = serve
    """How a contender is started and ended: again for each Trial, unless rounds are measured in place."""
    drive: Callable[[Trial, Bench, Order, Under, Record], None] | None = None
    """How it is loaded; None: from begin to end by the driver, alone. A block gives it turns instead."""

    @property
    def beside(self) -> dict[Role, Readable]:
        """Who is read besides, with every load: what carries drivers to another host."""
        return {} if self.strapped.daemons is None else {"carrier": self.strapped.daemons}

    @property
    def interrupted(self) -> threading.Event:
        """Set when the user wants an end."""
        return self.strapped.interrupted


@dataclass(frozen=True)
class Under:
    """What is under load: the contender, and the service behind it."""

    served: Served
    running: Running | None
    fence: Fence

    @property
    def groups(self) -> dict[Role, Group]:
        """Whose processes are known."""
        groups: dict[Role, Group] = {"contender": self.served.group}
        if self.running is not None and self.running.group is not None:
            groups["service"] = self.running.group
        return groups

    def has_ended(self) -> bool:
        """True when there is nobody left to load."""
        return any(group.has_ended() for group in self.groups.values())


def events_of(driver: Driver, command: DriverCommand, lines: Iterator[str], group: Group) -> Iterator[Event]:
    """What the driver says, at the time of this machine's clock; why it is lost, where that is why it ended."""
    for event in driver.read(command, lines):
        lost = isinstance(event, Fault) and group.lost
        yield Fault(lost) if lost else earlier(event, group.clock_ahead_ns)
