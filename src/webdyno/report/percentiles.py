"""The times within which parts of the requests were served, as a table like ab's own; the article's below ours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from webdyno.model.claim import Measure, Shape
from webdyno.model.curve import Percentiles
from webdyno.model.verdict import Analysis
from webdyno.report import explain, words
from webdyno.report.sheet import Sheet

Table = tuple[str, str, str]
"""Workload, load and driver."""


def percentiles(analysis: Analysis) -> Iterator[Sheet]:
    """One table for each load."""
    for table, rows in by_table(analysis).items():
        yield _sheet(table, rows, [shape for shape in analysis.shapes if _table(shape) == table])


def by_table(analysis: Analysis) -> dict[Table, list[Percentiles]]:
    """The rows of each table."""
    tables: dict[Table, list[Percentiles]] = defaultdict(list)
    for row in analysis.percentiles:
        tables[_table(row)].append(row)
    return tables


def about(table: Table) -> str:
    """``hello, 50 connections, keep-alive, by ab``."""
    workload, load, driver = table
    return f"{workload}, {load}" + ("" if driver == "engine" else f", by {driver}")


def part(measure: Measure) -> str:
    """Of the requests, as ab writes it: ``66%``."""
    return "100%" if measure == "latency_max" else f"{measure[1:]}%"


def within(analysis: Analysis, shape: Shape) -> bool:
    """Whether a figure of the article stands in such a table, between the ones that have tables of their own."""
    between = shape.measure.startswith("p") and shape.measure not in ("p50", "p99")
    return between and _table(shape) in by_table(analysis)


def _table(it: Percentiles | Shape) -> Table:
    return it.workload, it.load, it.driver


def _sheet(table: Table, rows: Sequence[Percentiles], then: Sequence[Shape]) -> Sheet:
    measures = rows[0].measures
    published = {(shape.contender, shape.measure): shape for shape in then}
    lines = [line for row in rows for line in _lines(row, published)]
    return Sheet(
        key=f"{table[0]}-percentiles",
        title=f"Percentage of the requests served within a given time, in ms: {about(table)}",
        says=f"100% is the slowest request.{' The figures of the article are in the row below ours.' if then else ''}",
        head=["contender", *(part(measure) for measure in measures)],
        means=["", *(f"{part(measure)} of the requests took at most this long" for measure in measures)],
        rows=[line for line, _ in lines],
        sure=[sure for _, sure in lines],
    )


def _lines(row: Percentiles, published: dict[tuple[str, Measure], Shape]) -> Iterator[tuple[list[str], list[str]]]:
    """Ours, and the article's where it published any of them."""
    cells = list(zip(row.measures, row.cells, strict=True))
    told = [words.plain(cell, 1e6) if cell else words.MISSING for _, cell in cells]
    yield [row.contender, *told], ["", *(explain.sure(cell) if cell else explain.UNKNOWN for _, cell in cells)]
    then = [published.get((row.contender, measure)) for measure in row.measures]
    if any(then):
        figures = [f"{shape.original_value:g}" if shape else words.MISSING for shape in then]
        yield ["in the article", *figures], [""] * (len(figures) + 1)
