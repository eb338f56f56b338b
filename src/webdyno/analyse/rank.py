"""Rank: letters that say who can be told from whom.

Two contenders share a letter if, and only if, they cannot be told apart. "Not told apart" is not transitive (a near b,
b near c, a clear of c), so one group per contender would lie; a contender may carry several letters.

H.-P. Piepho (2004), An algorithm for a letter-based representation of all-pairwise comparisons. Journal of
Computational and Graphical Statistics 13: insert, then absorb. (Its last step, sweeping, is cosmetic and left out.)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def letters(ordered: Sequence[str], apart: Collection[frozenset[str]]) -> dict[str, str]:
    """Letters of each contender, the best first, for the pairs that are told apart."""
    groups: list[frozenset[str]] = [frozenset(ordered)] if ordered else []
    for one, other in combinations(ordered, 2):
        if frozenset((one, other)) in apart:
            groups = _insert(groups, one, other)
    place = {name: at for at, name in enumerate(ordered)}
    groups.sort(key=lambda group: sorted(place[name] for name in group))
    return {name: "".join(letter(at) for at, group in enumerate(groups) if name in group) for name in ordered}


def letter(at: int) -> str:
    """One character for each group: A to Z, a to z, and on through the CJK block, so that no two are alike."""
    return _LETTERS[at] if at < len(_LETTERS) else chr(0x4E00 + at - len(_LETTERS))


def top_group(ordered: Sequence[str], apart: Collection[frozenset[str]]) -> list[str]:
    """The first, and everyone who cannot be told apart from the first."""
    return [name for name in ordered if name == ordered[0] or frozenset((ordered[0], name)) not in apart]


def _insert(groups: Sequence[frozenset[str]], one: str, other: str) -> list[frozenset[str]]:
    """Split every group that holds both, then drop groups that lie within another."""
    split: list[frozenset[str]] = []
    for group in groups:
        split += [group - {one}, group - {other}] if one in group and other in group else [group]
    return [
        group
        for at, group in enumerate(split)
        if not any(group < wider or (group == wider and at > before) for before, wider in enumerate(split))
    ]
