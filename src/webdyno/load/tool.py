"""What plain command-line load tools have in common: how one is found, and the sentences that refuse what it cannot
do.

Every refusal says what was asked, what the tool can do instead, and which driver would do it as asked. Rounding a
duration or dropping a second request in silence would make the figures of two drivers incomparable without anybody
knowing.
"""

from __future__ import annotations

import math
import shutil

from webdyno.load.order import Order, Way
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.workload import Request


def program(name: str, package: str, by: str = "apt-get install") -> str:
    """Path of an installed tool; MachineError that says how to get it."""
    found = shutil.which(name)
    if found is None:
        raise MachineError(f"{name} is not installed: {by} {package}, or use --driver engine")
    return found


def only_request(order: Order, driver: str) -> Request:
    """The one request of an order for a tool that sends only one, and only when the answer before it has come."""
    if order.load.is_open:
        raise UsageError(f"{driver} supports only a closed pace, and this load has a rate: use --driver engine")
    return sole_request(order, driver)


def sole_request(order: Order, driver: str) -> Request:
    """The one request of an order for a tool that sends only one, one at a time, over plain TCP."""
    load = order.load
    if load.drivers > 1:
        raise UsageError(f"{driver} cannot share a load: leave --drivers out, or use --driver engine")
    if load.connection_stages or load.opening_s or load.pipeline > 1 or load.streams > 1 or order.way != Way():
        raise UsageError(
            f"{driver} supports only one request at a time on a fixed number of plain connections, opened at "
            "once: use --driver engine"
        )
    if len(order.requests) != 1:
        raise UsageError(
            f"{driver} sends one kind of request, this workload has {len(order.requests)}: use --driver engine"
        )
    return order.requests[0]


def whole_seconds(seconds: float, what: str, driver: str) -> int:
    """``seconds`` as the whole number the tool takes; a fraction is refused, not rounded."""
    if seconds != int(seconds) or seconds < 1:
        raise UsageError(
            f"{driver} counts whole seconds, {what} is {seconds:g} s: "
            f"give {max(1, math.ceil(seconds))} s or use --driver engine"
        )
    return int(seconds)


def warmup_seconds(order: Order) -> int:
    """Length of the warm-up in whole seconds, rounded up: it is not part of the result, so more of it harms nothing."""
    return math.ceil(order.load.warmup_s)


def refuse_statuses(request: Request, driver: str, good: range, said: str) -> None:
    """Refuse a workload whose right statuses the tool would count as errors."""
    strange = [status for status in request.expect.statuses if status not in good]
    if strange:
        raise UsageError(
            f"{driver} counts only {said} as right, request {request.name!r} expects {strange[0]}: use --driver engine"
        )


def last_words(lines: list[str]) -> str:
    """The end of what a tool said, as one line for a Fault."""
    said = [line.strip() for line in lines if line.strip()]
    return "; ".join(said[-2:]) or "it said nothing"
