"""Curves: each figure that a study turns on, of every contender, against connections; per route; over a server's life.

The articles behind the studies were read by their plots; these are the same plots as data. Tables of different drivers,
or of loads that differ in more than the number of connections, never share one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fnmatch import fnmatchcase

from webdyno.analyse.by_route import latency_of
from webdyno.analyse.comparisons import Judged
from webdyno.analyse.error_share import error_share
from webdyno.analyse.estimate import fit
from webdyno.analyse.measures import MEASURES
from webdyno.analyse.parts import PARTS, lives
from webdyno.analyse.table import Cell, Table
from webdyno.analyse.window import Window
from webdyno.model.claim import Measure, OriginalFigure
from webdyno.model.curve import Course, Curve, CurveRow
from webdyno.model.estimate import Estimate
from webdyno.model.sample import Slice
from webdyno.model.trial import Plan
from webdyno.model.verdict import RouteFigures


def facets(plan: Plan) -> dict[str, tuple[str, str]]:
    """Framework and server, and the runtime, of each contender.

    Empty unless some pair is there on two runtimes, and where two contenders would have the same name by it.
    """
    named = {
        name: (f"{plan.apps[it.app].framework} on {it.server}", it.runtime)
        for name, it in plan.contenders.items()
        if it.app in plan.apps
    }
    runtimes: dict[str, set[str]] = defaultdict(set)
    for facet, runtime in named.values():
        runtimes[facet].add(runtime)
    several = any(len(each) > 1 for each in runtimes.values())
    return named if several and len(set(named.values())) == len(named) else {}


def curves(plan: Plan, tables: Sequence[Judged]) -> list[Curve]:
    """One for each workload, kind of load and measure; none where the study asks for none."""
    if not plan.shows:
        return []
    families: dict[tuple[str, str, str], list[Judged]] = defaultdict(list)
    for judged in tables:
        if judged.verdict.pair_apart_s is None:  # times of two different requests have no median of use
            families[judged.verdict.workload, judged.verdict.driver, judged.verdict.manner].append(judged)
    found = facets(plan)
    drawn = (_curve(measure, family, found, plan) for family in families.values() for measure in _measures(plan))
    return [curve for curve in drawn if any(cell for row in curve.rows for cell in row.cells)]


def _measures(plan: Plan) -> list[Measure]:
    """The rate first; then what the article drew, in its order; then what the study shows besides, in its order."""
    graphs = [graph.measure for graph in plan.original.graphs] if plan.original else []
    shown = sorted((measure for measure in MEASURES if measure in plan.shows), key=plan.shows.index)
    first: list[Measure] = ["rate"]
    return list(dict.fromkeys([*first, *graphs, *shown]))


def _curve(measure: Measure, family: Sequence[Judged], found: dict[str, tuple[str, str]], plan: Plan) -> Curve:
    ordered = sorted(family, key=lambda judged: judged.verdict.connections)
    names = _by_place(ordered)
    if found:
        names.sort(key=lambda name: found.get(name, (name, "")))
    rows = [
        CurveRow(
            contender=name,
            cells=[judged.figures.estimate(name, measure) for judged in ordered],
            facet=found.get(name, ("", ""))[0],
            line=found.get(name, ("", ""))[1],
            doubts=[judged.kinds(name) for judged in ordered],
            of_article=any(fnmatchcase(name, system.contender) for system in plan.systems),
            published=_published(plan, name, measure, ordered[0].verdict.workload),
        )
        for name in names
    ]
    about = ordered[0].verdict
    graphs = plan.original.graphs if plan.original else []
    return Curve(
        workload=about.workload,
        driver=about.driver,
        manner=about.manner,
        measure=measure,
        connections=[judged.verdict.connections for judged in ordered],
        rows=rows,
        graph=next((graph.title for graph in graphs if graph.measure == measure), ""),
        trimmed=plan.estimate == "trimmed",
    )


def _published(plan: Plan, name: str, measure: Measure, workload: str) -> list[OriginalFigure]:
    """Figures that stand in no table of ratios (``shapes``), because the baseline has none to divide them by."""
    if plan.original is None:
        return []
    mine = [one for one in plan.original.figures if (one.measure, one.workload) == (measure, workload)]
    divided = {one.connections for one in mine if one.contender == plan.original.baseline} - {None}
    return [one for one in mine if one.contender == name and one.connections not in divided]


def _by_place(ordered: Sequence[Judged]) -> list[str]:
    """Contenders by their mean place over the tables, best first."""
    places: dict[str, list[int]] = defaultdict(list)
    for judged in ordered:
        for at, standing in enumerate(judged.verdict.standings):
            places[standing.contender].append(at)
    return sorted(places, key=lambda name: sum(places[name]) / len(places[name]))


def courses(plan: Plan, tables: Sequence[Judged]) -> list[Course]:
    """How the rate went over the life of each server, for studies that show iterations."""
    if "iterations" not in plan.shows:
        return []
    found = facets(plan)
    told = [_course(judged, cell, found) for judged in tables for cell in judged.figures.table.cells]
    return sorted((one for one in told if one is not None), key=lambda one: (one.workload, one.facet, one.line))


def _course(judged: Judged, cell: Cell, found: dict[str, tuple[str, str]]) -> Course | None:
    figures = {
        (f"{part}", round_): rate
        for round_, rates in lives(sorted((window.run for window in cell.windows), key=lambda run: run.trial.round))
        for part, rate in enumerate(rates)
    }
    fitted = fit(figures)
    if fitted is None or "0" not in fitted.names or f"{PARTS - 1}" not in fitted.names:
        return None
    facet, line = found.get(cell.name, ("", cell.name))
    return Course(
        workload=judged.verdict.workload,
        load=judged.verdict.load,
        driver=judged.verdict.driver,
        contender=cell.name,
        facet=facet,
        line=line,
        parts=[fitted.estimate(f"{part}", "per_s") for part in range(PARTS) if f"{part}" in fitted.names],
        gain=fitted.ratio(f"{PARTS - 1}", "0"),
        doubts=judged.kinds(cell.name),
    )


def routes(table: Table) -> dict[str, list[RouteFigures]]:
    """Each request of a workload that has several, by contender."""
    names = [request.name for request in table.workload.requests]
    if len(names) < 2:
        return {}
    latencies = {
        (cell.name, route, window.run.trial.round): latency_of(window, route)
        for cell in table.cells
        for window in cell.windows
        for route in names
    }
    points: dict[tuple[str, float], dict[tuple[str, int], float]] = defaultdict(dict)
    for (name, route, round_), latency in latencies.items():
        for share in (0.5, 0.99) if latency is not None else ():
            points[route, share][name, round_] = latency.percentiles_ns([share])[0] if latency else 0.0
    fits = {key: fit(cells) for key, cells in points.items()}

    def point(route: str, share: float, name: str) -> Estimate | None:
        fitted = fits.get((route, share))
        return fitted.estimate(name, "ns") if fitted and name in fitted.names else None

    return {
        cell.name: [
            RouteFigures(
                route=route,
                share=_share(cell, route),
                p50=point(route, 0.5, cell.name),
                p99=point(route, 0.99, cell.name),
                error_ratio=_errors(cell, route),
            )
            for route in names
        ]
        for cell in table.cells
        if any(slice_.routes for window in cell.windows for slice_ in window.run.slices)
    }


def _steady(window: Window) -> list[Slice]:
    return [slice_ for slice_ in window.run.slices if slice_.phase == "steady"]


def _share(cell: Cell, route: str) -> float:
    told = [r for window in cell.windows for slice_ in _steady(window) for r in slice_.routes]
    total = sum(r.ok for r in told)
    return sum(r.ok for r in told if r.name == route) / total if total else 0.0


def _errors(cell: Cell, route: str) -> float:
    told = [r for window in cell.windows for s in _steady(window) for r in s.routes if r.name == route]
    errors: Counter[str] = Counter()
    for route_ in told:
        errors.update(route_.errors)
    return error_share(errors, sum(each.ok for each in told))
