"""Paired: how base and head of a comparison are measured, and when that ends; what it goes on with when resumed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from webdyno.model.load import Load


class Revisions(msgspec.Struct, frozen=True, kw_only=True):
    """Two revisions of a git repository, base first, and how they are built and served; their folders do not last."""

    repository: str
    """Its whole path."""
    revs: list[str]
    """As the user named them."""
    commits: list[str]
    """What these were when the comparison began."""
    cmd: str | None = None
    """Serves a revision; None: ``contender_file`` says how."""
    builds: list[str] = []
    variables: list[str] = []
    """Names of those that ``cmd`` is given; their values stand in no record."""
    contender_file: str | None = None


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs are measured until a look at them decides, one side fails, ``most`` are made or the time is up."""

    load: Load
    margin: float
    """A change that is smaller, as a share of the rate, counts as none."""
    most: int
    budget_s: float
    """Of measuring, builds and learnt warm-ups apart."""
    revisions: Revisions | None = None
    """None: contenders of the catalogue."""
    looks: Literal["first", "late"] = "first"
    """How they are looked at (``analyse.change``); ``first``: as when no record said so."""

    def within_budget(self, took: Sequence[float]) -> int:
        """Pairs in all, at most, if each takes as long as the longest of those made, which took this many seconds."""
        if not any(took):
            return self.most
        left_s = self.budget_s - sum(took)
        return min(self.most, len(took) + max(0, math.floor(left_s / max(took))))
