"""Can: what a load tool can and cannot tell. It travels with every Run, so that the Doubts a tool earns by design
can be drawn years later from the results file alone.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Can(msgspec.Struct, frozen=True, kw_only=True):
    """One driver's abilities; a standing Doubt stands behind every one that is missing."""

    driver: str
    http: tuple[str, ...]
    """Versions it asks with, whatever the Load says."""
    statuses: Literal["exact", "below-400", "2xx"]
    """How it judges a status: against the workload's list, or only by its class."""
    lengths: Literal["every", "like-the-first", "none"]
    """Whether the length of every answer is compared with the right one, or only with the first answer of the run."""
    bodies: bool
    """Compares every body (digest, substring, media type)."""
    error_kinds: tuple[str, ...]
    """The kinds of ERROR_KINDS it can tell; a kind that is not here was never looked for."""
    series: bool
    """A Slice per second; False: one Slice for the whole phase."""
    histogram: bool
    """Latency that can be merged exactly over Slices and rounds; False: a few points."""
    invents_samples: bool
    """Adds latencies nobody measured, to make up for requests it did not send."""
    latency_from: Literal["sent", "connect", "due"]
    """Where its clock starts: at the request, at the connection that had to be opened for it, or, at a rate, when the
    request should have been sent."""
    connections: bool
    """Counts the connections it opened."""
    silent_closes: bool
    """Knows a close between two answers from an error; False: a contender that closes silently looks broken."""
    silence: bool
    """Ends a request that is never answered; False: it waits on, or gives the whole run up."""
    unfinished: bool
    """Counts the requests in flight at the end; False: they are dropped."""
    cores: Literal["many", "one"]
    """Whether it can use more than one core of the rig."""
    reconnects: bool = True
    """Opens a connection again that the server closed unannounced; False: it goes on with fewer, and says nothing."""
    resolution_ns: int | None = None
    """The smallest difference between two latencies that it can tell; None: not written down in older Runs."""
    schedule: Literal["one", "per-connection"] = "one"
    """Of a driver at a rate: one for all connections, or one for each, whose requests wait for it while others idle."""
    discards_s: float = 0.0
    """So much of the start it throws the latencies away of, whatever was asked."""
