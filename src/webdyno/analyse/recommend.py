"""Recommend: the one contender to take, over all workloads of a study.

Rates of different workloads have no common unit, so each is first divided by the best rate of its table; the geometric
mean is the only mean of such ratios that does not depend on which contender was divided by.

P. J. Fleming, J. J. Wallace (1986), How not to lie with statistics: the correct way to summarize benchmark results.
Communications of the ACM 29.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from webdyno.analyse import words
from webdyno.model.run import Run
from webdyno.model.verdict import Verdict


def recommend(verdicts: Sequence[Verdict]) -> tuple[str | None, str]:
    """The contender and a sentence. None unless every table has a top group, and somebody is ranked in all of them."""
    if not verdicts:
        return None, "nothing was measured"
    if not all(verdict.winners for verdict in verdicts):
        return None, "nobody can be recommended: not every workload has a ranking"
    scores = _scores(verdicts)
    if not scores:
        return None, "nobody can be recommended: no contender is ranked on every workload"
    best = max(scores, key=lambda name: scores[name])
    first_in = [verdict for verdict in verdicts if best in verdict.winners]
    rivals = [name for name in scores if name != best and all(name in verdict.winners for verdict in verdicts)]
    if len(first_in) == len(verdicts):
        where = "in the top group of every table" if len(verdicts) > 1 else "in the top group"
        tie = f"; {words.listing(rivals)} cannot be told from it" if rivals else ""
        return best, f"take {best}: {where}{tie}"
    return best, f"take {best}: best over all tables, on average at {words.share(scores[best])} of the fastest of each"


def _scores(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Geometric mean of the ratio to the best, of those that are ranked in every table."""
    logs: dict[str, list[float]] = {}
    for verdict in verdicts:
        for standing in verdict.standings:
            if standing.place is not None and standing.ratio_to_best is not None:
                logs.setdefault(standing.contender, []).append(math.log(standing.ratio_to_best.value))
    return {name: math.exp(sum(each) / len(each)) for name, each in logs.items() if len(each) == len(verdicts)}


def command_of(contender: str | None, runs: Sequence[Run]) -> list[str]:
    """The command line it was last measured with."""
    commands = [run.command for run in runs if run.trial.contender == contender and run.outcome == "ok"]
    return list(commands[-1]) if commands else []
