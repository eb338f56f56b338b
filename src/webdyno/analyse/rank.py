"""Rank: letters that say who is tied with whom.

Two contenders share a letter if, and only if, neither is said to beat the other. Being tied is not transitive (a near
b, b near c, a clear of c), so one group per contender would lie; a contender may carry several letters.

H.-P. Piepho (2004), An algorithm for a letter-based representation of all-pairwise comparisons, Journal of
Computational and Graphical Statistics 13, for what letters are. His insert-and-absorb finds every possible group, and
of a hundred contenders in a noisy table there are more than can be counted; J. Gramm et al. (2007), Algorithms for
compact letter displays, Computational Statistics & Data Analysis 52, show that letters need only cover every pair that
is tied (a cover of a graph's edges by cliques), which is done greedily here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def letters(ordered: Sequence[str], apart: Collection[frozenset[str]]) -> dict[str, str]:
    """Letters of each contender, the best first, for the pairs of which one beats the other."""
    near = {
        name: {other for other in ordered if other != name and frozenset((name, other)) not in apart}
        for name in ordered
    }
    groups: list[frozenset[str]] = []
    together: set[frozenset[str]] = set()
    for at, name in enumerate(ordered):
        # The farthest first: one that lies between is mostly near to both, and one group serves them all.
        for other in reversed(ordered[at + 1 :]):
            if other in near[name] and frozenset((name, other)) not in together:
                group = _grown(name, other, ordered, near)
                together.update(map(frozenset, combinations(group, 2)))
                groups.append(group)
        if not near[name]:
            groups.append(frozenset([name]))
    place = {name: at for at, name in enumerate(ordered)}
    groups.sort(key=lambda group: sorted(place[name] for name in group))
    return {name: "".join(letter(at) for at, group in enumerate(groups) if name in group) for name in ordered}


def letter(at: int) -> str:
    """One character for each group: A to Z, a to z, and on through the CJK block, so that no two are alike."""
    return _LETTERS[at] if at < len(_LETTERS) else chr(0x4E00 + at - len(_LETTERS))


def top_group(ordered: Sequence[str], apart: Collection[frozenset[str]]) -> list[str]:
    """The first, and everyone who is tied with it."""
    return [name for name in ordered if name == ordered[0] or frozenset((ordered[0], name)) not in apart]


def _grown(one: str, other: str, ordered: Sequence[str], near: Mapping[str, set[str]]) -> frozenset[str]:
    """The two with everyone, the best first, who is near to all that are in already."""
    group, common = {one, other}, near[one] & near[other]
    for name in ordered:
        if name in common:
            group.add(name)
            common &= near[name]
    return frozenset(group)
