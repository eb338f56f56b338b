"""What a tool reports is data from outside: a figure that cannot be ends the reading with a sentence."""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from webdyno.load.order import DriverCommand, Event, Fault

Read = Callable[[Any, DriverCommand, Iterable[str]], Iterator[Event]]
"""A driver's ``read``."""


def believed(read: Read) -> Read:
    """``read``, ended by a Fault at a figure that cannot be: no number, or one that nothing can hold."""

    @functools.wraps(read)
    def checked(driver: Any, command: DriverCommand, lines: Iterable[str]) -> Iterator[Event]:
        try:
            yield from read(driver, command, lines)
        except (ValueError, OverflowError, KeyError, RecursionError, msgspec.MsgspecError, csv.Error) as error:
            said = " ".join(str(error).split())[:200]
            yield Fault(
                f"{driver.can.driver} reported what cannot be read ({type(error).__name__}: {said}): run it again"
            )

    return checked
