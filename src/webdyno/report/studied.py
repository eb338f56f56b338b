"""What a study adds to the HTML report: what became of each claim, its tables, and charts against connections."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from webdyno.model.claim import ClaimVerdict
from webdyno.model.curve import Curve, CurveRow
from webdyno.model.estimate import Estimate
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis
from webdyno.report import sheets
from webdyno.report.axis import levels, logarithmic, short, straight, whole
from webdyno.report.charts import served_chart
from webdyno.report.columns import CLAIMS, cell, head
from webdyno.report.headline import RULED
from webdyno.report.iterations import iterations
from webdyno.report.labels import Point
from webdyno.report.markup import Markup, element
from webdyno.report.percentiles import about, by_table
from webdyno.report.sheet import Sheet
from webdyno.report.sheets import TITLES
from webdyno.report.svg import STYLES, Frame, Series, lines, room
from webdyno.report.words import Column

_SCALED: dict[str, tuple[str, float]] = {
    "per_s": ("requests/s", 1.0),
    "ns": ("ms", 1e6),
    "ns_per_request": ("ms", 1e6),
    "bytes": ("MiB", 2.0**20),
    "bytes_per_s": ("KiB/s", 2.0**10),
    "bytes_per_answer": ("bytes", 1.0),
    "share": ("%", 0.01),
    "cores": ("cores", 1.0),
    "per_connection": ("requests", 1.0),
    "ratio": ("times", 1.0),
}
_LOGARITHMIC = ("ns", "ns_per_request", "per_connection")


def claims(plan: Plan, analysis: Analysis) -> Markup | None:
    """Each claim of the original, its ruling, and what decided it; what else is known of that in small letters."""
    if not analysis.claims:
        return None
    table = element(
        "table",
        head(CLAIMS),
        element("tbody", *[_claim(claim) for claim in sheets.judged(analysis.claims)]),
        class_="claims",
    )
    some = bool(sheets.judged(analysis.claims))
    return element(
        "section",
        element("h2", "What the original claimed", id="claims"),
        element("p", sheets.source(plan), class_="lead"),
        element(
            "div",
            element("p", sheets.tally(analysis.claims), class_="says"),
            element("div", table, class_="scroll") if some else None,
            class_="card",
        ),
    )


def _claim(claim: ClaimVerdict) -> Markup:
    ruling = element("b", claim.ruling, class_=f"ruling {RULED[claim.ruling]}")
    rests_on = sheets.basis(claim)
    text = element("td", claim.text, element("small", rests_on) if rests_on else None)
    decided, _, further = claim.sentence.partition("; ")
    why = element("td", decided, element("small", further) if further else None)
    return element("tr", text, element("td", ruling), why)


def studied(analysis: Analysis) -> Markup | None:
    """The tables of the study, each family of figures with its charts."""
    told = [_sheet(sheet) for sheet in sheets.sheets(analysis)]
    if not told:
        return None
    curved = [chart for curve in analysis.curves for chart in charts(curve)]
    drawn = [*_served(analysis), *curved, *iterations(analysis.courses)]
    return element(
        "section",
        element("h2", "As the original showed it", id="studied"),
        element("div", *drawn, class_="pair") if drawn else None,
        *told,
    )


def _served(analysis: Analysis) -> Iterator[Markup]:
    """Percentiles of each load; in colour what runs as in the article, and where it is of none the first ones."""
    ran = [name for system in analysis.systems for name in system.contenders]
    for table, rows in by_table(analysis).items():
        names = [row.contender for row in rows]
        chosen = [name for name in ran if name in names] or names
        found = served_chart(rows, {name: at for at, name in enumerate(chosen[:STYLES])}, about(table))
        if found is not None:
            says = "Lower and flatter is better. 100% is the slowest request."
            yield element(
                "div",
                element("h3", f"Served within a given time: {about(table)}"),
                element("p", says, class_="says"),
                element("div", found, class_="scroll"),
                class_="card",
            )


def _sheet(sheet: Sheet) -> Markup:
    kinds = [None if at < sheet.texts or not title else "n" for at, title in enumerate(sheet.head)]
    columns = [Column(title, means) for title, means in zip(sheet.head, sheet.means, strict=True)]
    rows = [
        element(
            "tr",
            *[
                cell(column, text, class_=kind, title=sure or None)
                for column, text, kind, sure in zip(columns, row, kinds, said, strict=True)
            ],
        )
        for row, said in zip(sheet.rows, sheet.sure or [[""] * len(kinds)] * len(sheet.rows), strict=True)
    ]
    figures = [at for at, kind in enumerate(kinds) if kind]
    table = element("table", head(columns, figures), element("tbody", *rows))
    says = element("p", sheet.says, class_="says") if sheet.says else None
    return element("div", element("h3", sheet.title), says, element("div", table, class_="scroll"), class_="card")


def charts(curve: Curve) -> list[Markup]:
    """One chart of a curve, or one for each framework and server; none with less than two numbers of connections.

    Rate and p99 of a study without such facets are drawn ``against`` the load like those of every other study, but for
    those that the article has as a graph.
    """
    if len(curve.connections) < 2:
        return []
    if not any(row.facet for row in curve.rows):
        if curve.graph:
            return [_card(curve, curve.graph, curve.rows)]
        return [] if curve.measure in ("rate", "p99") else [_card(curve, TITLES[curve.measure], curve.rows)]
    if curve.measure != "rate":
        return []  # a page with hundreds of small charts says nothing; the tables have them all
    by_facet: dict[str, list[CurveRow]] = defaultdict(list)
    for row in curve.rows:
        by_facet[row.facet].append(row)
    styles = {line: at % STYLES for at, line in enumerate(dict.fromkeys(row.line for row in curve.rows))}
    return [_card(curve, facet, rows, styles) for facet, rows in by_facet.items() if _some(rows)]


def _some(rows: Sequence[CurveRow]) -> bool:
    return any(cell for row in rows for cell in row.cells)


def _card(curve: Curve, title: str, rows: Sequence[CurveRow], styles: dict[str, int] | None = None) -> Markup:
    by = "" if curve.driver == "engine" else f", by {curve.driver}"
    says = f"{curve.workload}, {curve.manner}{by}"
    if title == curve.graph:
        says = f"{TITLES[curve.measure]}: {says}"
    if len({row.of_article for row in rows}) > 1:
        says += ". Grey: contenders besides the article's systems."
    return element(
        "div",
        element("h3", title),
        element("p", says, class_="says"),
        element("div", _chart(curve, title, rows, styles), class_="scroll"),
        class_="card",
    )


def _chart(curve: Curve, title: str, rows: Sequence[CurveRow], styles: dict[str, int] | None) -> Markup:
    name, scale = _SCALED[_unit(rows)]
    # where the article has systems of its own they have the colours, and what stands beside them is grey
    rows = sorted(rows, key=lambda row: not row.of_article)
    coloured = sum(row.of_article for row in rows) or STYLES
    series = [
        Series(
            name=row.line or row.contender,
            points=(points := _points(curve, row, scale)),
            style=styles[row.line] if styles else at if at < min(coloured, STYLES) else None,
            marked=points,
        )
        for at, row in enumerate(rows)
        if any(row.cells)
    ]
    heights = [y for one in series for _, y in one.points]
    logged = _unit(rows) in _LOGARITHMIC
    y = logarithmic(name, heights, lambda value: f"{value:g}") if logged else straight(name, heights, short)
    x = levels("connections", [float(number) for number in curve.connections], whole)
    return lines(Frame(x, y, 560, 330, right=room(series)), series, f"{title} against connections")


def _unit(rows: Sequence[CurveRow]) -> str:
    return next(cell.unit for row in rows for cell in row.cells if cell is not None)


def _points(curve: Curve, row: CurveRow, scale: float) -> list[Point]:
    pairs: list[tuple[int, Estimate | None]] = list(zip(curve.connections, row.cells, strict=True))
    return [(float(number), cell.value / scale) for number, cell in pairs if cell is not None]
