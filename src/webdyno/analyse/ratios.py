"""Ratios: how many times the figure of another every contender of a table has, for any two of them, and who is tied.

The ranking compares each with the best. This compares whomever a reader asks about, by the same fit and with the same
interval, so that no figure of a page contradicts another. Ties of the rate are those of the ranking; ties of other
figures come from the same test, with a family of their own for each figure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from webdyno.analyse import special
from webdyno.analyse.compare import apart
from webdyno.analyse.estimate import CONFIDENCE, Fit
from webdyno.analyse.pairs import Matrix, Pairs, pairs_of
from webdyno.analyse.rank import letters
from webdyno.analyse.replay import confidence_of
from webdyno.analyse.steps import fit_figure
from webdyno.analyse.table import Table
from webdyno.analyse.verdict import FIGURES
from webdyno.model.estimate import Estimate
from webdyno.model.race import Race
from webdyno.model.trial import Plan
from webdyno.model.verdict import Verdict

HIGHEST_FIRST = ("rate",)
"""Figures of which more is better."""


@dataclass(frozen=True, slots=True)
class Ratios:
    """One figure of the ranked contenders of a table, the best first."""

    names: list[str]
    logs: list[float]
    rounds: list[int]
    reach: list[list[float | None]]
    """Half the interval of the logarithm of the ratio of row and column; None: unknown."""
    ties: list[list[str]]
    """Groups of two or more in which everyone is tied with everyone, as letters tell it."""

    def between(self, one: str, other: str) -> Estimate:
        """``one / other`` with its interval; none below two rounds of either."""
        row, column = self.names.index(one), self.names.index(other)
        log, reach = self.logs[row] - self.logs[column], self.reach[row][column]
        low, high = (None, None) if reach is None else (math.exp(log - reach), math.exp(log + reach))
        rounds = min(self.rounds[row], self.rounds[column])
        return Estimate(value=math.exp(log), low=low, high=high, rounds=rounds, unit="ratio")


def ratios(plan: Plan, table: Table, verdict: Verdict, figure: str) -> Ratios | None:
    """Of one of ``verdict.FIGURES``; None with less than two ranked contenders that have it."""
    fitted = fit_figure(table, FIGURES[figure][1], trimmed=plan.estimate == "trimmed", rate=figure == "rate")
    ranked = [standing.contender for standing in verdict.standings if standing.place is not None]
    if fitted is None:
        return None
    logs = dict(zip(fitted.names, map(float, fitted.logs), strict=True))
    rounds = dict(zip(fitted.names, fitted.rounds, strict=True))
    sign = -1 if figure in HIGHEST_FIRST else 1
    names = sorted([name for name in ranked if name in logs], key=lambda name: sign * logs[name])
    if len(names) < 2:
        return None
    marks = (
        {standing.contender: standing.letters for standing in verdict.standings}
        if figure == "rate"
        else letters(names, apart(fitted, names))
    )
    return Ratios(
        names=names,
        logs=[logs[name] for name in names],
        rounds=[rounds[name] for name in names],
        reach=_reach(fitted, names, plan.race if figure == "rate" else None),
        ties=_groups(names, marks),
    )


def _groups(names: Sequence[str], marks: Mapping[str, str]) -> list[list[str]]:
    """The members of each letter, where there are several."""
    held: dict[str, list[str]] = {}
    for name in names:
        for mark in marks[name]:
            held.setdefault(mark, []).append(name)
    return [group for group in held.values() if len(group) > 1]


def _reach(fitted: Fit, names: Sequence[str], race: Race | None) -> list[list[float | None]]:
    known: dict[tuple[str, str], float] = {(name, name): 0.0 for name in names}
    if pairs := pairs_of(fitted, names):
        with np.errstate(invalid="ignore"):
            reach = pairs.error * special.stdtrit(pairs.freedom, (1 + _confidence(pairs, race)) / 2)
            reach = np.minimum(reach, special.WIDEST)
        for row, column in zip(*np.nonzero(np.isfinite(reach)), strict=True):
            if row != column:
                known[pairs.names[row], pairs.names[column]] = float(reach[row, column])
    return [[known.get((one, other)) for other in names] for one in names]


def _confidence(pairs: Pairs, race: Race | None) -> Matrix:
    """Of a race each pair has its own: that of the last look at both."""
    if race is None:
        return np.full_like(pairs.error, CONFIDENCE)
    names = pairs.names
    return np.array([[confidence_of(race, pairs.fitted, one, other) for other in names] for one in names])
