"""Load: how a workload is asked. The pace, for how long, and over what kind of connections."""

from __future__ import annotations

from typing import Literal

import msgspec

Pace = Literal["closed", "closed-stages", "constant", "poisson", "stages", "burst", "pairs"]
"""As the engine's protocol names them; ``pairs`` are stages there."""


class Stage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A stretch of a pace that changes: it goes in a straight line from ``first`` to ``last``."""

    duration_s: float
    first: float
    """At its start: requests per second, or connections."""
    last: float


class Load(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How requests are asked: closed, by ``connections`` looping clients, or open, by a schedule come what may.

    One of ``rate_per_s``, ``rate_stages`` and ``burst_size`` makes it open; then ``max_connections`` says how far the
    pool may grow beyond the ``connections`` that are open from the start, and ``poisson`` (with its ``seed``) makes the
    arrivals at a rate random instead of even. Without a schedule none of these may be given: a load is one or the
    other. Exactly one of ``duration_s`` and ``count`` is set (looked after where studies are read): the length of the
    steady phase in seconds, or in requests. With stages ``duration_s`` is their sum.
    """

    connections: int
    rate_per_s: float | None = None
    poisson: bool = False
    seed: int | None = None
    max_connections: int | None = None
    duration_s: float | None = None
    count: int | None = None
    warmup_s: float = 0.5
    timeout_s: float = 5.0
    keep_alive: bool = True
    http: str = "1.1"
    rate_stages: tuple[Stage, ...] = ()
    connection_stages: tuple[Stage, ...] = ()
    """A closed pace whose number of connections changes; ``connections`` is then the most of them."""
    burst_size: int | None = None
    burst_every_s: float | None = None
    pair_every_s: float | None = None
    """The two requests of the workload, in their order and each over its own connection, at this interval."""
    pair_apart_s: float | None = None
    """How long after the first of a pair the second is sent."""
    pipeline: int = 1
    """Requests sent ahead on a connection before their answers."""
    streams: int = 1
    """Requests under way on each connection of HTTP/2."""
    drain_s: float = 0.0
    """After the end of an open pace: how long missing answers are waited for."""
    opening_s: float = 0.0
    """The connections of a closed load are opened evenly over so much of the warm-up and ask when all are there. 0: all
    at once; what a listen queue has no room for comes again a second later, then after two more, after four ..."""
    alone: bool = False
    """Contenders are asked one after the other, in one window each, also those that could take turns."""
    drivers: int = 1
    """Number of our own engines that carry it out together, each its share; connections and counts are totals."""

    def __post_init__(self) -> None:
        """Refuse what is half closed and half open: it would be carried out as something nobody asked for."""
        if (self.burst_size is None) != (self.burst_every_s is None):
            raise ValueError(
                "burst_size and burst_every_s need each other: the size of a burst, and the interval between bursts"
            )
        self._check_pairs()
        self._check_drivers()
        if self.opening_s and (self.is_open or self.connection_stages or self.opening_s > self.warmup_s):
            raise ValueError("opening_s is a part of the warm-up of a closed load: at most warmup_s")
        schedules = (self.rate_per_s, self.burst_size, self.rate_stages or None, self.pair_every_s)
        if sum(each is not None for each in schedules) + bool(self.connection_stages) > 1:
            raise ValueError("rate_per_s, rate_stages, burst_size, pairs and connection_stages exclude each other")
        if not self.is_open:
            if self.poisson or self.seed is not None or self.max_connections is not None or self.drain_s:
                raise ValueError("poisson, seed and max_connections need rate_per_s: without it the load is closed")
            return
        if self.rate_per_s is not None and self.rate_per_s <= 0:
            raise ValueError(f"rate_per_s must be above 0, not {self.rate_per_s}")
        if self.max_connections is None or self.max_connections < self.connections:
            raise ValueError(
                f"max_connections must be at least connections, which is {self.connections}: an open load says how "
                "far its connections may grow"
            )
        if self.poisson and self.rate_per_s is None:
            raise ValueError("poisson needs rate_per_s: only arrivals at one rate are drawn")
        if self.poisson != (self.seed is not None):
            raise ValueError("poisson needs a seed, and nothing else does: the same seed gives the same arrivals")

    def _check_drivers(self) -> None:
        """What can be shared out: each driver has a connection of its own and, with a count, a request."""
        if self.drivers == 1:
            return
        if self.pair_every_s is not None or self.connection_stages:
            raise ValueError("drivers share no pairs and no stages of connections: these are of one driver")
        if not 1 <= self.drivers <= min(self.connections, self.count or self.connections):
            raise ValueError(f"drivers must be from 1 to connections (and count), not {self.drivers}")

    def _check_pairs(self) -> None:
        """Pairs that do not overlap, and no count or warm-up, which would begin or end in the middle of one."""
        if (self.pair_every_s is None) != (self.pair_apart_s is None):
            raise ValueError(
                "pair_every_s and pair_apart_s need each other: the interval between pairs, and "
                "the distance within a pair"
            )
        if self.pair_every_s is None or self.pair_apart_s is None:
            return
        if not 0 < self.pair_apart_s < self.pair_every_s:
            raise ValueError("pair_apart_s must be above 0 and below pair_every_s: pairs follow each other")
        if self.duration_s is None or self.warmup_s or self.duration_s < self.pair_every_s:
            raise ValueError("pairs need a duration_s of at least pair_every_s, no count, and a warmup_s of 0")

    @property
    def is_open(self) -> bool:
        """Whether requests come due by a schedule that does not wait for answers."""
        return self.pace not in ("closed", "closed-stages")

    @property
    def pace(self) -> Pace:
        """The kind of pace, by the engine protocol's name."""
        if self.rate_per_s is not None:
            return "poisson" if self.poisson else "constant"
        if self.burst_size is not None:
            return "burst"
        if self.rate_stages:
            return "stages"
        if self.pair_every_s is not None:
            return "pairs"
        return "closed-stages" if self.connection_stages else "closed"

    @property
    def due(self) -> float | None:
        """How many requests the schedule makes due in the steady phase; None at a closed pace, or with a count."""
        if self.count is not None or self.duration_s is None or not self.is_open:
            return None
        if self.rate_per_s is not None:
            return self.rate_per_s * self.duration_s
        if self.burst_size is not None and self.burst_every_s is not None:
            return self.burst_size * self.duration_s / self.burst_every_s
        if self.pair_every_s is not None:
            return 2.0 * self.pairs
        return sum(stage.duration_s * (stage.first + stage.last) / 2 for stage in self.rate_stages)

    @property
    def pairs(self) -> int:
        """How many pairs there are in the steady phase; 0 at any other pace."""
        return 0 if self.pair_every_s is None else int((self.duration_s or 0) / self.pair_every_s + 1e-9)

    @property
    def label(self) -> str:
        """Short text for people: ``64 connections, close`` or ``1000/s over 64 to 500 connections, keep-alive``."""
        reuse = "keep-alive" if self.keep_alive else "close"
        ahead = f", {self.pipeline} ahead" if self.pipeline > 1 else ""
        ahead += f", {self.streams} streams" if self.streams > 1 else ""
        shared = f", {self.drivers} drivers" if self.drivers > 1 else ""
        return f"{self._pace}, {reuse}" + (f", HTTP/{self.http}" if self.http != "1.1" else "") + ahead + shared

    @property
    def _pace(self) -> str:
        if self.connection_stages:
            return connections_text(_path(self.connection_stages))
        if not self.is_open:
            return connections_text(self.connections)
        if self.pair_every_s is not None:
            return f"pairs {(self.pair_apart_s or 0) * 1000:g} ms apart, each {self.pair_every_s:g} s"
        pool = f"{self.connections} to {self.max_connections} connections"
        if self.rate_stages:
            return f"{_path(self.rate_stages)}/s over {pool}"
        if self.burst_size is not None:
            return f"{self.burst_size} each {self.burst_every_s:g} s over {pool}"
        arrivals = f" Poisson (seed {self.seed})" if self.poisson else ""
        return f"{self.rate_per_s:.10g}/s{arrivals} over {pool}"


def connections_text(number: int | str) -> str:
    """``1 connection``, ``64 connections``, ``10-100 connections``: the words a closed load's label begins with."""
    return f"{number} connection" if str(number) == "1" else f"{number} connections"


def _path(stages: tuple[Stage, ...]) -> str:
    """``100-1000-0``: the corners of the line."""
    corners = [stages[0].first]
    for stage in stages:
        corners += [stage.first] * (stage.first != corners[-1]) + [stage.last] * (stage.last != stage.first)
    return "-".join(f"{corner:g}" for corner in corners)
