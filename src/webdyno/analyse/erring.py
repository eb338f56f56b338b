"""Erring: how much of what was asked went wrong, with whom, and whether that is the app or one of the servers.

A server that is asked for an app which fails three answers in a hundred fails them too. Where all the servers fail the
same share, it is what they have in common. "The same" is Pearson's test of homogeneity (1900), with a quotient beside
it: of millions of requests the test finds differences that are nobody's concern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from webdyno.analyse import special, words
from webdyno.model.verdict import Standing

ALIKE = 1.5
"""Greatest quotient of the shares that went wrong at which servers count as alike, however sure a difference is."""
BY_CHANCE = 0.01
"""p value from which shares that differ by more may be one."""
TOLD = 4
"""How many servers are named with their share."""


def erring(standings: Sequence[Standing], called: Callable[[str], str], seen: str) -> str | None:
    """A sentence; None where nothing went wrong. ``seen`` is the first error, as the engine told it."""
    asked = {each.contender: _counts(each) for each in standings if each.errors and each.error_ratio > 0}
    if not asked:
        return None
    right = [each for each in standings if each.rounds_ok and each.contender not in asked]
    wrong_in_all = sum(wrong for wrong, _ in asked.values())
    all_asked = sum(total for _, total in asked.values())
    shares = {name: wrong / total for name, (wrong, total) in asked.items()}
    first = f" (the first: {seen})" if seen else ""
    if len(shares) == 1 and not right:
        return f"{_each(shares, called)} of the requests failed{first}"
    if right:
        others = words.listing([called(each.contender) for each in right], TOLD)
        return f"{_each(shares, called)} of the requests failed{first}, and none with {others}: look at its log first"
    told = f"{words.per_cent(wrong_in_all / all_asked)} of all requests failed{first}: {_each(shares, called)}"
    if not _alike(asked.values()):
        return f"{told}; servers differ in this, so the app alone is not the cause"
    return (
        f"{told}; this is the same with every server, so the app is the cause: see its log, or list the correct "
        "statuses with --expect"
    )


def _counts(standing: Standing) -> tuple[int, int]:
    """Wrong and all."""
    wrong = sum(standing.errors.values())
    return wrong, round(wrong / standing.error_ratio)


def _alike(asked: Iterable[tuple[int, int]]) -> bool:
    table = np.array([(wrong, total - wrong) for wrong, total in asked])
    shares = table[:, 0] / table.sum(axis=1)
    if shares.max() < ALIKE * shares.min():
        return True
    return bool(table[:, 1].sum() == 0 or _by_chance(table) >= BY_CHANCE)


def _by_chance(table: NDArray[np.integer]) -> float:
    """p value of "all rows have the same shares": Pearson's chi-squared, without a correction.

    Of ``scipy.special``: ``scipy.stats`` has it whole, and takes a second and a half to import.
    """
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(special.chdtrc(len(table) - 1, ((table - expected) ** 2 / expected).sum()))


def _each(shares: dict[str, float], called: Callable[[str], str]) -> str:
    shown = [f"{called(name)} {words.per_cent(share)}" for name, share in list(shares.items())[:TOLD]]
    return "; ".join(shown) + (f"; and {len(shares) - TOLD} more" if len(shares) > TOLD else "")
