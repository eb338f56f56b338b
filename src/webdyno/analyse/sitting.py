"""Sitting: the pairs of base and head that were made, and how many there may be in all."""

from __future__ import annotations

from collections.abc import Sequence

from webdyno.analyse.change import LEAST
from webdyno.model.paired import Paired
from webdyno.model.run import Run

Pair = dict[str, Run]
"""The Runs of base and head in one round, by contender."""


def by_round(runs: Sequence[Run]) -> dict[int, Pair]:
    """Those that were not interrupted."""
    found: dict[int, Pair] = {}
    for run in runs:
        if run.outcome != "interrupted":
            found.setdefault(run.trial.round, {})[run.trial.contender] = run
    return found


def made_of(runs: Sequence[Run], names: Sequence[str]) -> list[Pair]:
    """The pairs of which both Runs are there, in their order; not those of which one alone took turns."""
    of = ({name: pair[name] for name in names if name in pair} for _, pair in sorted(by_round(runs).items()))
    return [pair for pair in of if len(pair) == len(names) and len({run.block for run in pair.values()}) == 1]


def most_of(asked: Paired, made: Sequence[Pair]) -> int:
    """Pairs in all that may be made and that there is time for, as ``made`` took it.

    From the first look on they do not become more: what a look may spend depends on how many are to come.
    """
    took = [sum(run.seconds for run in pair.values()) for pair in made]
    return min(asked.within_budget(took[:end]) for end in range(min(len(took), LEAST), len(took) + 1))


def planned(asked: Paired | None, made: Sequence[Pair]) -> int | None:
    """The same for who looks at them; None: they are looked at as the first design did."""
    return None if asked is None or asked.looks == "first" else most_of(asked, made)
