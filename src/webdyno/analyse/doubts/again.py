"""Doubt about rounds that were repeated: who may throw a result away and try again will end with the one he likes."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.table import Cell
from webdyno.model.doubt import Doubt

RAN_AGAIN_ADVICE = "begin the study anew with more rounds, all of which count"


def ran_again(cell: Cell) -> Doubt | None:
    """A trial has an earlier Run that ended, well or badly: measuring until it suits is a ratchet. Voids.

    The last Run of a trial counts, which is right for interrupted ones; webdyno itself repeats no other.
    """
    if not cell.discarded:
        return None
    trials = {run.trial.id for run in cell.discarded}
    times = len(cell.discarded) + len(trials)
    return Doubt(
        kind="ran-again",
        severity="voids",
        subject=cell.name,
        sentence=f"{words.count(len(trials), 'round')} of {cell.name} ran {times} times in all, and only the last "
        "counts: a round that may be repeated until it suits says nothing",
        advice=RAN_AGAIN_ADVICE,
        numbers={"trials": len(trials), "discarded": len(cell.discarded)},
    )
