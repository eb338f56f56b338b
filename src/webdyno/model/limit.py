"""Limit: what keeps a contender from serving more, as its Readings show it."""

from __future__ import annotations

from typing import Literal

import msgspec

LimitKind = Literal["cpu", "one-core", "generator", "service", "closing", "memory", "backlog", "waiting"]


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """One of the things that hold a contender back in one table."""

    kind: LimitKind
    says: str
    """The end of a sentence that begins with its name."""
    numbers: dict[str, float]
