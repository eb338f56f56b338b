"""Load: how a workload is asked. The pace, for how long, and over what kind of connections."""

from __future__ import annotations

import msgspec


class Load(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A closed pace of ``connections`` looping clients; open paces join this type with the issue that brings them.

    Exactly one of ``duration_s`` and ``count`` is set: the length of the steady phase in seconds, or in requests.
    """

    connections: int
    duration_s: float | None = None
    count: int | None = None
    warmup_s: float = 0.5
    timeout_s: float = 5.0
    keep_alive: bool = True
    http: str = "1.1"

    @property
    def label(self) -> str:
        """Short text for people: ``64 connections, keep-alive``."""
        reuse = "keep-alive" if self.keep_alive else "close"
        return f"{self.connections} connections, {reuse}" + (f", HTTP/{self.http}" if self.http != "1.1" else "")
