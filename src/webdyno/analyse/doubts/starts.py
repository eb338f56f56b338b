"""Doubts about starts: those that are slow now and then make a rate depend on how many of them were drawn."""

from __future__ import annotations

import math

import numpy as np

from webdyno.analyse import words
from webdyno.analyse.compare import STARTS, slow_starts_allowed
from webdyno.analyse.estimate import fit
from webdyno.analyse.table import Table
from webdyno.analyse.variances import ENOUGH
from webdyno.model.doubt import Doubt

FENCE = 3 * 1.4826
"""Median absolute deviations that make three standard deviations of a normal curve."""
LEAST = 2
"""Slow rounds of one contender; a single one may be anything."""
SLOW_STARTS_ADVICE = "look at its rounds one by one; if a quiet machine shows it too, its starts fall into two groups"


def slow_starts(table: Table) -> Doubt | None:
    """Some rounds of a contender are far from its others, and all of them are slow: two or more, of six or more.

    Each is compared with the median of all contenders in its round, in a table of five or more. Far means three
    standard deviations, by the median of the table. Shades: some starts are slow, or a neighbour had bursts.
    """
    fitted = fit(table.figures(lambda window: window.rate_per_s), met=table.met)
    if fitted is None or len(fitted.names) < ENOUGH or max(fitted.rounds) < STARTS:
        return None
    apart = fitted.seen - np.nanmedian(fitted.seen, axis=1, keepdims=True)
    apart = apart - np.nanmedian(apart, axis=0, keepdims=True)
    far = FENCE * float(np.nanmedian(np.abs(apart)))
    slow, fast = (apart < -far).sum(axis=1), (apart > far).sum(axis=1)
    found = [at for at, rounds in enumerate(fitted.rounds) if rounds >= STARTS and slow[at] >= LEAST and not fast[at]]
    if not found:
        return None
    worst = max(found, key=lambda at: int(slow[at]))
    number, rounds = int(slow[worst]), fitted.rounds[worst]
    lost = 1 - math.exp(float(np.median(apart[worst][apart[worst] < -far])))
    allowed = words.per_cent(slow_starts_allowed(rounds, number))
    others = words.listing([fitted.names[at] for at in found if at != worst])
    return Doubt(
        kind="slow-starts",
        severity="shades",
        subject="",
        sentence=f"{fitted.names[worst]} was slow in {number} of {words.count(rounds, 'round')}, by "
        f"{words.per_cent(lost)}, and fast in none: up to {allowed} of its starts may be slow"
        + (f"; likewise {others}" if others else ""),
        advice=SLOW_STARTS_ADVICE,
        numbers={"slow": number, "rounds": rounds, "lost": lost, "contenders": len(found)},
    )
