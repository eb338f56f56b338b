"""Doubt: a typed reason not to trust a Run or a comparison, with its numbers, a plain sentence and what to do."""

from __future__ import annotations

from typing import Literal

import msgspec

Severity = Literal["voids", "shades"]


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """``kind`` is the rule's name; ``subject`` the contender (or "" for the whole table) it is about."""

    kind: str
    severity: Severity
    """voids: the comparison must not be drawn from this; shades: read it with this in mind."""
    subject: str
    sentence: str
    advice: str
    numbers: dict[str, float | int | str] = {}
