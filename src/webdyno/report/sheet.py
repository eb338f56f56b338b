"""Sheet: one table that a study adds to the rankings, as text."""

from __future__ import annotations

import msgspec


class Sheet(msgspec.Struct, frozen=True):
    """One table; the first ``texts`` columns are texts, the others figures. ``key`` names its place on a page."""

    key: str
    title: str
    says: str
    head: list[str]
    means: list[str]
    """What the figures of each column are; empty where its title says all."""
    rows: list[list[str]]
    texts: int = 1
    sure: list[list[str]] = []
    """What each cell of ``rows`` can say of itself when asked: its interval and its rounds; empty where it has none."""
