"""Recommend: the one contender to take, over all workloads of a study.

Rates of different workloads have no common unit, so each is first divided by the best rate of its table; the geometric
mean is the only mean of such ratios that does not depend on which contender was divided by.

P. J. Fleming, J. J. Wallace (1986), How not to lie with statistics: the correct way to summarize benchmark results.
Communications of the ACM 29.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from webdyno.analyse import words
from webdyno.analyse.doubts.rounds import incomplete
from webdyno.analyse.doubts.table import kind_of
from webdyno.analyse.floors import NOT_ITS_OWN, spares_rate
from webdyno.model.claim import ClaimVerdict
from webdyno.model.doubt import Doubt
from webdyno.model.placeholder import fill
from webdyno.model.rule import evaluate
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Standing, Verdict


def unfinished_of(doubts: Sequence[Doubt]) -> str:
    """What is missing of the plan, where that is one of the doubts about a study; else empty."""
    return next((doubt.sentence for doubt in doubts if doubt.kind == kind_of(incomplete)), "")


def recommend(
    verdicts: Sequence[Verdict], of_article: Collection[str] = (), unfinished: str = ""
) -> tuple[str | None, str]:
    """The contender and a sentence. Those ``of_article`` are no choice: they run as somebody ran them years ago.

    None unless every table has a top group and somebody is ranked in all of them; and none while it has nobody to beat,
    while the plan is ``unfinished``, for its order so far is no answer, or while somebody who did not fail has no
    interval: who is not measured yet may be the one to take.
    """
    if not verdicts:
        return None, "nothing was measured"
    standings = [standing for verdict in verdicts for standing in verdict.standings]
    served = dict.fromkeys(standing.contender for standing in standings if standing.rounds_ok)
    waited_for = dict.fromkeys(standing.contender for standing in standings if _is_unknown(standing))
    if served and waited_for:
        late = words.listing(list(waited_for))
        return None, f"no contender can be recommended yet: {late} ran in less than two rounds"
    if len(served) == 1:
        return None, f"no contender can be recommended: only {words.listing(list(served))} served, without a rival"
    if unfinished:
        return None, f"no contender can be recommended yet: {unfinished}"
    if not all(verdict.winners for verdict in verdicts):
        return None, "no contender can be recommended: not every workload has a ranking"
    scores = {name: score for name, score in _scores(verdicts).items() if name not in of_article}
    if not scores:
        today = "present-day " if of_article else ""
        return None, f"no contender can be recommended: no {today}contender is ranked on every workload"
    best = max(scores, key=lambda name: scores[name])
    rivals = [name for name in scores if name != best and all(name in verdict.winners for verdict in verdicts)]
    everywhere = " on every workload" if len(verdicts) > 1 else ""
    if all(verdict.winners == [best] for verdict in verdicts):
        return best, f"take {best}: it served the most{everywhere}"
    if all(_is_at_top(best, verdict) for verdict in verdicts):
        if rivals:
            return _tie([best, *rivals], verdicts, everywhere)
        return best, f"take {best}: it is in the top group{everywhere}"
    average = words.per_cent(scores[best])
    return best, f"take {best}: {_among(scores, verdicts)}, at {average} of the fastest rate on average"


def _tie(names: Sequence[str], verdicts: Sequence[Verdict], everywhere: str) -> tuple[str, str]:
    """A tie is headed as one. Of those that serve as much, the one to take is the one that surely uses the least CPU,
    where there is one; else it is the one that leads.
    """
    told = f"tie{everywhere}: {words.listing(names)}"
    cheapest = next((name for name in names if all(_is_cheapest(name, names, verdict) for verdict in verdicts)), None)
    if cheapest is None:
        return names[0], told
    return cheapest, f"{told}; {cheapest} uses the least CPU"


def _is_cheapest(name: str, names: Collection[str], verdict: Verdict) -> bool:
    """Whether its CPU per request is lower than that of all other ``names``, with intervals that do not meet."""
    cpu = {it.contender: it.cpu_per_request for it in verdict.standings if it.contender in names}
    mine, others = cpu[name], [each for other, each in cpu.items() if other != name]
    if mine is None or mine.high is None:
        return False
    return all(each is not None and each.low is not None and mine.high < each.low for each in others)


def headline(claims: Sequence[ClaimVerdict], recommended: str | None, sentence: str) -> str:
    """What leads the report: what became of the claims that answer the study's question, a sentence each, and then the
    contender to take where there is one; of a study without such claims, what was recommended or why nothing was.
    """
    told = [claim.headline for claim in claims if claim.headline and not claim.unmeasured]
    if not told:
        return sentence
    parts = [*told, sentence] if recommended else told
    return ". ".join([parts[0], *(part[0].upper() + part[1:] for part in parts[1:])])


def _is_unknown(standing: Standing) -> bool:
    """Whether it was left without an interval by no fault of its own."""
    return not standing.rounds_failed and (standing.rate is None or standing.rate.low is None)


def _among(scores: Mapping[str, float], verdicts: Sequence[Verdict]) -> str:
    """Among which it is the best: one that was asked on one workload alone may be faster there."""
    ranked = {each.contender for verdict in verdicts for each in verdict.standings if each.place is not None}
    if len(scores) == 1:
        return "the only one that is ranked on every workload"
    if len(scores) == len(ranked):
        return "the best over all workloads"
    return f"the best of the {len(scores)} (of {len(ranked)}) that are ranked on every workload"


def _is_at_top(name: str, verdict: Verdict) -> bool:
    """In the top group by what was measured: not only because the load generator held it back, far behind the first."""
    doubts = [doubt for standing in verdict.standings if standing.contender == name for doubt in standing.doubts]
    held_back = any(doubt.kind in NOT_ITS_OWN and not spares_rate(doubt) for doubt in doubts)
    return name in verdict.winners and (name == verdict.winners[0] or not held_back)


def _scores(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Geometric mean of the ratio to the best, of those that are ranked in every table."""
    logs: dict[str, list[float]] = {}
    for verdict in verdicts:
        for standing in verdict.standings:
            if standing.place is not None and standing.ratio_to_best is not None:
                logs.setdefault(standing.contender, []).append(math.log(standing.ratio_to_best.value))
    return {name: math.exp(sum(each) / len(each)) for name, each in logs.items() if len(each) == len(verdicts)}


PORT = 8000
"""In the command that is recommended; the port it was measured on meant nothing."""


def command_of(name: str | None, plan: Plan, runs: Sequence[Run]) -> list[str]:
    """The command line it was last measured with, on a port to keep."""
    for run in reversed(runs):
        if run.trial.contender == name and run.outcome == "ok" and run.workers and run.threads:
            cores = len(run.rig.contender_cores)
            it = plan.contenders[run.trial.contender]
            pool = None if it.pool is None else evaluate(it.pool, cores, run.workers)
            here = partial(fill, it.serve, host="127.0.0.1", port=PORT, cores=cores, pool=pool)
            return here(workers=run.workers, threads=run.threads)
    return []
