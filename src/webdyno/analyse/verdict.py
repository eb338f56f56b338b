"""Verdict: joins figures, comparison, ranking and doubts into what is claimed about a results folder.

Doubts come first: a contender whose figures a doubt voids keeps its figures in the table, but has no place, no
letters, and nobody is compared with it; a table that a doubt voids has no ranking at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from webdyno.analyse import doubts as rules
from webdyno.analyse.claims import judge_claims
from webdyno.analyse.compare import Pair, apart
from webdyno.analyse.comparisons import Judged
from webdyno.analyse.curves import courses, curves, routes
from webdyno.analyse.estimate import Fit
from webdyno.analyse.floors import handicaps
from webdyno.analyse.leak import growths, staying
from webdyno.analyse.limits import limits
from webdyno.analyse.measures import Figures
from webdyno.analyse.pairs import Handicaps
from webdyno.analyse.percentiles import percentiles
from webdyno.analyse.race import Heat
from webdyno.analyse.rank import letters, top_group
from webdyno.analyse.recommend import command_of, headline, recommend, unfinished_of
from webdyno.analyse.replay import comparisons_at, confidence_of, replay
from webdyno.analyse.replay import told as told_by_race
from webdyno.analyse.scalings import scalings
from webdyno.analyse.sentence import verdict_sentence
from webdyno.analyse.shapes import shapes
from webdyno.analyse.steps import fit_figure
from webdyno.analyse.systems import setting, systems
from webdyno.analyse.table import Cell, Evidence, Table, tables
from webdyno.analyse.unanswered import connections_served
from webdyno.analyse.warmup import warm_ups
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt
from webdyno.model.load import Load, connections_text
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis, Estimate, RouteFigures, Standing, Verdict
from webdyno.model.warmup import WarmUp

FIGURES: dict[str, tuple[str, Callable[[Window], float | None]]] = {
    "rate": ("per_s", lambda window: window.rate_per_s),
    "p50": ("ns", lambda window: window.points_ns.get("p50")),
    "p99": ("ns", lambda window: window.points_ns.get("p99")),
    "cpu_per_request": ("ns_per_request", lambda window: window.cpu_per_request_ns),
    "service_cpu_per_request": ("ns_per_request", lambda window: window.service_cpu_per_request_ns),
    "memory_peak": ("bytes", lambda window: window.run.memory_peak_bytes),
    "bytes_per_s": ("bytes_per_s", lambda window: window.bytes_per_s),
}
"""Every figure of a Standing: its unit and where it comes from. All go through the same fit."""


PAIRS = "pairs are sent at a fixed rate, so the result is their times, not their rate"


def analysis_of(plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run]) -> Analysis:
    """See ``webdyno.analyse.analyse``."""
    evidence = Evidence(plan, fingerprint, runs)
    judged = judged_tables(evidence)
    verdicts = [each.verdict for each in judged]
    doubts = rules.about_study(evidence)
    of_article = [it.name for it in plan.contenders.values() if it.is_of_article]
    recommended, sentence = recommend(verdicts, of_article, unfinished_of(doubts))
    claims = judge_claims(plan, judged, cores_of(runs))
    return Analysis(
        sentence=headline(claims, recommended, sentence),
        verdicts=verdicts,
        recommended=recommended,
        recommended_command=command_of(recommended, plan, runs),
        doubts=doubts,
        claims=claims,
        shapes=shapes(plan, judged),
        systems=systems(plan),
        setting=setting(plan, runs),
        curves=curves(plan, judged),
        percentiles=percentiles(plan, judged),
        courses=courses(plan, judged),
        scalings=scalings(judged),
    )


def judged_tables(evidence: Evidence, found: Sequence[Table] | None = None) -> list[Judged]:
    """Every table with its figures and its verdict; ``found``: its tables, where they are read already."""
    plan, runs, ceilings = evidence.plan, evidence.runs, evidence.fingerprint.ceilings
    heats = replay(plan, runs, ceilings).heats if plan.race is not None else {}
    pairs = comparisons_at(plan, runs)
    return [
        Judged(
            Figures(table, plan.estimate == "trimmed"),
            _verdict(plan, table, pairs, heats.get((table.workload.name, table.load, table.driver))),
        )
        for table in (tables(evidence) if found is None else found)
    ]


def cores_of(runs: Sequence[Run]) -> int:
    """As many as contenders had."""
    return max((len(run.rig.contender_cores) for run in runs), default=1)


def _verdict(plan: Plan, table: Table, pairs: int | None, heat: Heat | None) -> Verdict:
    about = {cell.name: rules.about_contender(cell) for cell in table.cells}
    about_table, fits = rules.about_table(table), _fits(plan, table)
    rates = fits["rate"]
    by_rate = [] if rates is None else sorted(rates.names, key=lambda name: -rates.logs[rates.names.index(name)])
    barred = _voided(about_table)
    ranked = [name for name in by_rate if not barred and not _voided(about[name])]
    voided = [name for name in by_rate if name not in ranked]
    told = _told(plan, rates, ranked, handicaps(about), heat)
    marks = letters(ranked, told)
    cells = {cell.name: cell for cell in table.cells}
    warm, by_route = warm_ups(table), routes(table)
    standings = [
        _standing(
            cells[name],
            fits,
            place=ranked.index(name) + 1 if name in marks else None,
            letters=marks.get(name, ""),
            to_best=_to_best(plan, rates, name, next(iter(ranked or by_rate), None)),
            doubts=about[name],
            warm_up=warm.get(name),
            by_route=by_route.get(name, []),
        )
        for name in [*ranked, *voided, *sorted(cells.keys() - set(by_rate))]
    ]
    winners = top_group(ranked, told)
    leaders = [standing for standing in standings if standing.place is not None]
    sentence = PAIRS if table.load.pace == "pairs" else verdict_sentence(leaders, winners, rates, voided, pairs)
    return Verdict(
        workload=table.workload.name,
        load=table.load.label,
        sentence="not compared: " + about_table[0].sentence if barred else sentence,
        standings=standings,
        winners=winners if _told_anything(rates, ranked) else [],
        doubts=about_table,
        driver=table.driver,
        connections=table.load.connections,
        manner=_manner(table.load),
        pair_apart_s=table.load.pair_apart_s,
    )


def _fits(plan: Plan, table: Table) -> dict[str, Fit | None]:
    """Every figure, fitted."""
    trimmed = plan.estimate == "trimmed"
    return {name: fit_figure(table, of, trimmed=trimmed, rate=name == "rate") for name, (_, of) in FIGURES.items()}


def _told(plan: Plan, rates: Fit | None, ranked: Sequence[str], held: Handicaps, heat: Heat | None) -> set[Pair]:
    """Pairs that differ beyond chance: in a race those that it has told, because it looked more than once."""
    if rates is None:
        return set()
    if plan.race is None:
        return apart(rates, ranked, held, _looks(plan, rates))
    return told_by_race(plan.race, heat, rates, ranked, held) if heat is not None else set()


def _looks(plan: Plan, rates: Fit) -> int:
    """How often it may be decided at most whether this table goes on."""
    went_on = plan.further is not None and max(rates.rounds) > plan.rounds_of_all
    return 1 + len(plan.further.all_looks) if plan.further is not None and went_on else 1


def _to_best(plan: Plan, rates: Fit | None, name: str, best: str | None) -> Estimate | None:
    if rates is None or best is None or name not in rates.names:
        return None
    return rates.ratio(name, best, confidence_of(plan.race, rates, name, best))


def _manner(load: Load) -> str:
    """The label of a load without its number of connections."""
    return load.label.removeprefix(f"{connections_text(load.connections)}, ")


def _standing(
    cell: Cell,
    fits: dict[str, Fit | None],
    *,
    place: int | None,
    letters: str,
    to_best: Estimate | None,
    doubts: list[Doubt],
    warm_up: WarmUp | None,
    by_route: list[RouteFigures],
) -> Standing:
    figures = {name: _figure(fitted, cell.name, FIGURES[name][0]) for name, fitted in fits.items()}
    return Standing(
        contender=cell.name,
        place=place,
        letters=letters,
        ratio_to_best=to_best,
        connections=None if cell.load.is_open else cell.load.connections,
        connections_served=connections_served(cell.load, [window.run for window in cell.windows]),
        requests_per_connection=cell.requests_per_connection,
        errors=cell.errors,
        error_ratio=cell.error_ratio,
        rounds_ok=len(cell.windows),
        rounds_failed=len(cell.failed),
        outcomes=cell.outcomes,
        doubts=doubts,
        warm_up=warm_up,
        limits=limits(cell),
        memory_staying=staying(growths(cell)),
        routes=by_route,
        **figures,
    )


def _figure(fitted: Fit | None, name: str, unit: str) -> Estimate | None:
    return fitted.estimate(name, unit) if fitted is not None and name in fitted.names else None


def _voided(doubts: Sequence[Doubt]) -> bool:
    return any(doubt.severity == "voids" for doubt in doubts)


def _told_anything(rates: Fit | None, ranked: Sequence[str]) -> bool:
    """With a single round nothing can be told, so there are no winners either; alone in the table, there is one."""
    if rates is None or not ranked:
        return False
    return len(ranked) == 1 or any(rates.contrast(ranked[0], other) is not None for other in ranked[1:])
