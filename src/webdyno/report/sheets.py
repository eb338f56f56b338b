"""Sheets: the tables that a study adds to the rankings, once, as text; each form of the report draws them its own way.

Figures against connections (or, where everything was asked at one number of them, beside each other), latency of each
route, rates over a server's life, and the figures of the original beside ours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from webdyno.analyse.measures import MEASURES
from webdyno.analyse.phrases import MEASURED, claimed, figure, where
from webdyno.model.claim import ClaimVerdict, Measure, Shape
from webdyno.model.curve import Course, Curve, CurveRow
from webdyno.model.estimate import Estimate
from webdyno.model.load import connections_text
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis
from webdyno.report import digits, explain, words
from webdyno.report.columns import MEANS
from webdyno.report.pairs import pairs
from webdyno.report.percentiles import percentiles, within
from webdyno.report.sheet import Sheet
from webdyno.report.systems import systems

TITLES: dict[Measure, str] = {
    "rate": "Requests served per second",
    "p50": "Median latency",
    "p66": "p66 latency",
    "p75": "p75 latency",
    "p80": "p80 latency",
    "p90": "p90 latency",
    "p95": "p95 latency",
    "p98": "p98 latency",
    "p99": "p99 latency",
    "latency_mean": "Mean latency",
    "latency_stdev": "Standard deviation of latency",
    "latency_max": "Longest latency",
    "errors": "Errors, as a share of all requests",
    "memory": "Peak memory",
    "cpu": "CPU, in cores",
    "cpu_peak": "Highest CPU, in cores",
    "cpu_per_request": "CPU per request",
    "requests_per_connection": "Requests per connection",
    "kept_alive": "Answers after which the connection was kept",
    "served": "Connections that got an answer at all",
    "bytes_per_s": "Bytes received per second",
    "bytes_per_answer": "Bytes received for each answer",
    "gain": "Rate in the last third of a server's life divided by that in the first",
}
_PUBLISHED = "The article's figure: at the stated connections, else for all its loads"
ALIKE = {"holds": "alike", "does not hold": "differs", "cannot tell": "cannot tell"}
_ROUTES = (
    "Share of all requests that used this route",
    "Half of this route's answers took at most this long",
    "99 of 100 of this route's answers took at most this long",
    "Requests of this route that were not answered correctly, as a share of them",
)
_THIRD = "Correct answers per second in the {} third of the time under load, warm-up included; the mean over rounds"
_THIRDS = (
    *(_THIRD.format(which) for which in ("first", "second", "last")),
    "The rate of the last third divided by that of the first, within rounds: above 1 it became faster",
    "The interval of that ratio",
)


def sheets(analysis: Analysis) -> list[Sheet]:
    """Every table of the study that has a figure, but for its claims."""
    measured = [curve for curve in analysis.curves if any(cell for row in curve.rows for cell in row.cells)]
    return [
        *pairs(analysis),
        *_against(measured),
        *_routes(analysis),
        *percentiles(analysis),
        *_courses(analysis.courses),
        *shapes(analysis),
        *systems(analysis),
    ]


def _against(curves: Sequence[Curve]) -> Iterator[Sheet]:
    families: dict[tuple[str, str, str], list[Curve]] = defaultdict(list)
    for curve in curves:
        families[curve.workload, curve.driver, curve.manner].append(curve)
    for family in families.values():
        if len(family[0].connections) > 1:
            yield from (_levels(curve) for curve in family)
        else:
            yield _side_by_side(family)


def _levels(curve: Curve) -> Sheet:
    faceted = any(row.facet for row in curve.rows)
    article = any(row.published for row in curve.rows)  # says something of this figure
    unit, cells = _texts([row.cells for row in curve.rows], curve.measure)
    of = TITLES[curve.measure] + (f" in {unit}" if unit else "")
    return Sheet(
        key=f"{curve.workload}-{curve.measure}",
        title=f"{of}{',' if ',' in of else ''} against connections: {_about(curve)}",
        says="",
        head=[*_first(faceted), *(words.count(number) for number in curve.connections), *["the article"] * article],
        means=[*_untold(faceted), *(_over(number, curve) for number in curve.connections), *[_PUBLISHED] * article],
        rows=[
            [*_name(row, faceted), *texts, *[_published(row, curve.measure)] * article]
            for row, texts in zip(curve.rows, cells, strict=True)
        ],
        texts=2 if faceted else 1,
        sure=[[*_name(row, faceted, told=False), *map(_sure, row.cells), *[""] * article] for row in curve.rows],
    )


def _published(row: CurveRow, measure: Measure) -> str:
    """``9.0 MiB at 10,000``, ``under 3 ms``."""
    told = [
        (one.said or claimed(one.value, measure)) + (f" at {words.count(one.connections)}" if one.connections else "")
        for one in row.published
    ]
    return ", ".join(told) or words.MISSING


def _side_by_side(family: Sequence[Curve]) -> Sheet:
    """All measures of one load beside each other, each in one unit."""
    first = family[0]
    faceted = any(row.facet for row in first.rows)
    names = [row.contender for row in first.rows]
    told = [_texts([[_cell(curve, name)] for name in names], curve.measure) for curve in family]
    return Sheet(
        key=f"{first.workload}-figures",
        title=f"Figures: {_about(first)}, {words.count(first.connections[0], 'connection')}",
        says="",
        head=[
            *_first(faceted),
            *(_head(MEASURED[curve.measure], unit) for curve, (unit, _) in zip(family, told, strict=True)),
        ],
        means=[*_untold(faceted), *(_over_rounds(curve) for curve in family)],
        rows=[[*_name(row, faceted), *(texts[at][0] for _, texts in told)] for at, row in enumerate(first.rows)],
        texts=2 if faceted else 1,
        sure=[
            [*_name(row, faceted, told=False), *(_sure(_cell(curve, row.contender)) for curve in family)]
            for row in first.rows
        ],
    )


def _head(title: str, unit: str) -> str:
    return f"{title}, {unit}" if unit else title


def _about(curve: Curve) -> str:
    by = "" if curve.driver == "engine" else f", by {curve.driver}"
    return f"{curve.workload}, {curve.manner}{by}"


def _of(it: Course | Shape) -> str:
    by = "" if it.driver == "engine" else f", by {it.driver}"
    return f"{it.workload}, {it.load}{by}"


def _first(faceted: bool) -> list[str]:
    return ["framework on server", "runtime"] if faceted else ["contender"]


def _untold(faceted: bool) -> list[str]:
    """The columns that name a row: their titles say all."""
    return [""] * len(_first(faceted))


def _over(number: int, curve: Curve) -> str:
    return f"Requested over {words.count(number, 'connection')} at once. {_over_rounds(curve)}"


def _over_rounds(curve: Curve) -> str:
    """A share of requests is never trimmed: a round in which they failed would be the one that is left out."""
    trimmed = curve.trimmed and MEASURES[curve.measure][0] != "share"
    over = "the mean over rounds" + (", without the highest and the lowest of each contender" if trimmed else "")
    return f"{MEANS[curve.measure]}. Shown is {over}"


def _name(row: CurveRow, faceted: bool, *, told: bool = True) -> list[str]:
    """The cells that name a row; empty ones in their place where they are not ``told``."""
    names = [row.facet, row.line] if faceted else [row.contender]
    return names if told else [""] * len(names)


def _cell(curve: Curve, name: str) -> Estimate | None:
    return next((row.cells[0] for row in curve.rows if row.contender == name), None)


def _sure(estimate: Estimate | None) -> str:
    return explain.sure(estimate) if estimate else explain.UNKNOWN


def _texts(rows: Sequence[Sequence[Estimate | None]], measure: Measure) -> tuple[str, list[list[str]]]:
    """Cells that are read together: times and sizes in one unit, which is the first of the two; all in one order."""
    if MEASURES[measure][0] not in digits.SCALES and measure != "rate":
        return "", [[_text(cell, measure) for cell in row] for row in rows]
    (told,) = digits.told([cell for row in rows for cell in row])
    numbers = iter(told.numbers)
    return told.unit, [[next(numbers) for _ in row] for row in rows]


def _text(estimate: Estimate | None, measure: Measure) -> str:
    return words.MISSING if estimate is None else figure(estimate, measure)


def _routes(analysis: Analysis) -> Iterator[Sheet]:
    for verdict in analysis.verdicts:
        if verdict.pair_apart_s is not None:  # these are told together
            continue
        routes = [(standing.contender, route) for standing in verdict.standings for route in standing.routes]
        p50, p99 = digits.told([route.p50 for _, route in routes], [route.p99 for _, route in routes])
        rows = [
            [
                name,
                route.route,
                words.per_cent(route.share),
                p50.numbers[at],
                p99.numbers[at],
                words.per_cent(route.error_ratio),
            ]
            for at, (name, route) in enumerate(routes)
        ]
        if rows:
            yield Sheet(
                key=f"{verdict.workload}-routes",
                title=f"Latency of each route: {where(verdict)}",
                says="Requests of several routes were sent side by side. A slow route that delays the others "
                "shows in their times.",
                head=["contender", "route", "of all", _head("p50", p50.unit), _head("p99", p99.unit), "errors"],
                means=["", "", *_ROUTES],
                rows=rows,
                texts=2,
            )


def _courses(courses: Sequence[Course]) -> Iterator[Sheet]:
    tables: dict[str, list[Course]] = defaultdict(list)
    for course in courses:
        tables[_of(course)].append(course)
    for about, each in tables.items():
        workload = each[0].workload
        faceted = any(course.facet for course in each)
        yield Sheet(
            key=f"{workload}-iterations",
            title=f"Requests/s in each third of a server's life: {about}",
            says="Warm-up included. A compiler that works while the program runs shows as a rise. A life is a "
            "round, or all rounds if they were measured in place.",
            head=[*_first(faceted), "first", "second", "third", "third / first", "95 % interval"],
            means=[*_untold(faceted), *_THIRDS],
            rows=[_course(course, faceted) for course in each],
            texts=2 if faceted else 1,
        )


def _course(course: Course, faceted: bool) -> list[str]:
    name = [course.facet, course.line] if faceted else [course.contender]
    gain = course.gain
    told = [words.times(gain), words.interval(gain) or words.MISSING] if gain else [words.MISSING] * 2
    return [*name, *(words.plain(part) for part in course.parts), *told]


def shapes(analysis: Analysis) -> Iterator[Sheet]:
    """The original's figures beside ours, a table for each load and measure where one of ours is comparable."""
    tables: dict[tuple[str, Measure], list[Shape]] = defaultdict(list)
    for shape in (one for one in analysis.shapes if not within(analysis, one)):
        tables[_of(shape), shape.measure].append(shape)
    comparable = {key: each for key, each in tables.items() if any(shape.here for shape in each)}
    for at, ((about, measure), each) in enumerate(comparable.items()):
        workload, base, asked = each[0].workload, each[0].baseline, each[0].connections
        says = [
            f"Ratios to {base}, because absolute figures of two machines cannot be compared. Alike: within a "
            "factor of 1.25."
        ]
        if not each[0].load.startswith(f"{connections_text(asked)},"):
            says.append(f"The original used {words.count(asked, 'connection')}.")
        yield Sheet(
            key=f"{workload}-original",
            title=f"{TITLES[measure]}, original vs here: {about}",
            says=" ".join(says if at == 0 else says[1:]),
            head=["contender", "then", "original", "ratio", "here", "ratio", "95 % interval", ""],
            means=_besides(base),
            rows=[_shape(shape) for shape in each],
            texts=2,
        )


