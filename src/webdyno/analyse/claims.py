"""Claims: what an article said, compared with what was found here: it holds, it does not hold, or it is undecided.

A claim is about every comparison it names, in every table that was measured for it, and holds when it holds in each of
them, or in as many as its share asks. How sure each must be for that, and where its interval must lie, stands in
``rulings``. From less than three rounds nothing is decided. All else is undecided.

Doubts come first. A figure that a doubt voids decides nothing; a rate that a doubt makes a floor decides only what a
higher one would decide too; one of a contender that failed some rounds, or left clients without an answer, decides only
what a worse one would decide too (``leeway``). A doubt that explains a figure stands beside it (``reasons``), because
"slow" and "was measured at connection set-up" are different answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

import msgspec

from webdyno.analyse import phrases, words
from webdyno.analyse.comparisons import Judged, Pair, Side, is_about, pairs, together
from webdyno.analyse.leeway import FAILED, UNSERVED, best_case, leeway
from webdyno.analyse.measures import MEASURES, SCALE, Ratio, ratio
from webdyno.analyse.pairs import ENOUGH
from webdyno.analyse.reasons import reason_of
from webdyno.analyse.rulings import Asked, Compared, asked_of, needed_of, ruling_of
from webdyno.model.claim import RATES, Claim, ClaimCase, ClaimVerdict, Open, Ruling
from webdyno.model.trial import Plan

_EVIDENCE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("errors", "served", "requests_per_connection"), (*UNSERVED, *FAILED)),
    **dict.fromkeys(("cpu", "cpu_peak", "memory"), UNSERVED),
}
"""Doubts that void a comparison of rates, but are themselves what such a claim is about, or do not touch it: what a
server used it used, even where clients were left without an answer."""


def judge_claims(plan: Plan, tables: Sequence[Judged], cores: int) -> list[ClaimVerdict]:
    """Every claim of the plan; ``cores`` is how many the contenders had."""
    judged = [ruled(claim, plan, tables, cores).verdict for claim in plan.claims]
    return [
        msgspec.structs.replace(it, open=None)
        if it.ruling != "cannot tell"
        else _with_reason(it, claim, plan, tables, cores)
        for claim, it in zip(plan.claims, judged, strict=True)
    ]


def _with_reason(it: ClaimVerdict, claim: Claim, plan: Plan, tables: Sequence[Judged], cores: int) -> ClaimVerdict:
    """An undecided one with what keeps it so."""
    if it.cases and ruled(claim, plan, tables, cores, ENDLESS).verdict.ruling != "cannot tell":
        it = msgspec.structs.replace(it, open="precision")
    return msgspec.structs.replace(it, open=it.open or "held back", unmeasured=_lacks_contender(claim, plan))


ENDLESS = 1_000_000
"""Rounds after which every figure is known."""


class Ruled(NamedTuple):
    """A verdict on a claim, and who is compared with whom in each of its cases."""

    verdict: ClaimVerdict
    compared: Sequence[Pair]


def _lacks_contender(claim: Claim, plan: Plan) -> bool:
    """It names one that the plan neither has nor says why it has not: the user asked for others."""
    known = {*plan.contenders, *(skip.contender for skip in plan.skipped)}
    sides = [[name for name in names if name not in ("best", "last")] for names in (claim.contenders, claim.than)]
    return any(names and not any(fnmatchcase(each, name) for each in known for name in names) for names in sides)


def ruled(claim: Claim, plan: Plan, tables: Sequence[Judged], cores: int, rounds: int = 0) -> Ruled:
    """One claim. With ``rounds``: as it would be ruled after that many, if every figure stayed what it is."""
    needed = max(claim.cores, math.ceil(claim.value or 0) if claim.measure in ("cpu", "cpu_peak") else 1)
    if cores < needed:
        few = f"the claim needs {needed} cores or more, but the contenders had {cores} here"
        return Ruled(_untold(claim, few, "cores"), [])
    asked = [judged for judged in tables if is_about(claim, judged)]
    if not asked:
        lacking = _without(claim, plan)
        why: Open = "missing" if lacking else "not measured"
        untold = _untold(claim, f"nothing was measured {phrases.loads_of(claim)}{lacking}", why)
        untold = msgspec.structs.replace(untold, headline="")  # what the user did not ask does not lead the report
        return Ruled(untold, [])
    asked = together(asked) if claim.together else [judged.of_route(claim.route) for judged in asked]
    compared = _asked_of_somebody([pair for judged in asked for pair in pairs(claim, judged, tables)], plan)
    if not compared:
        return Ruled(_untold(claim, *_absent(claim, plan)), [])
    figures = [_figure(claim, one, other, plan, rounds) for one, other in compared]
    known = [each for each in figures if isinstance(each, Compared)]
    asked_at_once = asked_of(claim, known, len(compared))
    cases = [_case(claim, pair, figure, asked_at_once) for pair, figure in zip(compared, figures, strict=True)]
    open_ = next((figure.why for figure in figures if isinstance(figure, _Nothing)), None)
    return Ruled(msgspec.structs.replace(_sum_up(claim, cases), open=open_), compared)


def _asked_of_somebody(compared: Sequence[Pair], plan: Plan) -> list[Pair]:
    """Without those of whom a brief or a narrowed study asks nothing there, while it asks it of others of the claim.

    Who is named and could not be measured stays: that it is missing leaves the claim open.
    """
    skipped = {skip.contender for skip in plan.skipped}
    sides = [[side for side in pair if side is not None] for pair in compared]
    known = [all(side.name in {*side.judged.standings, *skipped} for side in pair) for pair in sides]
    return [pair for pair, is_known in zip(compared, known, strict=True) if is_known] or list(compared)


@dataclass(frozen=True, slots=True)
class _Nothing:
    """A comparison that decides nothing, and why; with the figures that there are."""

    reason: str
    found: Ratio | None = None
    why: Open = "void"


def _figure(claim: Claim, one: Side, other: Side | None, plan: Plan, ahead: int) -> Compared | _Nothing:
    """Where ``ahead`` is more rounds than there are, as it would be after these."""
    for side in filter(None, (one, other)):
        if reason := _obstacle(claim, side, plan):
            return _Nothing(reason, why="void" if side.name in side.judged.standings else _missing(side.name, plan))
    found = _ratio(claim, one, other)
    if found is None:
        return _Nothing(f"{phrases.measured_of(claim.measure, one.name)} was not measured")
    if found.low is None or found.high is None:
        return _Nothing("one round gives no interval", None if found.of_nothing else found)
    if max(found.rounds, ahead) < ENOUGH:
        return _Nothing(f"{words.count(found.rounds, 'round')} are too few; three are needed", found)
    found = found.after(ahead)
    looks = 1 if plan.further is None else plan.further.comparisons(found.rounds, plan.rounds_of_all)
    return Compared(found, leeway(claim, one, other), looks)


def _case(claim: Claim, pair: Pair, figure: Compared | _Nothing, asked: Asked) -> ClaimCase:
    one, other = pair
    found: Ratio | None = figure.found
    ruling: Ruling = "cannot tell"
    if isinstance(figure, Compared):
        ruling = ruling_of(claim, figure, asked)
        reason = reason_of(claim, one, other, figure, asked, ruling)
        found = None if figure.found.of_nothing else figure.found
    else:
        reason = figure.reason
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
        return f"{side.name} was left out: {skip.reason}" if skip else f"{side.name} was not measured here"
    if not standing.rounds_ok:
        return f"{side.name} did not serve: {phrases.outcomes(standing)}"
    served = UNSERVED if claim.measure in RATES else ()
    evidence = {*_EVIDENCE.get(claim.measure, ()), *served, *best_case(claim)}
    about = [*side.judged.verdict.doubts, *standing.doubts]
    voiding = next((doubt for doubt in about if doubt.severity == "voids" and doubt.kind not in evidence), None)
    return voiding.sentence if voiding else ""


def _ratio(claim: Claim, one: Side, other: Side | None) -> Ratio | None:
    """The figure divided by what the claim compares it with (the other's, times ``times`` left aside)."""
    mine = one.judged.figures
    if other is not None:
        return ratio((mine, one.name), (other.judged.figures, other.name), claim.measure)
    if claim.value is None:
        return None
    return mine.over(one.name, claim.measure, claim.value * SCALE.get(MEASURES[claim.measure][0], 1.0))


def _missing(name: str, plan: Plan) -> Open:
    """Why it has no figure where others have."""
    return "missing" if any(skip.contender == name for skip in plan.skipped) else "not measured"


def _sum_up(claim: Claim, cases: list[ClaimCase]) -> ClaimVerdict:
    by: Callable[[Ruling], list[ClaimCase]] = lambda ruling: [case for case in cases if case.ruling == ruling]  # noqa: E731
    held, broken, open_ = by("holds"), by("does not hold"), by("cannot tell")
    needed = needed_of(claim, len(cases))
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
    """The one that failed by the most; one that was ahead by too little failed by less than nothing."""
    way = 1 if claim.relation in ("less than", "at most", "lowest") else -1

    def by(case: ClaimCase) -> float:
        far, value = _distance(claim, case), case.estimate.value if case.estimate else 0.0
        on_its_side = value > 0 and way * (value - claim.times) < 0
        return -far if on_its_side and claim.relation != "about" else far

    return max(cases, key=by)


def _untold(claim: Claim, why: str, open_: Open) -> ClaimVerdict:
    return ClaimVerdict(
        text=claim.text,
        ruling="cannot tell",
        sentence=why,
        estimate=None,
        cases=[],
        quote=claim.quote,
        ours=claim.ours,
        open=open_,
        headline=phrases.headline(claim, None, "cannot tell", why),
    )


def _without(claim: Claim, plan: Plan) -> str:
    """Why nothing was, where the load tool it needs is not here."""
    return next((f": {skip.reason}" for skip in plan.skipped if skip.driver and skip.driver == claim.driver), "")


def _absent(claim: Claim, plan: Plan) -> tuple[str, Open]:
    """Nobody of the claim was measured: who was skipped, and why."""
    patterns = [*claim.contenders, *claim.than]
    skips = [skip for skip in plan.skipped if any(fnmatchcase(skip.contender, pattern) for pattern in patterns)]
    if skips:
        return f"{skips[0].contender} was left out: {skips[0].reason}", "missing"
    if claim.than_connections or claim.than_workload:
        return f"nothing was measured for {phrases.other_loads_of(claim)}", "not measured"
    return "none of its contenders was measured together with one that it is compared with", "not measured"
