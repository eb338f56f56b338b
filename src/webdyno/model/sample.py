"""Sample: evidence. A Slice is one stretch of load, a Reading one look at one process group. Unknown is None, not 0."""

from __future__ import annotations

from typing import Literal

import msgspec

Phase = Literal["warmup", "lead", "turn", "steady"]
"""A Run has turns only where it was measured in a block. The lead of one is its load before it counts."""

ERROR_KINDS = (
    "wrong-status",
    "wrong-body",
    "timeout",
    "connect-refused",
    "connect-timeout",
    "reset",
    "truncated",
    "malformed",
    "tls",
    "shed",  # due at an open pace and never sent: no connection was free in time
    "unfinished",
    "socket",  # for drivers that cannot tell more
)
"""Every way an offered request can fail to be answered correctly."""


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One request's part of a Slice, where a load has several."""

    name: str
    offered: int
    ok: int
    errors: dict[str, int]
    """As in a Slice."""
    bytes_in: int
    latency_hdr: str | None = None
    response_hdr: str | None = None


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """One second of load as a driver saw it (drivers without a time series give one Slice for the whole phase)."""

    phase: Phase
    index: int
    start_ns: int | None
    """CLOCK_MONOTONIC; None when the driver does not say."""
    duration_ns: int
    offered: int
    ok: int
    errors: dict[str, int]
    """Counts by kind (ERROR_KINDS), zero counts left out."""
    bytes_in: int | None = None
    bytes_out: int | None = None
    connections_opened: int | None = None
    closes_announced: int | None = None
    closes_silent: int | None = None
    stale_retries: int | None = None
    http10_answers: int | None = None
    in_flight: int | None = None
    latency_hdr: str | None = None
    """HdrHistogram of service time (sent to done) in ns, V2 DEFLATE base64, of this Slice alone."""
    response_hdr: str | None = None
    """Of response time (due to done); requests that were given up are in it at their age, which is a lower bound."""
    lag_hdr: str | None = None
    """Of the driver's own lateness at an open pace: due to sent, as far as a connection was free."""
    ttfb_hdr: str | None = None
    """Of the time from sent to the first byte of the answer."""
    connect_hdr: str | None = None
    unfinished_hdr: str | None = None
    """Of the ages, since due, of the requests that were under way when the load ended."""
    handshake_hdr: str | None = None
    """Of the time a TLS handshake took."""
    handshakes_full: int | None = None
    handshakes_resumed: int | None = None
    censored: int | None = None
    """Samples of ``response_hdr`` that are such ages."""
    censored_above_ns: int | None = None
    """The smallest of these ages: below it ``response_hdr`` is exact."""
    latency_ns: dict[str, float] | None = None
    """mean, stdev, max, p50 ...: where the driver gives points instead of a histogram."""
    cpu_user_ns: int | None = None
    cpu_system_ns: int | None = None
    idle_ns: int | None = None
    """Time in which the driver's threads had nothing to do, added up over them; one that spins is idle too."""
    run_delay_ns: int | None = None
    """Time in which they could have run and had no core, added up over them."""
    routes: list[Route] = []
    """Empty where there is one request only, or the driver does not tell."""
    turn: int | None = None
    """Pass of its block in which this was the contender's turn, from 0; None: no turn."""
    drained_ns: int | None = None
    """Of the length of a turn, how long it waited for the last answers when its time was over."""
    reopened: int | None = None
    """Connections that the server had closed while it rested, opened again before this turn."""
    contender_cpu_ns: int | None = None
    """What the contender's processes used in this turn."""


Role = Literal["contender", "driver", "service", "host", "carrier"]
"""carrier: the daemons, on the contender's machine, of what starts drivers on another one."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The resources of one role's whole process group at one instant; counters count from the group's start."""

    at_ns: int
    """CLOCK_MONOTONIC."""
    role: Role
    cpu_user_ns: int | None = None
    cpu_system_ns: int | None = None
    rss_bytes: int | None = None
    pss_bytes: int | None = None
    swap_bytes: int | None = None
    """Of its memory, what lies in swap; looked at with ``pss_bytes``."""
    processes: int | None = None
    threads: int | None = None
    sockets: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    throttled_ns: int | None = None
    """Time the cgroup was held back by a quota."""
    cpu_by_process: dict[str, int] | None = None
    """CPU in ns by pid: shows a worker that takes all."""
    run_queue: float | None = None
    """host: processes able to run."""
    steal_ns: int | None = None
    """host: time the hypervisor took, all cores, since boot."""
    steal_by_core: dict[str, int] | None = None
    """host: the same by core (number as the kernel counts them), of those that lost any; None in Runs made before it
    was kept, and where the kernel does not tell."""
    busy_ns: int | None = None
    """host: time at work, all cores, since boot: without what was idle, waited for I/O (iowait) or was stolen."""
