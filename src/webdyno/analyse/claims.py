"""Claims: what an article said, compared with what was found here: it holds, it does not hold, or it is undecided.

A claim is about every comparison it names, in every table that was measured for it, and holds when each of them holds
with 95 % (several sure steps need no correction: a wrong one is no likelier than a wrong single one). A claim about a
share of them holds when enough do; since any of those that may be left out could be the one that goes astray, each is
then asked for the 5 % divided by one more than these. It does not hold when any comparison (or more of them than may be
left out) goes the other way for sure, "sure" being 95 % for all of them together (Bonferroni), since with many
comparisons one goes astray by chance. From less than three rounds nothing is decided. All else is undecided.

Doubts come first. A figure that a doubt voids decides nothing; a rate that a doubt makes a floor decides only what a
higher one would decide too; one of a contender that failed some rounds, or left clients without an answer, decides only
what a worse one would decide too; and the doubts that explain a figure are told with it, because "slow" and "was
measured at connection set-up" are different answers.

R. L. Berger (1982), Multiparameter hypothesis testing and acceptance sampling, Technometrics 24, for the first rule.
Y. Benjamini, R. Heller (2008), Screening for partial conjunction hypotheses, Biometrics 64, for the second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import msgspec

from webdyno.analyse import phrases, words
from webdyno.analyse.comparisons import Judged, Pair, Side, is_about, pairs, together
from webdyno.analyse.doubts.answers import dead_cell, fell_silent, wrong_answers
from webdyno.analyse.doubts.connections import starved_connections
from webdyno.analyse.doubts.physics import hanging_requests
from webdyno.analyse.doubts.table import kind_of
from webdyno.analyse.floors import COUNTED, HELD_BACK
from webdyno.analyse.measures import MEASURES, SCALE, Ratio, ratio
from webdyno.analyse.pairs import ENOUGH
from webdyno.model.claim import RATES, REASONS, TIMES, Claim, ClaimCase, ClaimVerdict, Ruling
from webdyno.model.trial import Plan

ABOUT = 1.25
"""A figure is "about" another within a quarter, up or (as a ratio) down."""
EXPLAINED = 2
"""Doubts that are told as the reason of a comparison; the others stand among the doubts."""
_UNSERVED = tuple(map(kind_of, (wrong_answers, starved_connections, hanging_requests, fell_silent)))
"""Some clients got no answer, or a wrong one. That bars a contender from a ranking. An article's claim about a rate is
judged as it stands, for its load tool counted what was served just so. For a question of ours the rate is the most that
it serves, for such a server cannot be used; and a time is of those that were answered: others waited longer."""
_FAILED = (kind_of(dead_cell),)
"""Its figures are of the rounds that it survived; in the others it served less, and later."""
_EVIDENCE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("errors", "served", "requests_per_connection"), (*_UNSERVED, *_FAILED)),
    **dict.fromkeys(("cpu", "cpu_peak", "memory"), _UNSERVED),
}
"""Doubts that void a comparison of rates, but are themselves what such a claim is about, or do not touch it: what a
server used it used, even where clients were left without an answer."""


def judge_claims(plan: Plan, tables: Sequence[Judged], cores: int) -> list[ClaimVerdict]:
    """Every claim of the plan; ``cores`` is how many the contenders had."""
    judged = [(claim, _judge(claim, plan, tables, cores)) for claim in plan.claims]
    return [
        msgspec.structs.replace(it, unmeasured=it.ruling == "cannot tell" and _lacks_contender(claim, plan))
        for claim, it in judged
    ]


def _lacks_contender(claim: Claim, plan: Plan) -> bool:
    """It names one that the plan neither has nor says why it has not: the user asked for others."""
    known = {*plan.contenders, *(skip.contender for skip in plan.skipped)}
    sides = [[name for name in names if name not in ("best", "last")] for names in (claim.contenders, claim.than)]
    return any(names and not any(fnmatchcase(each, name) for each in known for name in names) for names in sides)


def _judge(claim: Claim, plan: Plan, tables: Sequence[Judged], cores: int) -> ClaimVerdict:
    needed = max(claim.cores, math.ceil(claim.value or 0) if claim.measure in ("cpu", "cpu_peak") else 1)
    if cores < needed:
        return _untold(claim, f"it is about {needed} cores or more, and the contenders had {cores} here")
    asked = [judged for judged in tables if is_about(claim, judged)]
    if not asked:
        untold = _untold(claim, f"nothing was measured {phrases.loads_of(claim)}{_without(claim, plan)}")
        return msgspec.structs.replace(untold, headline="")  # what the user did not ask does not lead the report
    asked = together(asked) if claim.together else [judged.of_route(claim.route) for judged in asked]
    compared = _asked_of_somebody([pair for judged in asked for pair in pairs(claim, judged, tables)], plan)
    if not compared:
        return _untold(claim, _absent(claim, plan))
    asked_at_once = _Asked(len(compared), len(compared) - _needed(claim, len(compared)))
    cases = [_case(claim, one, other, asked_at_once, plan) for one, other in compared]
    return _sum_up(claim, cases)


def _asked_of_somebody(compared: Sequence[Pair], plan: Plan) -> list[Pair]:
    """Without those of whom a brief or a narrowed study asks nothing there, while it asks it of others of the claim.

    Who is named and could not be measured stays: that it is missing leaves the claim open.
    """
    skipped = {skip.contender for skip in plan.skipped}
    sides = [[side for side in pair if side is not None] for pair in compared]
    known = [all(side.name in {*side.judged.standings, *skipped} for side in pair) for pair in sides]
    return [pair for pair, is_known in zip(compared, known, strict=True) if is_known] or list(compared)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a claim asks of all its comparisons together."""

    comparisons: int
    to_spare: int
    """Comparisons in which it need not hold."""


