"""Re-run: the same study twice in a row. Does it say the same?"""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bench.table import table
from bench.trust.studies import Recorded, record
from webdyno.analyse import analyse
from webdyno.model.verdict import Standing, Verdict


def run(folder: Path, study: str, flags: list[str]) -> list[str]:
    """The table. Takes twice the study, whose Runs stay in ``folder``."""
    first = record(study, folder / "first", *flags)
    return report(first, record(study, folder / "second", *flags))


def report(first: Recorded, second: Recorded) -> list[str]:
    """How far the two agree, by table."""
    columns = [
        "table", "Kendall tau", "outside ties", "top group", "claims that contradict each other",
        "pairs 10 % apart that are distinguished", "machine time",
    ]  # fmt: skip
    seconds = [f"{sum(run.seconds for run in each.runs):.0f} s" for each in (first, second)]
    rows = []
    for one, other in zip(analyse(*first).verdicts, analyse(*second).verdicts, strict=True):
        found = agreement(one, other)
        far = [distinguished(one, other), distinguished(other, one)]
        rows.append([
            f"{one.workload}, {one.load}", f"{found.tau:.3f}", f"{found.outside_ties:.3f}",
            "same" if set(one.winners) == set(other.winners) else "differs", str(found.contradictions),
            ", ".join(f"{found} of {number}" for found, number in far), " and ".join(seconds),
        ])  # fmt: skip
    return table(columns, rows)


class Agreement(NamedTuple):
    """Of the orders of rates of two runs."""

    tau: float
    """Over all pairs (Kendall 1938); nan with fewer than two in common."""
    outside_ties: float
    """Over the pairs that one run or both distinguish; nan where there are none."""
    contradictions: int
    """Pairs that both distinguish, the other way round."""


def agreement(one: Verdict, other: Verdict) -> Agreement:
    """Of those that both ranked."""
    mine, theirs = ranked(one), ranked(other)
    signs, clear = [], []
    contradictions = 0
    for a, b in combinations([name for name in mine if name in theirs], 2):
        same = ((mine[a].place or 0) < (mine[b].place or 0)) == ((theirs[a].place or 0) < (theirs[b].place or 0))
        told = [is_apart(by[a], by[b]) for by in (mine, theirs)]
        signs.append(1 if same else -1)
        clear += [signs[-1]] * any(told)
        contradictions += all(told) and not same
    tau, outside = (fmean(each) if each else math.nan for each in (signs, clear))
    return Agreement(tau, outside, contradictions)


def distinguished(one: Verdict, other: Verdict, apart: float = 0.10) -> tuple[int, int]:
    """Pairs so far apart, by the mean of both runs, that ``one`` distinguishes; and how many there are."""
    mine, theirs = ranked(one), ranked(other)
    logs = {name: (_log(mine[name]) + _log(theirs[name])) / 2 for name in mine if name in theirs}
    far = [(a, b) for a, b in combinations(logs, 2) if abs(logs[a] - logs[b]) > math.log1p(apart)]
    return sum(is_apart(mine[a], mine[b]) for a, b in far), len(far)


def ranked(verdict: Verdict) -> dict[str, Standing]:
    """By name, those with a place and a rate."""
    return {each.contender: each for each in verdict.standings if each.place is not None and each.rate is not None}


def is_apart(one: Standing, other: Standing) -> bool:
    """Whether the report distinguishes them."""
    return not set(one.letters) & set(other.letters)


def _log(one: Standing) -> float:
    return math.nan if one.rate is None else math.log(one.rate.value)
