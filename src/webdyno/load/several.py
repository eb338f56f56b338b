"""Several drivers for one load: each gets its share of connections and requests, exactly.

What happens in time (a rate, stages, bursts, the opening of connections) is told to all of them whole: driver k of n
takes the requests k, k + n, k + 2n ... of it, so that together they are the schedule of one; Poisson arrivals are drawn
for each apart, at its part of the rate, and together they are a Poisson process of the whole rate (superposition).
"""

from __future__ import annotations

import msgspec

from webdyno.load.engine import program
from webdyno.load.engine_order import engine_order
from webdyno.load.order import DriverCommand, Order
from webdyno.model.load import Load

WATCH_NS = 2_000_000_000
"""An engine that hears nothing for so long ends its load. It notices within 0.1 s: three seconds are never passed."""
ALIVE_S = 0.5
"""How often it is told that we are there."""


def split(load: Load, drivers: int) -> list[Load]:
    """The load's part of each driver: connections, the most of them and a count add up to the load's; the schedule is
    still that of all.

    ValueError when there are not enough connections or requests for all.
    """
    msgspec.structs.replace(load, drivers=drivers)  # checks that there are enough
    parts = []
    for index in range(drivers):
        most = None if load.max_connections is None else dealt(load.max_connections, drivers, index)
        parts.append(
            msgspec.structs.replace(
                load,
                connections=dealt(load.connections, drivers, index),
                max_connections=most,
                count=None if load.count is None else dealt(load.count, drivers, index),
                drivers=1,
            )
        )
    return parts


def dealt(number: int, drivers: int, index: int) -> int:
    """How many of this many things one of the drivers gets, when they are dealt like cards."""
    return number // drivers + (index < number % drivers)


def orders(order: Order) -> list[Order]:
    """The order of each driver, on cores of its own as far as there are any."""
    drivers = order.load.drivers
    cores = order.cores
    return [
        msgspec.structs.replace(
            order, load=load, cores=cores[index::drivers] or cores[index % max(1, len(cores)) :][:1]
        )
        for index, load in enumerate(split(order.load, drivers))
    ]


def shared_command(order: Order, index: int, drivers: int, start_at_ns: int) -> DriverCommand:
    """The command of one of the drivers; its standard input begins with one line, and goes on with signs of life.

    ``start_at_ns``: CLOCK_MONOTONIC of the host that it runs on.
    """
    keys = {
        "schema": 5,
        "part": {"index": index, "of": drivers},
        "start_at_ns": start_at_ns,
        "watch_ns": WATCH_NS,
    }
    stdin = msgspec.json.encode(engine_order(order) | keys) + b"\n"
    return DriverCommand(phase=None, argv=[program()], order=order, stdin=stdin)
