"""Every reader of data from outside, with samples of what it reads, and how a test gives it bytes.

Outside is: files that somebody else may have written, what other programs print, what comes over a socket, what is
typed, and what the kernel says in text. A reader gives a value, or raises a WebdynoError of one sentence; nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from webdyno.load.driver import DRIVERS, DriverCommand, Fault, Order, Summary
from webdyno.model.sample import Slice

GOLDEN = Path(__file__).parent.parent / "golden"
ORDINARY = ("ok", "timed", "errors-some", "refused")
_LARGEST_SAMPLE = 40_000


class Reader(NamedTuple):
    """One reader; ``read`` gets the bytes and an empty folder of its own."""

    name: str
    module: str
    """Below src/webdyno."""
    read: Callable[[bytes, Path], object]
    samples: Sequence[bytes] = ()
    errors: tuple[type[Exception], ...] = ()
    """What else it may raise, because its only caller takes that."""
    alone: bool = True
    """False: its samples name things that stand in other files."""


def text(data: bytes) -> str:
    """As a program's output is read."""
    return data.decode("utf-8", "replace")


def put(folder: Path, data: bytes, *names: str) -> Path:
    """``data`` as the file of these names; the last of them."""
    path = folder.joinpath(*names)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _driver(name: str) -> Reader:
    orders = {path.name.partition(".order")[0]: path for path in sorted((GOLDEN / name).glob("*.order.json"))}
    found = [case for case in orders if case in ORDINARY] or sorted(orders)[:2]
    found = [case for case in found if (GOLDEN / name / f"{case}.txt").stat().st_size < _LARGEST_SAMPLE] or found[:1]
    order = msgspec.json.decode(orders[found[0]].read_bytes(), type=Order)
    phase = None if name in ("engine", "jmeter") else "steady"
    command = DriverCommand(phase=phase, argv=[name], order=order)

    def read(data: bytes, _: Path) -> object:
        events = list(DRIVERS[name]().read(command, text(data).splitlines()))
        assert isinstance(events[-1], Summary | Fault), events[-1]
        for event in events:
            if isinstance(event, Slice):
                assert event.offered == event.ok + sum(event.errors.values())
            elif isinstance(event, Fault):
                assert 0 < len(event.message.splitlines()) < 2, event.message
        return events

    module = {"wrk": "load/wrk_report.py", "wrk2": "load/wrk2.py"}.get(name, f"load/{name}.py")
    samples = [(GOLDEN / name / f"{case}.txt").read_bytes()[:_LARGEST_SAMPLE] for case in found]
    return Reader(f"what {name} prints", module, read, samples)


DRIVEN = [_driver(name) for name in DRIVERS]
