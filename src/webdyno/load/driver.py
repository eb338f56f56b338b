"""Driver: one load tool behind two pure functions, an Order turned into commands and their output turned into events.

A driver starts nothing and reads no clock: the caller runs its commands wherever the rig says and hands the lines
back as they come. So a recorded output is a complete test of it, and every tool, our own engine included, is pinned,
limited and measured in the same way. A driver never makes a number up: what its tool does not say is None, and what
the tool cannot tell at all stands in its ``Can``. An Order that a tool cannot carry out truly is refused with
UsageError; it is never bent to fit.

A new driver is one file beside this one, one line in DRIVERS, and one folder of recorded outputs in tests/golden.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from webdyno.load.ab import Ab
from webdyno.load.engine import Engine
from webdyno.load.h2load import H2load
from webdyno.load.jmeter import JMeter
from webdyno.load.oha import Oha
from webdyno.load.order import Ask, DriverCommand, Event, Fault, Order, PhaseEdge, Rested, Summary, Tls, Way
from webdyno.load.wrk import Wrk
from webdyno.load.wrk2 import Wrk2
from webdyno.model.driver import Can

__all__ = [
    "DRIVERS",
    "Ask",
    "Driver",
    "DriverCommand",
    "Event",
    "Fault",
    "Order",
    "PhaseEdge",
    "Rested",
    "Summary",
    "Tls",
    "Way",
]


class Driver(Protocol):
    """One load tool. ``read`` is lazy: a live driver's Slices come out as its lines go in."""

    can: Can

    def version(self, ask: Ask) -> str:
        """Version of the tool, one line; MachineError, with how to get it, when it is not installed."""
        ...

    def commands(self, order: Order) -> list[DriverCommand]:
        """One command per phase, or one for all; UsageError when this tool cannot do what is asked."""
        ...

    def read(self, command: DriverCommand, lines: Iterable[str]) -> Iterator[Event]:
        """Events of one command's output; ends with a Summary, or with a Fault."""
        ...


DRIVERS: dict[str, Callable[[], Driver]] = {
    "engine": Engine,
    "wrk": Wrk,
    "wrk2": Wrk2,
    "ab": Ab,
    "h2load": H2load,
    "oha": Oha,
    "jmeter": JMeter,
}
