"""Why not to trust the figures of one load, a sentence each. Said under every result, in every form that has room."""

from __future__ import annotations

from collections.abc import Iterator

from webdyno.analyse.doubts.driver import NEAR_CEILING
from webdyno.analyse.generator import Strain, strain
from webdyno.analyse.objectives import OFFERED
from webdyno.analyse.unanswered import silence
from webdyno.analyse.words import count, per_cent, rate, time_ns
from webdyno.session.engine import Loaded

_LATE = 0.1
"""Lag of the engine, as a part of the response time, from which it is part of what is measured."""
_CLOSING_BELOW = 1.5


def doubts(loaded: Loaded, ceiling_per_s: float | None = None) -> list[str]:
    """Every doubt, the gravest first; ``ceiling_per_s`` is the most this machine's engine has reached."""
    return [
        *_of_the_end(loaded),
        *_of_the_generator(loaded, ceiling_per_s),
        *_of_the_schedule(loaded),
        *_of_the_connections(loaded),
        *_of_the_design(loaded),
    ]


def _of_the_end(loaded: Loaded) -> Iterator[str]:
    match loaded.summary.get("ended"):
        case "interrupted":
            yield "interrupted: it was stopped before its end"
        case "unreachable":
            yield "unreachable: no connection was ever made"
    if loaded.summary.get("ended") != "unreachable" and (found := silence(loaded.slices)) is not None:
        yield f"hung: {found.sentence}"
    note = loaded.started.get("backend_note")
    if note:
        yield f"backend: {note}"


def _strain(loaded: Loaded) -> Strain:
    """A spinning thread uses all of its processor whatever it does: then that says nothing."""
    threads = loaded.summary.get("threads", [])
    shares = [share for thread in threads if (share := thread.get("cpu_share")) is not None]
    sleeps = loaded.started.get("wait", "sleep") == "sleep"
    return strain(loaded.steady, len(threads), sum(shares) / len(shares) if shares and sleeps else None)


def _of_the_generator(loaded: Loaded, ceiling_per_s: float | None) -> Iterator[str]:
    found, threads = _strain(loaded), len(loaded.summary.get("threads", []))
    if found.limit == "starved":
        yield (
            f"generator-bound: for {per_cent(found.without_core or 0.0)} of the time something else ran on its "
            "cores, and the engine had to wait; what is late or was never sent may not be the server's doing"
        )
    elif found.limit == "busy":
        yield (
            f"generator-bound: the engine used {per_cent(found.busy or 0.0)} of its {threads} thread(s); "
            "try more --threads"
        )
    elif ceiling_per_s is not None and loaded.per_s >= NEAR_CEILING * ceiling_per_s:
        yield (
            f"generator-bound: {rate(loaded.per_s)} is 90 % or more of what the engine reached here against a server "
            f"that answers at once ({rate(ceiling_per_s)}, webdyno doctor --calibrate)"
        )


def _of_the_schedule(loaded: Loaded) -> Iterator[str]:
    """At an open pace: was it really offered, and on time?

    What came due is what the engine booked as ``offered``, those that were never sent (``shed``) among them. What the
    schedule should make due on average is not: of n random arrivals, as many more or less as the root of n come due.
    """
    summary = loaded.summary
    due = summary["offered"]
    sent = due - summary["errors"].get("shed", 0)
    if loaded.order.load.is_open and sent < OFFERED * due and summary.get("ended") in ("duration", "count"):
        share = per_cent(sent / due)
        what = "the engine was at its own limit" if _strain(loaded).limit else "give more --max-connections"
        yield f"not offered: only {share} of the requests that were due were sent; {what}"
    lag, response = summary.get("lag_ns"), summary.get("response_ns")
    if lag and response and lag["p99"] > _LATE * response["p99"]:
        yield f"schedule-lag: the engine sent late by {time_ns(lag['p99'])} at p99, a tenth of p99 or more"


def _of_the_connections(loaded: Loaded) -> Iterator[str]:
    summary, load = loaded.summary, loaded.order.load
    answers, opened = summary["offered"], summary["connections_opened"]
    closes = summary.get("closes_announced", 0) + summary.get("closes_silent", 0)
    if load.keep_alive and opened and closes and answers / opened < _CLOSING_BELOW:
        yield f"closes connections: {answers / opened:.1f} answers per connection although keep-alive was asked"
    if load.http == "1.1" and summary["http10_answers"]:
        yield f"HTTP/1.0: {summary['http10_answers']:,} answers were HTTP/1.0"
    if summary["connections_unanswered"]:
        yield f"starved: {count(summary['connections_unanswered'], 'connection')} never got an answer"


def _of_the_design(loaded: Loaded) -> Iterator[str]:
    if not loaded.order.load.is_open:
        clients = loaded.order.load.connections
        who = "1 client that waits" if clients == 1 else f"{clients} clients that wait"
        yield f"closed: latencies are those of {who} for an answer before the next; --rate shows what users would wait"
    yield "one run has no interval: repeat it to learn how much it varies from start to start"
