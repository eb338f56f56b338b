"""Doubts from arithmetic: rates that cannot be, and a latency that is a timer and not work.

J. D. C. Little (1961), A proof for the queuing formula L = lambda W. Operations Research 9: requests in flight are rate
times time in the system, whatever the server does. Published tables break it by a factor of 26.
"""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.doubts.connections import CLOSING_BELOW
from webdyno.analyse.table import Cell
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt

TOLERANCE = 0.05
PLATEAU_NS = (38e6, 50e6)
IDLE = 0.5
CHEAPEST_NS = 1_000
"""CPU of a server for an answer. One read and one write on a socket over loopback cost it more, for the second carries
the answer through TCP to its reader, on the writer's account: a program of ours that does nothing else needs 3,100.
"""
EACH_NS = 20
"""The same where many requests share the read and the write: some 200 bytes are still copied. That program needs 214
with 16 requests ahead, and 50 with 100.
"""
ENOUGH_ANSWERS = 10_000
"""At 1,000 ns each as much as one tick of 10 ms, in which the kernel counts where no cgroup does."""
HANGING_REQUESTS_ADVICE = "measure longer than the timeout, so that hanging requests are counted as errors"
IMPOSSIBLE_RATE_ADVICE = "check its actual answers (`webdyno check` shows one) and the load tool; do not use the figure"
IMPOSSIBLE_CPU_ADVICE = (
    "look for processes of it that webdyno does not see (a system service, a container, a program in the kernel)"
)
IMPOSSIBLE_CPU_UNCOUNTED_ADVICE = (
    "let webdyno use cgroups (`webdyno doctor` says how): without them, the CPU of processes that end is not counted"
)
DELAYED_ACK_ADVICE = "set TCP_NODELAY in the server, or write head and body of an answer at once"


def impossible_rate(cell: Cell) -> Doubt | None:
    """More answers than the connections could have carried, by more than 5 % and what the edges of the phase allow.

    Rate times latency is checked if latency is the time of requests on connections. It is not checked if latency counts
    from when a request was due (wrk2), or if wrk has added samples of its own.
    """
    floor_s, erring = cell.workload.floor_ms / 1e3, cell.error_ratio >= TOLERANCE
    for window in cell.windows:
        bound = _most_connections(cell) / floor_s if floor_s else None
        if bound and window.rate_per_s > bound * (1 + TOLERANCE + floor_s / window.seconds):
            return _impossible(
                cell,
                f"{words.rate(window.rate_per_s)} of {cell.name} is impossible: answers that take "
                f"{floor_s:g} s over "
                f"{_pool(cell)} {'bounds' if _most_connections(cell) == 1 else 'bound'} it to {words.rate(bound)}",
                {"rate_per_s": window.rate_per_s, "bound_per_s": bound},
            )
        held = held_in_flight(window) if _is_of_requests(window) else None
        if held is None or erring:
            continue
        if held > _most_connections(cell) * (1 + TOLERANCE + _edge(window)):
            return _impossible(
                cell,
                f"rate times latency of {cell.name} gives {held:,.0f} requests in flight on "
                f"{_pool(cell)}: "
                "one of the two is wrong",
                {"in_flight": held, "connections": _most_connections(cell)},
            )
    return None


def impossible_cpu(cell: Cell) -> Doubt | None:
    """Less CPU for an answer than a read and a write on a socket cost (1 us): the work was done elsewhere.

    With pipelined requests, or streams on a connection, many requests share the read and the write, and each costs at
    least 20 ns. Silent below 10,000 answers. Voids if a cgroup counts the CPU, else shades: the CPU of processes that
    end is then lost.
    """
    cost_ns = cell.median(_cpu_ns)
    limit_ns = max(EACH_NS, CHEAPEST_NS / (cell.load.pipeline * cell.load.streams))
    if cost_ns is None or cost_ns >= limit_ns:
        return None
    is_counted = all(window.run.rig.cgroup != "none" for window in cell.windows)
    return Doubt(
        kind="impossible-cpu",
        severity="voids" if is_counted else "shades",
        subject=cell.name,
        sentence=f"{cell.name} used {words.time_ns(cost_ns)} of CPU for an answer, and no process can read a request "
        f"and write an answer for less than {limit_ns / 1e3:.2g} µs: "
        + ("the work was done where it is not counted" if is_counted else "part of its CPU was not counted"),
        advice=IMPOSSIBLE_CPU_ADVICE if is_counted else IMPOSSIBLE_CPU_UNCOUNTED_ADVICE,
        numbers={"cpu_ns": cost_ns, "limit_ns": limit_ns},
    )


