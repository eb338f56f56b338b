"""Doubt about rounds that were repeated: who may throw a result away and try again will end with the one he likes."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.table import Cell
from webdyno.model.doubt import Doubt

RAN_AGAIN_ADVICE = "start the study again with more rounds, all of which count"


def ran_again(cell: Cell) -> Doubt | None:
    """A trial has an earlier Run that ended, successfully or not: repeating until the result is good is biased. Voids.

    The last Run of a trial counts. That is correct for interrupted Runs, and webdyno itself repeats no others.
    """
    if not cell.discarded:
        return None
    trials = {run.trial.id for run in cell.discarded}
    times = len(cell.discarded) + len(trials)
    return Doubt(
        kind="ran-again",
        severity="voids",
        subject=cell.name,
        sentence=f"{words.count(len(trials), 'round')} of {cell.name} ran {times} times in total, and only the "
        "last counts: a round that is repeated until its result is convenient proves nothing",
        advice=RAN_AGAIN_ADVICE,
        numbers={"trials": len(trials), "discarded": len(cell.discarded)},
    )