def _needed(claim: Claim, comparisons: int) -> int:
    """In how many comparisons it must hold."""
    return math.ceil(claim.share * comparisons - 1e-9)


def _case(claim: Claim, one: Side, other: Side | None, asked: _Asked, plan: Plan) -> ClaimCase:
    reason = _obstacle(claim, one, plan) or (_obstacle(claim, other, plan) if other else "")
    found = None if reason else _ratio(claim, one, other)
    ruling: Ruling = "cannot tell"
    if found is None:
        reason = reason or f"{phrases.MEASURED[claim.measure]} of {one.name} was not measured"
    elif found.low is None or found.high is None:
        reason = "one round gives no interval"
        found = None if found.of_nothing else found
    elif found.rounds < ENOUGH:
        reason = f"{words.count(found.rounds, 'round')} are too few; three are needed"
    else:
        ruling = _ruling(claim, found, one, other, asked)
        reason = "; ".join(_explanations(claim, one, other))
        if other is not None and found.of_nothing:
            found, reason = None, phrases.nobody(claim.measure, one.name, other.name)
        if ruling == "cannot tell" and (limit := _limits(claim, one, other)):
            reason = f"{limit}; {reason}" if reason else limit
    return ClaimCase(
        workload=one.judged.verdict.workload,
        load=one.judged.verdict.load,
        driver=one.judged.verdict.driver,
        contender=one.name,
        than=phrases.side(claim, one.judged.verdict, (other.name, other.judged.verdict) if other else None),
        ruling=ruling,
        estimate=found.estimate if found else None,
        reason=reason,
        doubts=list(dict.fromkeys(kind for side in (one, other) if side for kind in side.judged.kinds(side.name))),
    )


def _obstacle(claim: Claim, side: Side, plan: Plan) -> str:
    """Why nothing can be told of this side at all; empty when it can."""
    standing = side.judged.standings.get(side.name)
    if standing is None:
        skip = next((skip for skip in plan.skipped if skip.contender == side.name), None)
        return f"{side.name} was left out: {skip.reason}" if skip else f"{side.name} was not measured in this"
    if not standing.rounds_ok:
        return f"{side.name} did not serve: {phrases.outcomes(standing)}"
    served = _UNSERVED if claim.measure in RATES else ()
    evidence = {*_EVIDENCE.get(claim.measure, ()), *served, *_best_case(claim)}
    about = [*side.judged.verdict.doubts, *standing.doubts]
    voiding = next((doubt for doubt in about if doubt.severity == "voids" and doubt.kind not in evidence), None)
    return voiding.sentence if voiding else ""