def _besides(base: str) -> list[str]:
    """What the columns of the original beside ours are."""
    return [
        "",
        "The name in the original",
        "The figure that the original published",
        f"That figure divided by the original's of {base}",
        "What was measured here, as in the other tables",
        f"Ours divided by ours of {base}, within rounds",
        "The interval of our ratio",
        "",
    ]


def _shape(shape: Shape) -> list[str]:
    here = [words.MISSING] * 3
    if shape.value is not None and shape.here is not None:
        base = shape.contender == shape.baseline
        bounds = words.MISSING if base else words.interval(shape.here) or words.MISSING
        here = [figure(shape.value, shape.measure), "1x" if base else words.times(shape.here), bounds]
    verdict = ALIKE[shape.alike] if shape.contender != shape.baseline else "baseline"
    return [
        shape.contender,
        shape.as_named,
        claimed(shape.original_value, shape.measure),
        "1x" if shape.contender == shape.baseline else f"{words.number(shape.original, 2)}x",
        *here,
        verdict if shape.here is not None else f"none: {shape.reason}",
    ]


def source(plan: Plan) -> str:
    """Where the figures and claims come from."""
    if plan.original is None:
        return ""
    return f"{plan.original.source} ({plan.original.year})"


def basis(claim: ClaimVerdict) -> str:
    """What a claim rests on: words or figures of the article, or that it is a question of ours; else empty."""
    if claim.ours:
        return "Our own question: the article does not claim this."
    return f"In the article: {claim.quote}" if claim.quote else ""


def judged(claims: Sequence[ClaimVerdict]) -> list[ClaimVerdict]:
    """The claims to be shown one by one: without those that lack a contender, which are summed up."""
    return [claim for claim in claims if not claim.unmeasured]


def tally(claims: Sequence[ClaimVerdict]) -> str:
    """How the claims were judged, and how many could not be, because a contender was missing."""
    lacking = len(claims) - len(judged(claims))
    if not lacking:
        return words.tally(claims)
    they = (
        "1 claim is about a contender that was" if lacking == 1 else f"{lacking} claims are about contenders that were"
    )
    return f"{words.tally(claims)} {they} not measured."


def lone(analysis: Analysis, most: int = 6) -> bool:
    """Whether every table's ranking may be told one by one; with more tables the sheets tell them together."""
    return len(analysis.verdicts) <= most or not analysis.curves
