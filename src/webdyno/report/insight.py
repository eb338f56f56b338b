"""What lies behind the figures, in HTML: what limits each contender, how it warms up, how it scales."""

from __future__ import annotations

from collections.abc import Sequence

from webdyno.model.estimate import Estimate
from webdyno.model.verdict import Analysis, Verdict
from webdyno.report import words
from webdyno.report.cards import folded
from webdyno.report.columns import LIMITED, SCALING, WARM_UP, cell, head
from webdyno.report.markup import Markup, element
from webdyno.report.words import Column


def limited(verdict: Verdict) -> Markup | None:
    """Everything that holds contenders back, those of the same limits together; None where nothing stands out."""
    found: dict[str, list[str]] = {}
    for standing in words.served(verdict):
        if standing.limits:
            found.setdefault("; ".join(limit.says for limit in standing.limits), []).append(standing.contender)
    return _table(
        "What limits each",
        "Determined from its processes, connections and memory under load.",
        LIMITED,
        [(", ".join(names), says) for says, names in found.items()],
    )


def warming(verdict: Verdict) -> Markup | None:
    """Cold start, first answer, warm-up; None where nothing is known."""
    rows = [row for row in words.warm_ups(verdict) if any(row[1:])]
    return _table(
        "Warm-up",
        "From the start of the process to its first correct answer; that answer alone; and, in runs long enough, "
        "from the start of the load until its rate was near the steady one, and until it stayed there.",
        WARM_UP,
        rows,
        texts=1,
    )


def scaling(analysis: Analysis) -> Markup | None:
    """The fits over connections and workers, and why others failed; None where nothing was asked at several levels."""
    rows = [
        (
            each.workload,
            each.sentence,
            _share(each.contention),
            _share(each.coherence),
            words.MISSING
            if each.knee is None
            else f"{_knee(each.knee)}{'' if each.knee_measured else ', not measured'}",
        )
        for each in analysis.scalings
        if each.refused is None
    ]
    if not analysis.scalings:
        return None
    told = words.scalings(analysis)
    if not rows:
        return element("section", element("h2", "Scaling", id="scaling"), *(element("p", line) for line in told))
    card = _table(
        "Universal Scalability Law",
        "Contention is the share of the work that cannot run in parallel, coherence the cost of each pair; the knee "
        "is where the fitted rate is highest. With 95 % intervals.",
        SCALING,
        rows,
        texts=2,
    )
    others = (element("p", line) for line in told[len(rows) :])
    return element("section", element("h2", "Scaling", id="scaling"), card, *others)


def _knee(estimate: Estimate) -> str:
    if estimate.low is None:
        return f"{estimate.value:,.0f}"
    end = "no end" if estimate.high is None else f"{estimate.high:,.0f}"
    return f"{estimate.value:,.0f} ({estimate.low:,.0f} to {end})"


def _share(estimate: Estimate | None) -> str:
    if estimate is None:
        return words.MISSING
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2g}"
    return f"{estimate.value:.2g} ({estimate.low:.2g} to {estimate.high:.2g})"


def _table(
    title: str, says: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], texts: int | None = None
) -> Markup | None:
    """A card; the columns behind the first ``texts`` are figures, None: there are none. None without rows.

    A column without a single figure is left out.
    """
    if not rows:
        return None
    shown = [at for at in range(len(columns)) if any(row[at] for row in rows)]
    figures = [at for at in shown if at >= (len(columns) if texts is None else texts)]
    body = [
        element("tr", *[cell(columns[at], row[at], class_="n" if at in figures else None) for at in shown])
        for row in rows
    ]
    kept = [columns[at] for at in shown]
    table = element("table", head(kept, [shown.index(at) for at in figures]), element("tbody", *body))
    return folded(title, says, element("div", table, class_="scroll"), len(rows))
