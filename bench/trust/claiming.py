"""Claiming: false rulings on claims of several comparisons, in worlds at the border of what was claimed.

``false`` is "holds" of a claim that holds in one comparison less than it asks, the others lying exactly at the border;
or "does not hold" of one that holds in exactly as many, at the border, while the others surely fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from webdyno.analyse.estimate import Fit, fit
from webdyno.analyse.leeway import NONE
from webdyno.analyse.measures import ratio_of
from webdyno.analyse.rulings import LEAD, Compared, asked_of, ruling_of
from webdyno.model.claim import Claim, Ruling

ROUNDS, LUCK = 4, 0.02
FAR = 0.5
"""Logarithm by which what surely holds lies on its side of the border."""
Pairs = list[tuple[int, int]]


class Shape(NamedTuple):
    """Who is compared with whom."""

    contenders: int
    pairs: Pairs
    levels: Callable[[list[float]], list[float]]
    """Log rates of the contenders that make the comparisons' log ratios what is asked."""


def partners(number: int) -> Shape:
    """Each with a partner of its own: independent comparisons."""
    return Shape(2 * number, [(at, number + at) for at in range(number)], _beside_equals)


def _beside_equals(logs: list[float]) -> list[float]:
    return [*logs, *(0.0 for _ in logs)]


def with_one(number: int) -> Shape:
    """One with all others: comparisons that share a contender on the same side."""
    return Shape(number + 1, [(0, 1 + at) for at in range(number)], _below_the_first)


def _below_the_first(logs: list[float]) -> list[float]:
    return [0.0, *(-log for log in logs)]


def in_a_row(number: int) -> Shape:
    """Each with its neighbour, so that each is now the one and now the other: neighbouring comparisons go apart."""
    return Shape(number + 1, [(at, at + 1) for at in range(number)], _each_below_the_last)


def _each_below_the_last(logs: list[float]) -> list[float]:
    return [-math.fsum(logs[:at]) for at in range(len(logs) + 1)]


def ruling(shape: Shape, claim: Claim, logs: list[float], seed: int) -> Ruling:
    """What becomes of the claim in a world of the true ``logs``, the ratios of its comparisons."""
    rng = np.random.default_rng(seed)
    truth = np.array(shape.levels(logs))[:, None]
    seen = truth + rng.normal(0, LUCK, (shape.contenders, ROUNDS)) + rng.normal(0, 0.03, ROUNDS)
    made = fit({(f"{at}", r): math.exp(9 + seen[at, r]) for at in range(shape.contenders) for r in range(ROUNDS)})
    if made is None:
        raise ValueError("nothing was measured in this world")
    return _ruled(made, shape.pairs, claim)


def _ruled(made: Fit, pairs: Pairs, claim: Claim) -> Ruling:
    known = [Compared(ratio_of(made, f"{one}", f"{other}"), NONE) for one, other in pairs]
    asked = asked_of(claim, known, len(known))
    each = [ruling_of(claim, compared, asked) for compared in known]
    needed = math.ceil(claim.share * len(known) - 1e-9)
    if each.count("holds") >= needed:
        return "holds"
    return "does not hold" if len(known) - each.count("does not hold") < needed else "cannot tell"


def worlds(number: int = 10) -> dict[str, Callable[[int], bool]]:
    """Whether the ruling is false, by seed; for each kind of world."""
    made: dict[str, Callable[[int], bool]] = {}
    for shape in (partners, with_one, in_a_row):
        for needed in (1, 5, 8, 10):
            claim = Claim(text="", contenders=["*"], relation="at least", times=1.5, than=["*"], share=needed / number)
            at = math.log(1.5)
            holds = [at + FAR] * (needed - 1) + [at - 1e-9] * (number - needed + 1)
            fails = [at] * needed + [at - FAR] * (number - needed)
            told = f"{needed} of {number}, {shape.__name__.replace('_', ' ')}"
            made[f"{told}: falsely holds"] = partial(_is, "holds", shape(number), claim, holds)
            made[f"{told}: falsely does not hold"] = partial(_is, "does not hold", shape(number), claim, fails)
    order = Claim(text="", contenders=["*"], relation="more than", than=["*"])
    made["1 of 1, a lead that counts: falsely does not hold"] = partial(
        _is, "does not hold", partners(1), order, [math.log1p(LEAD)]
    )
    return made


def _is(false: Ruling, shape: Shape, claim: Claim, logs: list[float], seed: int) -> bool:
    return ruling(shape, claim, logs, seed) == false
