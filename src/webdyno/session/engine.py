"""One load by our own engine outside any rig: started and followed to its end. Also what calibration drives with."""

from __future__ import annotations

import datetime
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from webdyno.analyse.error_share import gone_wrong
from webdyno.analyse.shares import shares_in
from webdyno.conduct.together import posts_on, together
from webdyno.histogram import Histogram, merge
from webdyno.load.driver import DRIVERS, Event, Fault, Order, Summary
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.sample import Slice
from webdyno.model.share import Share
from webdyno.rig.far import FarHost
from webdyno.rig.here import Here
from webdyno.rig.host import PIPE, Command, Host, Role
from webdyno.rig.sleep import slept_ns
from webdyno.session.interrupts import listening_for_interrupts


@dataclass
class Loaded:
    """What the engine said."""

    order: Order
    slices: list[Slice] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    started_at: datetime.datetime = field(default_factory=lambda: datetime.datetime.now(datetime.UTC))
    slept_ns: int = 0
    """For which the machine was suspended meanwhile."""

    @property
    def ok(self) -> bool:
        """True when at least one request was answered correctly."""
        return bool(self.summary.get("ok"))

    @property
    def hosts(self) -> list[str]:
        """The other machines that it came from, by their addresses; none: this one."""
        return [share.host for share in self.shares if share.host]

    @property
    def started(self) -> dict[str, Any]:
        """What the engine said of itself at the start."""
        return dict(self.summary.get("started", {}))

    @property
    def shares(self) -> list[Share]:
        """What each of several drivers gave; empty where there was one."""
        return shares_in(self.summary)

    @property
    def seconds(self) -> float:
        """True length of the steady phase."""
        return float(self.summary["duration_ns"] / 1e9)

    @property
    def per_s(self) -> float:
        """Correct answers per second."""
        return self.summary["ok"] / self.seconds if self.seconds else 0.0

    @property
    def errors(self) -> dict[str, int]:
        """Requests that went wrong, by kind; those in flight at the end did not."""
        return gone_wrong(self.summary["errors"])

    @property
    def steady(self) -> list[Slice]:
        """Without the warm-up."""
        return [slice_ for slice_ in self.slices if slice_.phase == "steady"]

    def merged(self, name: str) -> Histogram | None:
        """The histograms of that name of all steady Slices as one; None when there are none."""
        return merge(text for slice_ in self.steady if (text := getattr(slice_, name)))

    @property
    def response(self) -> Histogram | None:
        """Response times, from due; what older engines do not give at a closed pace is the same from sent."""
        return self.merged("response_hdr") or self.merged("latency_hdr")


def carry_out(
    order: Order,
    watch: Callable[[Event], None],
    host: Here | None = None,
    *,
    far: Sequence[FarHost] = (),
    keep_on_interrupt: bool = False,
) -> Loaded:
    """Run the engine to its end: on ``far``, a host for each driver, or the driver's cores of ``host``, or all of here.

    With ``keep_on_interrupt`` a Ctrl-C, SIGTERM or closed terminal ends it early and what it has measured so far is
    given back; the second Ctrl-C, and the first without it, is a KeyboardInterrupt. UsageError (order), MachineError.
    """
    if far or order.load.drivers > 1:
        hosts: Sequence[Host] = far or [host or Here()] * order.load.drivers
        role: Role = "driver" if far or host is not None else "tool"
        return _carry_out_together(order, watch, hosts, role, keep_on_interrupt=keep_on_interrupt)
    (command,) = (driver := DRIVERS["engine"]()).commands(order)
    before_ns = slept_ns()
    group = (host or Here()).start(
        Command(
            argv=command.argv,
            cwd=Path.cwd(),
            environment=command.environment,
            role="tool" if host is None else "driver",
            stdin=command.stdin,
            stdout=PIPE,
            stderr=Path(os.devnull),  # what it says there stands in its Fault too
        )
    )
    loaded = Loaded(order)
    try:
        with listening_for_interrupts(group.terminate) if keep_on_interrupt else nullcontext():
            for event in driver.read(command, _lines(group.stdout)):
                _note(event, loaded)
                watch(event)
    finally:
        group.end(grace_s=3.0)
        loaded.slept_ns = slept_ns() - before_ns
    return _with_summary(loaded)


def _carry_out_together(
    order: Order, watch: Callable[[Event], None], hosts: Sequence[Host], role: Role, *, keep_on_interrupt: bool
) -> Loaded:
    """The same by several engines, whose events come as if one had said them."""
    loaded, stopped, before_ns = Loaded(order), threading.Event(), slept_ns()
    with (
        listening_for_interrupts(lambda: None, stopped) if keep_on_interrupt else nullcontext(),
        TemporaryDirectory(prefix="webdyno-") as folder,  # a far host is given what lies in it: nothing
        closing(together(order, posts_on(hosts, Path(folder), Path(os.devnull), role), stopped.is_set)) as events,
    ):
        for event in events:
            _note(event, loaded)
            watch(event)
    loaded.slept_ns = slept_ns() - before_ns
    return _with_summary(loaded)


def _with_summary(loaded: Loaded) -> Loaded:
    if not loaded.summary:
        raise MachineError("the engine ended without a summary; webdyno doctor says whether it is installed correctly")
    return loaded


def _note(event: Event, loaded: Loaded) -> None:
    match event:
        case Slice():
            loaded.slices.append(event)
        case Summary(fields=fields):
            loaded.summary = fields
        case Fault(message=message, exit=code):
            said = message.removeprefix("target.host ")  # of the order, which nobody typed
            raise UsageError(said) if code == UsageError.exit_code else MachineError(said)


def _lines(stream: Any) -> Iterator[str]:
    for line in stream:
        yield line.decode("utf-8", "replace")
