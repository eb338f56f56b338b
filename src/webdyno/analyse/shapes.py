"""Shapes: the figures an article published, beside ours. Machines of then and now have nothing in common but ratios, so
each is divided by the figure of the same contender, the baseline, in its own table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from webdyno.analyse.comparisons import Judged
from webdyno.analyse.measures import Ratio, ratio
from webdyno.analyse.rulings import ABOUT
from webdyno.model.claim import REASONS, Original, OriginalFigure, Ruling, Shape
from webdyno.model.estimate import Estimate
from webdyno.model.trial import Plan

NEAREST = 2.0
"""A published number of connections up to this many times ours, or as much less, may stand for it."""


def shapes(plan: Plan, tables: Sequence[Judged]) -> list[Shape]:
    """Every published figure that a table of ours answers to."""
    if plan.original is None:
        return []
    beside = [one for one in tables if plan.original.driver in (None, one.verdict.driver)]
    return [shape for judged in beside for shape in _of_table(plan, plan.original, judged)]


def _of_table(plan: Plan, original: Original, judged: Judged) -> Iterator[Shape]:
    mine = [one for one in original.figures if one.workload == judged.verdict.workload]
    for measure in dict.fromkeys(one.measure for one in mine):
        published = [one for one in mine if one.measure == measure]
        level = _nearest([one.connections for one in published if one.connections], judged.verdict.connections)
        at = [one for one in published if one.connections == level]
        base = next((one for one in at if one.contender == original.baseline), None)
        if level is not None and base is not None and base.value > 0:
            yield from (_shape(plan, judged, one, base, level) for one in at)


def _nearest(levels: Sequence[int], to: int) -> int | None:
    best = min(levels, key=lambda level: abs(math.log(level / to)), default=None)
    return best if best is not None and max(best / to, to / best) <= NEAREST else None


def _shape(plan: Plan, judged: Judged, of: OriginalFigure, base: OriginalFigure, level: int) -> Shape:
    here = ratio((judged.figures, of.contender), (judged.figures, base.contender), of.measure)
    then = of.value / base.value
    return Shape(
        workload=judged.verdict.workload,
        load=judged.verdict.load,
        driver=judged.verdict.driver,
        measure=of.measure,
        contender=of.contender,
        baseline=base.contender,
        connections=level,
        as_named=of.as_named,
        original_value=of.value,
        original=then,
        value=judged.figures.estimate(of.contender, of.measure),
        here=here.estimate if here else None,
        alike="holds" if of is base and here else _alike(here, then),
        reason=_reason(plan, judged, of.contender, base.contender, here.estimate if here else None),
        doubts=judged.kinds(of.contender, base.contender),
    )


def _alike(here: Ratio | None, then: float) -> Ruling:
    if here is None or here.low is None or here.high is None or then <= 0:
        return "cannot tell"
    if here.low >= then / ABOUT and here.high <= then * ABOUT:
        return "holds"
    return "does not hold" if here.high < then / ABOUT or here.low > then * ABOUT else "cannot tell"


def _reason(plan: Plan, judged: Judged, name: str, base: str, here: Estimate | None) -> str:
    """Why there is no figure, or the first doubt that explains it."""
    standing = judged.standings.get(name)
    if standing is None:
        skip = next((skip for skip in plan.skipped if skip.contender == name), None)
        return skip.reason if skip else "was not measured"
    if not standing.rounds_ok:
        return "did not serve: " + ", ".join(standing.outcomes)
    if here is None:
        return f"{base} has no figure to divide by" if name != base else "was not measured"
    return next((doubt.sentence for doubt in standing.doubts if doubt.kind in REASONS), "")
