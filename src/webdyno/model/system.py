"""System: what an article ran, the contender that runs it the same way here, and which of its settings differ."""

from __future__ import annotations

import msgspec


class System(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One system of an article as its author ran it. Claims of the article are about these contenders and no others."""

    name: str
    """As the article calls it."""
    contender: str
    """Ours that runs it as the article did; a pattern such as ``flask-*-pypy`` for several."""
    tuned: list[str] = []
    """Contenders of the study that stand beside it with settings that its makers recommend today."""
    why: str = ""
    """Where it cannot be as in the article: what is not, and why, in one sentence."""
    article: dict[str, str] = {}
    """Its settings in the article that may matter, or the defaults of its version then. ``processes``, ``threads`` and
    ``pool`` are rules as a contender has them; a remark may follow in brackets: ``5 (its default)``."""
    here: dict[str, str] = {}
    """Those that are different here. ``processes``, ``threads``, ``pool`` and the versions of Python packages are read
    from the contender, and never typed."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One setting that is not what it was in the article."""

    setting: str
    article: str
    here: str


class SystemHere(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a System here."""

    name: str
    contenders: list[str]
    """Those of the plan; empty: it has none here."""
    differs: list[Difference]
    tuned: list[str] = []
    why: str = ""
