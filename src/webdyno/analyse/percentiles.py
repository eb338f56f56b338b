"""Percentiles: the times within which parts of a contender's requests were served, as ab prints them.

Each is a figure like any other: of our own engine's histograms, or of the driver's own table, fitted over rounds. A
part that a driver does not give is unknown, and none is made up between two that it gives.
"""

from __future__ import annotations

from collections.abc import Sequence

from webdyno.analyse.comparisons import Judged
from webdyno.analyse.latency import PERCENTILES
from webdyno.analyse.measures import MEASURES
from webdyno.model.claim import Measure
from webdyno.model.curve import Percentiles
from webdyno.model.trial import Plan

SHOWN: list[Measure] = [*(measure for measure in MEASURES if measure in PERCENTILES), "latency_max"]


def percentiles(plan: Plan, tables: Sequence[Judged]) -> list[Percentiles]:
    """Of every contender in every table, best first, for studies that show percentiles."""
    if "percentiles" not in plan.shows:
        return []
    told = [_of(judged, standing.contender) for judged in tables for standing in judged.verdict.standings]
    return [one for one in told if any(one.cells)]


def _of(judged: Judged, name: str) -> Percentiles:
    return Percentiles(
        workload=judged.verdict.workload,
        load=judged.verdict.load,
        driver=judged.verdict.driver,
        contender=name,
        measures=SHOWN,
        cells=[judged.figures.estimate(name, measure) for measure in SHOWN],
        doubts=judged.kinds(name),
    )
