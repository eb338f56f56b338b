"""Overview of several tables: contenders against workloads, each cell the ratio to the best of its table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from webdyno.model.estimate import Estimate
from webdyno.model.verdict import Analysis, Verdict
from webdyno.report import digits, titles, words
from webdyno.report.cards import folded
from webdyno.report.markup import Markup, element

Cell = tuple[str, str, bool]
"""The ratio, the letters, and whether it is in the top group."""


def overview(analysis: Analysis) -> Markup | None:
    """The matrix; None for a single table. What is longer goes down: contenders, or tables where these are more."""
    verdicts = analysis.verdicts
    names = _names(verdicts)
    if len(verdicts) < 2 or len(names) < 2:
        return None
    cells = _cells(verdicts)
    tables = [(f"#table-{at}", title) for at, title in enumerate(titles.beside(verdicts), 1)]
    across = len(verdicts) <= len(names)
    if across:
        head = [element("a", title, href=place) for place, title in tables]
        rows = [
            _row(name, element("b", name), [(cells.get((name, at)), tables[at][1]) for at in range(len(verdicts))])
            for name in names
        ]
    else:
        head = [element("b", name) for name in names]
        rows = [
            _row(None, element("a", title, href=place), [(cells.get((name, at)), name) for name in names])
            for at, (place, title) in enumerate(tables)
        ]
    corner = element("th", "contender" if across else "workload", scope="col")
    heads = element("tr", corner, *[element("th", each, class_="n", scope="col") for each in head])
    table = element(
        "table",
        element("thead", heads),
        element("tbody", *rows),
        class_="overview few" if len(head) < 3 else "overview",
    )
    says = "Requests/s divided by the best of each workload. In bold green: its top group. A dash: not ranked."
    return element(
        "section",
        folded("Contenders and workloads", says, element("div", table, class_="scroll"), len(rows)),
        id="overview",
    )


def _names(verdicts: Sequence[Verdict]) -> list[str]:
    """Everyone with a figure, the best on average first; the geometric mean of ratios, as in the recommendation."""
    logs: dict[str, list[float]] = {}
    for verdict in verdicts:
        for standing in words.served(verdict):
            each = logs.setdefault(standing.contender, [])
            if standing.place is not None and standing.ratio_to_best is not None:
                each.append(math.log(standing.ratio_to_best.value))
    return sorted(logs, key=lambda name: (-len(logs[name]), -sum(logs[name]) / max(len(logs[name]), 1), name))


def _cells(verdicts: Sequence[Verdict]) -> dict[tuple[str, int], Cell]:
    found: dict[tuple[str, int], Cell] = {}
    for at, verdict in enumerate(verdicts):
        ranked = [standing for standing in verdict.standings if standing.place is not None]
        ratios: list[Estimate | None] = [standing.ratio_to_best for standing in ranked]
        for standing, text in zip(ranked, digits.ratios(ratios), strict=True):
            top = standing.contender in verdict.winners
            found[standing.contender, at] = (text.partition(" ")[0], words.tie(standing.letters), top)
    return found


def _row(contender: str | None, name: Markup, cells: Sequence[tuple[Cell | None, str]]) -> Markup:
    return element(
        "tr",
        element("th", name, scope="row"),
        *[_cell(found, label) for found, label in cells],
        data_contender=contender,
    )


def _cell(found: Cell | None, label: str) -> Markup:
    if found is None:
        return element("td", words.MISSING, class_="n", data_label=label)
    text, letters, top = found
    return element(
        "td",
        text,
        element("span", letters, class_="tie") if letters != words.MISSING else None,
        class_="n top" if top else "n",
        data_label=label,
    )
