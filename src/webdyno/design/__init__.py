"""Design: from what is known, the Runs so far, to what is measured next; so that each goes on where it was.

Pure: no process, no socket, no clock, and no randomness without a seed.

    grid.py         every round of everything, or as many rounds as time allows
    race.py         rounds of what is still open
    open_claims.py  after all rounds, more of what open claims turn on
    pairs.py        base and head beside each other, until what they differ by is known
    rate_search.py  one server at ever better chosen rates
    halving.py      many settings, and ever fewer of them
    blocks.py       which Trials of a round are carried out together
    length.py       how long they take
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from webdyno.model.run import Run
from webdyno.model.trial import Trial

Block = Sequence[Trial]
"""Trials that are carried out together."""
Design = Callable[[Sequence[Run]], Sequence[Block]]
"""The blocks to carry out now, in this order, by the Runs so far; after them it is asked again. None: it is over."""


def done_in(runs: Sequence[Run]) -> set[str]:
    """Ids of the Trials that need not be carried out again."""
    return {run.trial.id for run in runs if run.outcome != "interrupted"}


def one_by_one(trials: Sequence[Trial]) -> list[Block]:
    """Each Trial as a block of its own."""
    return [[trial] for trial in trials]
