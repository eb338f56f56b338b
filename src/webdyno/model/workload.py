"""Workload: what is asked, and what a correct answer is. File: ``workloads/NAME.toml``.

A correct answer is checked on every response while under load, by the driver that can (see Driver) and always once
before and once after the load.
"""

from __future__ import annotations

from typing import Literal

import msgspec

WorkloadKind = Literal["cpu", "io-wait", "db", "static"]


ANY_RIGHT = tuple(range(200, 400))
"""Statuses that count as right where nobody said what a correct answer is."""


class Expectation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rules an answer must meet; a rule that is None is not checked."""

    statuses: list[int] = msgspec.field(default_factory=lambda: [200])
    body: str | None = None
    """The exact body as UTF-8 text; drivers get its length and SHA-256."""
    body_any_of: list[str] = []
    """Exact bodies, any of which is right. The one that a server sends when it is verified is its rule under load."""
    body_sha256: str | None = None
    body_length: int | None = None
    body_contains: str | None = None
    json_equals: str | None = None
    """A JSON text the body must be equal to as a value. Servers may space it differently, so the exact bytes seen at
    verification become the rule under load."""
    body_matches: str | None = None
    """A regular expression (Python's) the whole body must match, as UTF-8 text. webdyno checks it before and after the
    load; no driver can, so under load the other rules alone are checked."""
    content_type: str | None = None
    """Media type without its parameters."""

    @property
    def is_unsaid(self) -> bool:
        """Whether it is what counts as right where nobody said what a correct answer is."""
        return self == Expectation(statuses=list(ANY_RIGHT))


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request of a workload, with its share and its correct answer."""

    name: str
    method: str = "GET"
    path: str
    headers: list[tuple[str, str]] = []
    body: str | None = None
    """UTF-8 text sent as the body."""
    weight: int = 1
    expect: Expectation = Expectation()


class Workload(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One or more weighted requests, and their kind."""

    name: str
    title: str
    kind: WorkloadKind
    requests: list[Request] = []
    like: str | None = None
    """Name of the workload whose requests and service these are, where only ``delay_ms`` is another. All that answers
    that one answers this one too."""
    service: str | None = None
    """Name of the service that contenders need to answer it."""
    delay_ms: int = 0
    """How much later than at once the service answers each question for data; other questions do not wait for it."""
    service_floor_ms: float = 0.0
    """The shortest time a correct answer can take by its handler (one that sleeps 1 s: 1000)."""

    @property
    def floor_ms(self) -> float:
        """The shortest time a correct answer can take; bounds the possible rate."""
        return self.service_floor_ms + self.delay_ms
