"""Driver of webdyno's own engine: one JSON order in, one JSON line per event out (docs/reference/engine-protocol.md).

What is written to it is in engine_order.py; here is what it says. Lines are decoded strictly (a missing key or a wrong
type is a Fault) but keys that a newer engine adds are let pass, so an older webdyno reads a newer engine of the same
schema. The sum that the engine promises (offered == ok + errors) is checked here once more: a Slice that does not add
up never gets into a Run.
"""

from __future__ import annotations

import importlib.metadata
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from webdyno.load.believing import believed
from webdyno.load.engine_order import engine_order
from webdyno.load.order import Ask, DriverCommand, Event, Fault, Order, PhaseEdge, Rested, Summary
from webdyno.model.driver import Can
from webdyno.model.errors import MachineError
from webdyno.model.sample import ERROR_KINDS, Phase, Route, Slice

SCHEMAS = (1, 2, 3, 4, 5)
PROGRAM = "webdyno-engine"


class Engine:
    """The only driver that checks every answer against the workload and gives a series with histograms."""

    can = Can(
        driver="engine",
        http=("1.0", "1.1", "2"),
        statuses="exact",
        lengths="every",
        bodies=True,
        error_kinds=tuple(kind for kind in ERROR_KINDS if kind != "socket"),
        series=True,
        histogram=True,
        invents_samples=False,
        latency_from="sent",
        connections=True,
        silent_closes=True,
        silence=True,
        unfinished=True,
        cores="many",
        resolution_ns=1,
    )

    def version(self, ask: Ask) -> str:  # noqa: ARG002 - the engine reads orders and nothing else
        """Version of the package the engine came in; what really ran says so itself, in ``summary["started"]``."""
        program()
        try:
            return importlib.metadata.version(PROGRAM)
        except importlib.metadata.PackageNotFoundError:
            return "unknown"

    def commands(self, order: Order) -> list[DriverCommand]:
        """One command for all phases; the order goes to its standard input."""
        stdin = msgspec.json.encode(engine_order(order))
        return [DriverCommand(phase=None, argv=[program()], order=order, stdin=stdin)]

    @believed
    def read(self, command: DriverCommand, lines: Iterable[str]) -> Iterator[Event]:  # noqa: ARG002 - the lines say it all
        """Events as they come, each checked before it is believed."""
        started: dict[str, Any] = {}
        last = ""
        for line in lines:
            if not line.strip():
                continue
            last = line.strip()
            try:
                said = _LINES.decode(last)
            except (msgspec.DecodeError, UnicodeError) as error:
                yield Fault(f"{PROGRAM} wrote a line that is not of its protocol ({error}): {last[:200]}")
                return
            if isinstance(said, _Started):
                started = {key: value for key, value in msgspec.json.decode(last).items() if key != "event"}
            event = _event(said, last, started)
            if event is not None:
                yield event
            if isinstance(event, Fault | Summary):
                return
        yield Fault(f"{PROGRAM} ended without a summary; its last line: {last[:200] or 'none'}")


def program(name: str = PROGRAM) -> str:
    """Path of our engine, or of another program that comes with it; MachineError when it is not installed."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise MachineError(f"{name} is neither beside {sys.executable} nor on PATH: run make setup")
    return found


# The lines


class _Started(msgspec.Struct, tag_field="event", tag="started"):
    schema: int


class _Edge(msgspec.Struct, tag_field="event", tag="phase"):
    phase: Phase | Literal["ended"]
    at_ns: int


class _Ready(msgspec.Struct, tag_field="event", tag="ready"):
    connections: int


class _Slice(msgspec.Struct, tag_field="event", tag="slice"):
    phase: Phase
    index: int
    start_ns: int
    duration_ns: int
    offered: int
    ok: int
    errors: dict[str, int]
    bytes_in: int
    bytes_out: int
    connections_opened: int
    closes_announced: int
    closes_silent: int
    stale_retries: int
    http10_answers: int
    in_flight: int
    latency_hdr: str | None
    connect_hdr: str | None
    cpu_user_ns: int
    cpu_system_ns: int
    # What engines before schema 2 do not say.
    response_hdr: str | None = None
    lag_hdr: str | None = None
    ttfb_hdr: str | None = None
    censored: int | None = None
    censored_above_ns: int | None = None
    # What engines before schema 3 do not say.
    handshake_hdr: str | None = None
    handshakes_full: int | None = None
    handshakes_resumed: int | None = None
    unfinished_hdr: str | None = None
    routes: list[Route] = []
    # What turns alone have.
    turn: int | None = None
    drained_ns: int | None = None
    reopened: int | None = None
    # What older engines do not say, nor newer ones where the kernel does not count.
    idle_ns: int | None = None
    run_delay_ns: int | None = None


class _Summary(msgspec.Struct, tag_field="event", tag="summary"):
    ended: str
    duration_ns: int
    offered: int
    ok: int
    errors: dict[str, int]


class _Fault(msgspec.Struct, tag_field="event", tag="fault"):
    exit: int
    message: str
    key: str | None = None


_Line = _Started | _Edge | _Ready | _Slice | _Summary | _Fault
_LINES = msgspec.json.Decoder(_Line)


def _event(said: _Line, line: str, started: dict[str, Any]) -> Event | None:
    """What a line means; None for the one that only introduces."""
    match said:
        case _Started(schema=schema):
            if schema in SCHEMAS:
                return None
            known = ", ".join(map(str, SCHEMAS))
            return Fault(f"{PROGRAM} speaks schema {schema}, this webdyno speaks {known}: install both in one version")
        case _Edge(phase=phase, at_ns=at_ns):
            return PhaseEdge(phase, at_ns)
        case _Ready(connections=connections):
            return Rested(connections)
        case _Fault(exit=code, message=message, key=key):
            return Fault(message if key is None or key in message else f"{key}: {message}", code)
        case _Slice():
            where = f"slice {said.index}"
        case _Summary():
            where = "the summary"
    if said.offered != said.ok + sum(said.errors.values()):
        return Fault(
            f"{where} of {PROGRAM} does not add up: {said.offered} offered, {said.ok} ok, "
            f"{sum(said.errors.values())} errors; this is a fault of the engine, please report it"
        )
    if isinstance(said, _Summary):
        facts = {key: value for key, value in msgspec.json.decode(line).items() if key != "event"}
        return Summary(facts | {"started": started})
    fields = msgspec.structs.asdict(said)
    fields["errors"] = _counted(said.errors)
    fields["routes"] = [msgspec.structs.replace(route, errors=_counted(route.errors)) for route in said.routes]
    return Slice(**fields)


def _counted(errors: dict[str, int]) -> dict[str, int]:
    """Without the kinds that never came."""
    return {kind: count for kind, count in errors.items() if count}
