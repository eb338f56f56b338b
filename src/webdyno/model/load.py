"""Load: how a workload is asked. The pace, for how long, and over what kind of connections."""

from __future__ import annotations

import msgspec


class Load(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How requests are asked: closed, by ``connections`` looping clients, or open, at ``rate_per_s`` come what may.

    ``rate_per_s`` makes it open; then ``max_connections`` says how far the pool may grow beyond the ``connections``
    that are open from the start, and ``poisson`` (with its ``seed``) makes the arrivals random instead of even. Without
    a rate none of these may be given: a load is one or the other. Exactly one of ``duration_s`` and ``count`` is set
    (looked after where studies are read): the length of the steady phase in seconds, or in requests.
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

    def __post_init__(self) -> None:
        """Refuse what is half closed and half open: it would be carried out as something nobody asked for."""
        if self.rate_per_s is None:
            if self.poisson or self.seed is not None or self.max_connections is not None:
                raise ValueError("poisson, seed and max_connections need rate_per_s: without it the load is closed")
            return
        if self.rate_per_s <= 0:
            raise ValueError(f"rate_per_s must be above 0, not {self.rate_per_s}")
        if self.max_connections is None or self.max_connections < self.connections:
            raise ValueError(
                f"max_connections must be at least connections, which is {self.connections}: an open load says how "
                "far its connections may grow"
            )
        if self.poisson != (self.seed is not None):
            raise ValueError("poisson needs a seed, and nothing else does: the same seed gives the same arrivals")

    @property
    def label(self) -> str:
        """Short text for people: ``64 connections, close`` or ``1000/s over 64 to 500 connections, keep-alive``."""
        reuse = "keep-alive" if self.keep_alive else "close"
        return f"{self._pace}, {reuse}" + (f", HTTP/{self.http}" if self.http != "1.1" else "")

    @property
    def _pace(self) -> str:
        if self.rate_per_s is None:
            return f"{self.connections} connections"
        arrivals = f" Poisson (seed {self.seed})" if self.poisson else ""
        pool = f"{self.connections} to {self.max_connections} connections"
        return f"{self.rate_per_s:.10g}/s{arrivals} over {pool}"