def _best_case(claim: Claim) -> tuple[str, ...]:
    """Doubts that void a figure, and yet leave it the best that it can have been."""
    if claim.measure in TIMES or (claim.measure in RATES and claim.ours):
        return (*_UNSERVED, *_FAILED)
    return _FAILED if claim.measure in RATES else ()


def _flattering(claim: Claim, side: Side) -> str:
    """Why its figure may have been any number of times worse than it was measured; empty where it may not."""
    kinds = _best_case(claim)
    return next((doubt.sentence for doubt in side.doubts if doubt.severity == "voids" and doubt.kind in kinds), "")


def _ratio(claim: Claim, one: Side, other: Side | None) -> Ratio | None:
    """The figure divided by what the claim compares it with (the other's, times ``times`` left aside)."""
    mine = one.judged.figures
    if other is not None:
        return ratio((mine, one.name), (other.judged.figures, other.name), claim.measure)
    if claim.value is None:
        return None
    return mine.over(one.name, claim.measure, claim.value * SCALE.get(MEASURES[claim.measure][0], 1.0))


Bounds = tuple[float, float]


def _bounds(claim: Claim, one: Side, other: Side | None, of: Bounds) -> Bounds:
    """The interval as it must be read when a rate is a floor (what was held back may be faster by its room), and when
    a figure is a best case."""
    if claim.measure not in (*RATES, *TIMES):
        return of
    mine, others = _leeway(claim, one), (1.0, 1.0) if other is None else _leeway(claim, other)
    return of[0] / mine[0] / others[1], of[1] * mine[1] * others[0]


def _leeway(claim: Claim, side: Side) -> tuple[float, float]:
    """How many times lower, and higher, its figure may be than it was measured."""
    better, worse = side.room(claim.measure), math.inf if _flattering(claim, side) else 1.0
    return (better, worse) if claim.measure in TIMES else (worse, better)


def _ruling(claim: Claim, found: Ratio, one: Side, other: Side | None, asked: _Asked) -> Ruling:
    if _within(claim, _bounds(claim, one, other, found.of_many(asked.to_spare + 1))):
        return "holds"
    apart = _bounds(claim, one, other, found.of_many(asked.comparisons))
    return "does not hold" if _beyond(claim, apart) else "cannot tell"


def _within(claim: Claim, sure: Bounds) -> bool:
    """The whole interval lies where the claim says."""
    low, high, at = *sure, claim.times
    tests: dict[str, bool] = {
        "more than": low > at,
        "highest": low > 1,
        "at least": low >= at,
        "less than": high < at,
        "lowest": high < 1,
        "at most": high <= at,
        "about": low >= at / ABOUT and high <= at * ABOUT,
    }
    return tests[claim.relation]


def _beyond(claim: Claim, sure: Bounds) -> bool:
    """The whole interval lies where the claim does not."""
    low, high, at = *sure, claim.times
    tests: dict[str, bool] = {
        "more than": high <= at,
        "highest": high <= 1,
        "at least": high < at,
        "less than": low >= at,
        "lowest": low >= 1,
        "at most": low > at,
        "about": high < at / ABOUT or low > at * ABOUT,
    }
    return tests[claim.relation]


def _limits(claim: Claim, one: Side, other: Side | None) -> str:
    """Why a clear difference decides nothing: somebody was held back, or counted too few answers for a rate, or left
    requests without an answer that are in no count of errors.
    """
    if claim.measure == "errors":
        return "; ".join(_left(side) for side in (one, other) if side is not None and _left(side))
    if claim.measure not in (*RATES, *TIMES):
        return ""
    kinds = HELD_BACK if claim.measure in TIMES else (*HELD_BACK, COUNTED)
    sides = [side for side in (one, other) if side is not None]
    told = [
        [doubt.sentence for doubt in side.doubts if doubt.kind in kinds and not side.is_spared(claim.measure, doubt)][
            :1
        ]
        for side in sides
    ]
    return "; ".join(dict.fromkeys(sentence for first in told for sentence in first))


