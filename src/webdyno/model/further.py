"""Further: rounds beyond those of everything, which go only to what open claims turn on."""

from __future__ import annotations

import msgspec


class Further(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Claims are judged after the rounds of everything, and again after each of ``looks``; what decides none of those
    that are still open gets no further round."""

    looks: list[int]
    """Rounds in all after which claims are judged again, each more than the one before."""
    budget_s: float
    """Seconds that may be spent on them at most, as long as Runs have taken so far."""

    def comparisons(self, rounds: int, whole: int) -> int:
        """What a figure of this many rounds is judged as: a number of comparisons in a single analysis.

        ``whole``: rounds of everything. The look after them has half of the 5 %, the others share the rest
        (Bonferroni).
        """
        return 2 if rounds <= whole else 2 * len(self.looks)
