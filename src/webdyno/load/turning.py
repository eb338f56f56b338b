"""Turning: our engine told turn by turn what to do, its connections open all the time (engine protocol, schema 4).

Pure like the drivers: the first line of its standard input, the lines that ask for turns, and ``Engine.read`` for what
it says. Each turn comes back as one Slice, drained.
"""

from __future__ import annotations

import msgspec

from webdyno.load.engine import program
from webdyno.load.engine_order import engine_order
from webdyno.load.order import DriverCommand, Order
from webdyno.model.sample import Phase

SCHEMA = 4
END = b'{"end": true}\n'
"""Ends it, with its summary."""


def turning(order: Order) -> DriverCommand:
    """The process that opens the connections of ``order``'s load and lets them rest; its standard input goes on."""
    written = engine_order(order) | {
        "schema": SCHEMA,
        "turns": True,
        "duration_ns": None,
        "count": None,
        "warmup_ns": 0,
    }
    stdin = msgspec.json.encode(written) + b"\n"
    return DriverCommand(phase=None, argv=[program()], order=order, stdin=stdin)


def turn(seconds: float, phase: Phase, *, lead_s: float = 0.0, histograms: bool = False) -> bytes:
    """The line that asks for one turn; without ``histograms`` it is cheaper by what it takes to write them.

    Load goes on for ``lead_s`` before it counts, and what happens in it comes back as a Slice of its own, of phase
    "warmup".
    """
    asked = {"duration_ns": round(seconds * 1e9), "phase": phase, "histograms": histograms}
    if lead_s:
        asked["lead_ns"] = round(lead_s * 1e9)
    return msgspec.json.encode({"turn": asked}) + b"\n"
