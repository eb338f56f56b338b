"""What is measured and what for: the rows of the speed table with their goals."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """One load on one placement."""

    name: str
    connections: int
    placement: str
    """``cross``: server and client on a core each; ``same``: both on one; ``both``: both on two."""
    goal: float | None
    """wrk's CPU divided by ours, at least; docs/measured.md says what bounds it."""
    threads: int = 1
    body: int = 15
    close: bool = False
    server: str = "instant"
    quick: bool = True
    pipeline: int = 1
    """Requests ahead on each connection."""
    backend: str = "epoll"
    """Of our engine."""

    @property
    def megabytes(self) -> bool:
        """Whether the cost is per megabyte of body, and not per request."""
        return self.body > 1000


CASES: tuple[Case, ...] = (
    Case("closed-64-cross", 64, "cross", 1.4),
    Case("closed-64-same", 64, "same", 1.7),
    Case("closed-1000-cross", 1000, "cross", 1.6),
    Case("closed-1000-same", 1000, "same", 1.6),
    Case("closed-10000-cross", 10_000, "cross", None, quick=False),
    Case("ring-64-cross", 64, "cross", 1.7, backend="io_uring"),
    Case("ring-1000-cross", 1000, "cross", 1.8, backend="io_uring"),
    Case("ring-10000-cross", 10_000, "cross", 1.4, quick=False, backend="io_uring"),
    Case("two-threads-128", 128, "both", 1.4, threads=2),
    Case("two-threads-1000", 1000, "both", 1.7, threads=2),
    Case("close-64-cross", 64, "cross", 1.2, close=True),
    Case("body-16k", 8, "same", 2.0, body=16 * 1024),
    Case("body-128k", 8, "same", 2.5, body=128 * 1024),
    Case("body-1m", 8, "same", 3.0, body=1024 * 1024),
    Case("pipeline-64-cross", 64, "cross", 2.4, pipeline=16),
    Case("pipeline-64-same", 64, "same", 2.1, pipeline=16),
    Case("nginx-64-cross", 64, "cross", 1 / 0.82, server="nginx"),
)

FEW, MANY = (Case(f"idle-{n}", n, "cross", None) for n in (100, 10_000))
"""Between these two, a client's memory grows by what its connections need."""
MEMORY, MEMORY_GOAL_BYTES = "memory-10000", 256

NOT_YET: tuple[str, ...] = (
    "memory per connection at 50,000 in one process: needs more open files than most machines allow, not tried here",
)
"""Rows of the goal that no measurement can be made of today."""