def _cpu_ns(window: Window) -> float | None:
    return window.cpu_per_request_ns if window.ok >= ENOUGH_ANSWERS else None


def _is_of_requests(window: Window) -> bool:
    """Whether the driver's latencies are times that requests spent on a connection, and nothing else."""
    can = window.run.driver_can
    if can is None:
        return True
    return can.latency_from != "due" and not (can.invents_samples and window.run.summary.get("latency_corrected", True))


def hanging_requests(cell: Cell) -> Doubt | None:
    """The driver had 5 % more requests in flight than its answers account for: those hung, in no percentile."""
    reused = cell.requests_per_connection
    if reused is None or reused < CLOSING_BELOW:
        return None  # the time to connect is in flight too, but in no latency
    for window in cell.windows:
        held = held_in_flight(window)
        if held is None or window.in_flight is None or window.run.summary.get("connections_unanswered"):
            continue
        if held < window.in_flight * (1 - TOLERANCE - _edge(window)):
            return Doubt(
                kind="hanging-requests",
                severity="shades",
                subject=cell.name,
                sentence=f"{window.in_flight:,.0f} requests were in flight at {cell.name}, its answers account for "
                f"{held:,.0f}: "
                "the rest hung, and its percentiles do not include them",
                advice=HANGING_REQUESTS_ADVICE,
                numbers={"in_flight": window.in_flight, "held": held},
            )
    return None


def _edge(window: Window) -> float:
    """What the edges of the window may add or hide.

    A request is booked where it ends, so each connection may bring in up to one longest latency from before.
    """
    longest = window.points_ns.get("max")
    return (
        longest / 1e9 / window.seconds
        if longest is not None
        else 2 * window.run.trial.load.connections / window.steady.offered
    )


def _most_connections(cell: Cell) -> int:
    """At an open pace the pool may grow."""
    return cell.load.max_connections or cell.load.connections


def _pool(cell: Cell) -> str:
    return words.count(_most_connections(cell), "connection")


def held_in_flight(window: Window) -> float | None:
    """Mean number of requests in flight, by Little's law."""
    if window.latency is not None:
        return window.latency.mean_ns * window.latency.count / 1e9 / window.seconds
    mean = window.points_ns.get("mean")
    return None if mean is None else mean / 1e9 * window.steady.rate_per_s


def _impossible(cell: Cell, sentence: str, numbers: dict[str, float | int | str]) -> Doubt:
    return Doubt(
        kind="impossible-rate",
        severity="voids",
        subject=cell.name,
        sentence=sentence,
        advice=IMPOSSIBLE_RATE_ADVICE,
        numbers=numbers,
    )


def delayed_ack(cell: Cell) -> Doubt | None:
    """Half of the answers take 40 ms while the CPU idles: Nagle's algorithm waiting for a delayed acknowledgement.

    RFC 9293 section 3.8.6.3 and RFC 896; Linux delays an acknowledgement by 40 ms. It occurs if head and body of an
    answer are written separately without TCP_NODELAY.
    """
    p50 = cell.median(lambda window: window.points_ns.get("p50"))
    used = cell.median(_busy)
    if p50 is None or used is None or used >= IDLE or not PLATEAU_NS[0] <= p50 <= PLATEAU_NS[1]:
        return None
    if cell.workload.floor_ms * 1e6 > p50 / 2 or cell.workload.service:  # then it may wait for that
        return None
    return Doubt(
        kind="delayed-ack",
        severity="shades",
        subject=cell.name,
        sentence=f"half of the answers of {cell.name} take {words.time_ns(p50)} while its cores are "
        f"{words.per_cent(1 - used)} idle: it waits for a delayed TCP acknowledgement, not for work",
        advice=DELAYED_ACK_ADVICE,
        numbers={"p50_ns": p50, "cpu_share": used},
    )


def _busy(window: Window) -> float | None:
    cores = len(window.run.rig.contender_cores)
    return None if window.contender_cores is None or not cores else window.contender_cores / cores