def _left(side: Side) -> str:
    """What its requests without an answer could make of its share of errors; empty where it had none."""
    share = side.judged.figures.share(side.name, "errors")
    if share is None or not share.left:
        return ""
    return (
        f"{words.count(share.left, 'request')} to {side.name} had no answer when the load ended: if they had "
        f"failed, its share of errors would be {words.per_cent(share.possible)}"
    )


def _explanations(claim: Claim, one: Side, other: Side | None) -> list[str]:
    """Doubts about either side that say why a figure is what it is: a best case first, then the commonest."""
    kinds: Sequence[str] = claim.because or [kind for kind in REASONS if kind not in HELD_BACK]
    sides = [side for side in (one, other) if side is not None]
    found = [doubt for side in sides for doubt in side.doubts if doubt.kind in kinds]
    found.sort(key=lambda doubt: REASONS.index(doubt.kind))
    flattered = [sentence for side in sides if (sentence := _flattering(claim, side))]
    return list(dict.fromkeys((*flattered, *(doubt.sentence for doubt in found))))[:EXPLAINED]


def _sum_up(claim: Claim, cases: list[ClaimCase]) -> ClaimVerdict:
    by: Callable[[Ruling], list[ClaimCase]] = lambda ruling: [case for case in cases if case.ruling == ruling]  # noqa: E731
    held, broken, open_ = by("holds"), by("does not hold"), by("cannot tell")
    needed = _needed(claim, len(cases))
    ruling: Ruling = "cannot tell"
    if len(held) >= needed:
        ruling, deciding = "holds", _nearest(claim, held)
    elif len(held) + len(open_) < needed:
        ruling, deciding = "does not hold", _farthest(claim, broken)
    else:
        deciding = next((case for case in open_ if case.estimate is not None), open_[0])
    return ClaimVerdict(
        text=claim.text,
        ruling=ruling,
        sentence=phrases.claim_sentence(claim, deciding, ruling, cases),
        estimate=deciding.estimate,
        cases=cases,
        doubts=deciding.doubts,
        quote=claim.quote,
        ours=claim.ours,
        headline=phrases.headline(claim, deciding.estimate, ruling, deciding.reason),
    )


def _distance(claim: Claim, case: ClaimCase) -> float:
    """How far a case lies from the border of what is claimed, in logarithms."""
    value = case.estimate.value if case.estimate else 0.0
    return abs(math.log(value / claim.times)) if value > 0 else math.inf


def _nearest(claim: Claim, cases: Sequence[ClaimCase]) -> ClaimCase:
    """The one that held by the least; of an equality, the one that is farthest off."""
    key: Callable[[ClaimCase], float] = lambda case: _distance(claim, case)  # noqa: E731
    return max(cases, key=key) if claim.relation == "about" else min(cases, key=key)


def _farthest(claim: Claim, cases: Sequence[ClaimCase]) -> ClaimCase:
    return max(cases, key=lambda case: _distance(claim, case))


def _untold(claim: Claim, why: str) -> ClaimVerdict:
    return ClaimVerdict(
        text=claim.text,
        ruling="cannot tell",
        sentence=why,
        estimate=None,
        cases=[],
        quote=claim.quote,
        ours=claim.ours,
        headline=phrases.headline(claim, None, "cannot tell", why),
    )


def _without(claim: Claim, plan: Plan) -> str:
    """Why nothing was, where the load tool it needs is not here."""
    return next((f": {skip.reason}" for skip in plan.skipped if skip.driver and skip.driver == claim.driver), "")


def _absent(claim: Claim, plan: Plan) -> str:
    """Nobody of the claim was measured: who was skipped, and why."""
    patterns = [*claim.contenders, *claim.than]
    skips = [skip for skip in plan.skipped if any(fnmatchcase(skip.contender, pattern) for pattern in patterns)]
    if skips:
        return f"{skips[0].contender} was left out: {skips[0].reason}"
    if claim.than_connections or claim.than_workload:
        return f"nothing was measured at {phrases.other_loads_of(claim)}"
    return "none of its contenders was measured together with one that it is compared with"
