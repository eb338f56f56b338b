"""Further: rounds beyond those of everything, which go only to what open claims turn on."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

ENOUGH = 64
"""Rounds: their interval is a quarter as wide as that of four."""


class Further(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Claims are judged after the rounds of everything, and again after each of ``looks``; what decides none of those
    that are still open gets no further round."""

    looks: list[int]
    """Rounds in all after which claims are judged again, each more than the one before; beyond the last,
    whenever they have doubled."""
    budget_s: float
    """Seconds that may be spent on them at most, as long as Runs have taken so far."""

    @property
    def all_looks(self) -> Sequence[int]:
        """These, and beyond the last one more whenever the rounds have doubled, until there are ENOUGH."""
        looks = [*self.looks]
        while looks[-1] < ENOUGH:
            looks.append(2 * looks[-1])
        return looks

    def comparisons(self, rounds: int, whole: int) -> int:
        """What a figure of this many rounds is judged as: a number of comparisons in a single analysis.

        ``whole``: rounds of everything. The look after them has half of the 5 %, and each one that follows half of what
        was left (Bonferroni).
        """
        earlier = sum(look < rounds for look in self.all_looks[:-1])
        return 2 if rounds <= whole else 4 * 2**earlier
