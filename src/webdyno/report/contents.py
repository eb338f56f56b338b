"""What stands where on a page of many tables: a row for each workload and load, with who is first in it."""

from __future__ import annotations

from collections.abc import Sequence

from webdyno.model.verdict import Verdict
from webdyno.report import titles, words
from webdyno.report.markup import Markup, element

FEW = 3
"""Tables that are read from top to bottom; of more, the page has a table of contents and opens only the first."""
_NAMED = 3
"""Of the top group; the others are counted."""


def contents(verdicts: Sequence[Verdict]) -> Markup | None:
    """The table of contents; None for a few tables."""
    if len(verdicts) <= FEW:
        return None
    head = [
        element("th", text, class_=kind, scope="col")
        for text, kind in (("workload", None), ("load", None), ("top group", None), ("requests/s of the first", "n"))
    ]
    rows: list[Markup] = []
    last = ""
    for at, verdict in enumerate(verdicts, 1):
        rows.append(_row(at, verdict, named=verdict.workload != last))
        last = verdict.workload
    table = element("table", element("thead", element("tr", *head)), element("tbody", *rows), class_="contents")
    says = "One table for each workload and load. Contenders in one top group are tied there."
    return element(
        "section",
        element("h2", "Contents", id="contents"),
        element("p", says, class_="lead"),
        element("div", element("div", table, class_="scroll"), class_="card"),
    )


def _row(at: int, verdict: Verdict, *, named: bool) -> Markup:
    """One table; a workload is named once for all its loads."""
    load = titles.of(verdict).removeprefix(f"{verdict.workload}, ")
    first = next((standing.rate for standing in verdict.standings if standing.contender in verdict.winners), None)
    return element(
        "tr",
        element("th", verdict.workload if named else None, scope="row"),
        element("td", element("a", load, href=f"#table-{at}")),
        element("td", words.listing(verdict.winners, _NAMED) or "none: see the table"),
        element("td", words.plain(first) if first else words.MISSING, class_="n"),
    )
