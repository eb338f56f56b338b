"""Leeway: how far a contender's figure may lie from what was measured, whatever its interval says.

A rate that a doubt makes a floor may be higher. The figure of a contender that failed some rounds, or left clients
without an answer, is the best that it can have been.
"""

from __future__ import annotations

import math

from webdyno.analyse.comparisons import Side
from webdyno.analyse.doubts.answers import dead_cell, fell_silent, wrong_answers
from webdyno.analyse.doubts.connections import starved_connections
from webdyno.analyse.doubts.physics import hanging_requests
from webdyno.analyse.doubts.table import kind_of
from webdyno.model.claim import RATES, TIMES, Claim

UNSERVED = tuple(map(kind_of, (wrong_answers, starved_connections, hanging_requests, fell_silent)))
"""Some clients got no answer, or a wrong one. That bars a contender from a ranking. An article's claim about a rate is
judged as it stands, for its load tool counted what was served just so. For a question of ours the rate is the most that
it serves, for such a server cannot be used; and a time is of those that were answered: others waited longer."""
FAILED = (kind_of(dead_cell),)
"""Its figures are of the rounds that it survived; in the others it served less, and later."""
NONE = (1.0, 1.0)


def leeway(claim: Claim, one: Side, other: Side | None) -> tuple[float, float]:
    """How many times lower, and higher, the ratio of the two may be than it was measured."""
    if claim.measure not in (*RATES, *TIMES):
        return NONE
    mine, others = _of_one(claim, one), NONE if other is None else _of_one(claim, other)
    return mine[0] * others[1], mine[1] * others[0]


def best_case(claim: Claim) -> tuple[str, ...]:
    """Doubts that void a figure, and yet leave it the best that it can have been."""
    if claim.measure in TIMES or (claim.measure in RATES and claim.ours):
        return (*UNSERVED, *FAILED)
    return FAILED if claim.measure in RATES else ()


def flattering(claim: Claim, side: Side) -> str:
    """Why its figure may have been any number of times worse than it was measured; empty where it may not."""
    kinds = best_case(claim)
    return next((doubt.sentence for doubt in side.doubts if doubt.severity == "voids" and doubt.kind in kinds), "")


def _of_one(claim: Claim, side: Side) -> tuple[float, float]:
    better, worse = side.room(claim.measure), math.inf if flattering(claim, side) else 1.0
    return (better, worse) if claim.measure in TIMES else (worse, better)
