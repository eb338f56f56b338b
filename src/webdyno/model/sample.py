"""Sample: evidence. A Slice is one stretch of load, a Reading one look at one process group. Unknown is None, not 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal

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

Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=1 << 63)]
"""Nothing that was counted is below zero. msgspec sees to it where a results file is read, and nowhere else."""


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One request's part of a Slice, where a load has several."""

    name: str
    offered: Count
    ok: Count
    errors: dict[str, Count]
    """As in a Slice."""
    bytes_in: Count
    latency_hdr: str | None = None
    response_hdr: str | None = None


class Slice(msgspec.Struct, frozen=True, kw_only=True):
    """One second of load as a driver saw it (drivers without a time series give one Slice for the whole phase)."""

    phase: Phase
    index: Count
    start_ns: Count | None
    """CLOCK_MONOTONIC; None when the driver does not say."""
    duration_ns: Count
    offered: Count
    ok: Count
    errors: dict[str, Count]
    """Counts by kind (ERROR_KINDS), zero counts left out."""
    bytes_in: Count | None = None
    bytes_out: Count | None = None
    connections_opened: Count | None = None
    closes_announced: Count | None = None
    closes_silent: Count | None = None
    stale_retries: Count | None = None
    http10_answers: Count | None = None
    in_flight: Count | None = None
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
    handshakes_full: Count | None = None
    handshakes_resumed: Count | None = None
    censored: Count | None = None
    """Samples of ``response_hdr`` that are such ages."""
    censored_above_ns: Count | None = None
    """The smallest of these ages: below it ``response_hdr`` is exact."""
    latency_ns: dict[str, Amount] | None = None
    """mean, stdev, max, p50 ...: where the driver gives points instead of a histogram."""
    cpu_user_ns: Count | None = None
    cpu_system_ns: Count | None = None
    idle_ns: Count | None = None
    """Time in which the driver's threads had nothing to do, added up over them; one that spins is idle too."""
    run_delay_ns: Count | None = None
    """Time in which they could have run and had no core, added up over them."""
    routes: list[Route] = []
    """Empty where there is one request only, or the driver does not tell."""
    turn: Count | None = None
    """Pass of its block in which this was the contender's turn, from 0; None: no turn."""
    drained_ns: Count | None = None
    """Of the length of a turn, how long it waited for the last answers when its time was over."""
    reopened: Count | None = None
    """Connections that the server had closed while it rested, opened again before this turn."""
    contender_cpu_ns: Count | None = None
    """What the contender's processes used in this turn."""
    others_cpu_ns: int | None = None
    """What programs that are no part of the Trial used of its cores in this turn, and what the hypervisor took of them,
    added up over the cores; in ticks, so a little more or less, and never below 0."""

    @property
    def is_stretch(self) -> bool:
        """Of a warm-up that was given stretch by stretch, as turns are."""
        return self.phase == "warmup" and self.drained_ns is not None

    @property
    def loaded_ns(self) -> int:
        """Its length without the wait for the last answers: who found no place in a listen queue comes again after a
        second or three, and what is answered in that time is one request on each connection at most."""
        return self.duration_ns - (self.drained_ns or 0)


Role = Literal["contender", "driver", "service", "host", "carrier"]
"""carrier: the daemons, on the contender's machine, of what starts drivers on another one."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The resources of one role's whole process group at one instant; counters count from the group's start."""

    at_ns: Count
    """CLOCK_MONOTONIC."""
    role: Role
    cpu_user_ns: Count | None = None
    cpu_system_ns: Count | None = None
    rss_bytes: Count | None = None
    pss_bytes: Count | None = None
    swap_bytes: Count | None = None
    """Of its memory, what lies in swap; looked at with ``pss_bytes``."""
    processes: Count | None = None
    threads: Count | None = None
    sockets: Count | None = None
    voluntary_switches: Count | None = None
    involuntary_switches: Count | None = None
    throttled_ns: Count | None = None
    """Time the cgroup was held back by a quota."""
    cpu_by_process: dict[str, Count] | None = None
    """CPU in ns by pid: shows a worker that takes all."""
    run_queue: Amount | None = None
    """host: processes able to run."""
    steal_ns: Count | None = None
    """host: time the hypervisor took, all cores, since boot."""
    steal_by_core: dict[str, Count] | None = None
    """host: the same by core (number as the kernel counts them), of those that lost any; None in Runs made before it
    was kept, and where the kernel does not tell."""
    softirqd_by_core: dict[str, Count] | None = None
    """host: CPU in ns, by core, of the kernel's threads for network work that piles up (ksoftirqd); None in Runs made
    before it was kept, and where these threads cannot be seen."""
    busy_ns: Count | None = None
    """host: time at work, all cores, since boot: without what was idle, waited for I/O (iowait) or was stolen."""


def climb(stretches: Sequence[Slice]) -> float | None:
    """Logarithm of how many times as fast the last four of them were as the four before; of fewer than twelve, thirds.

    By the time under load. None: fewer than six, or nothing was answered.
    """
    some = min(len(stretches) // 3, 4)
    if some < 2:
        return None
    before, last = (
        sum(each.ok for each in part) / max(sum(each.loaded_ns for each in part), 1)
        for part in (stretches[-2 * some : -some], stretches[-some:])
    )
    return math.log(last / before) if before and last else None
