"""The section of one table: its ranking, and what lies behind it, folded by question."""

from __future__ import annotations

from collections.abc import Sequence

from webdyno.analyse.table import Table
from webdyno.model.trial import Plan
from webdyno.report import answer, titles, words
from webdyno.report.against import Pair
from webdyno.report.cards import card, chart, question, shut
from webdyno.report.charts import latency_chart, speed_chart
from webdyno.report.compared import Compared
from webdyno.report.contents import FEW
from webdyno.report.insight import limited, warming
from webdyno.report.markup import Markup, element
from webdyno.report.ranking import ranking
from webdyno.report.timeline import timeline
from webdyno.report.words import Mark
from webdyno.report.work import work


def section(
    plan: Plan,
    pair: Pair,
    marks: Sequence[Mark],
    styles: dict[str, int],
    at: int,
    *,
    of: int,
    legend: bool,
    ratios: Compared,
) -> Markup:
    """Everything about one workload under one load, closed at first where it is one of many.

    A sentence that stands at the top already is not said again. ``legend``: the one table of the report that says which
    interval is for what.
    """
    table, verdict = pair
    title, anchor = element("h2", titles.of(verdict)), f"table-{at}"
    says = element("p", answer.capital(plan, verdict.sentence), ".", class_="answer") if of > 1 else None
    placed = _ranked(plan, pair, marks, styles, legend=legend, ratios=ratios)
    if 1 < at <= of <= FEW:
        placed = shut(f"Ranking of {words.count(len(words.served(verdict)), 'contender')}", placed)
    inside = [
        says,
        placed,
        _why(plan, pair, styles),
        _over_time(table, styles, of=of),
    ]
    if of <= FEW:
        return element("section", title, *inside, id=anchor)
    # the anchor is inside: a browser opens what a link leads into
    told = element("section", *inside, id=anchor)
    return element("details", element("summary", title), told, class_="table", open=at == 1)


def _ranked(
    plan: Plan, pair: Pair, marks: Sequence[Mark], styles: dict[str, int], *, legend: bool, ratios: Compared
) -> Markup:
    table, verdict = pair
    return card(
        "Ranking",
        f"{table.workload.title}. A bar shows the rate, the dark line in it its 95 % interval. "
        f"Contenders that share a letter are tied.{f' {words.BY_RATIO} {words.BY_ITSELF}' if legend else ''}",
        ranking(plan, verdict, marks, styles, **ratios.data),
    )


def _why(plan: Plan, pair: Pair, styles: dict[str, int]) -> Markup | None:
    table, verdict = pair
    charts = [
        chart(
            "Latency by percentile",
            f"Each step to the right is ten times rarer. {_counted(table)} Faint: single rounds; grey: the others.",
            latency_chart(table, styles),
        ),
        chart(
            "Speed against memory",
            "Up and left is better: more requests per second, with less memory.",
            speed_chart(words.served(verdict), styles),
        ),
    ]
    both = element("div", *charts, class_="pair") if any(charts) else None
    return question(
        "Why?",
        "latency, CPU and memory, limits, warm-up",
        limited(verdict),
        both,
        work(plan, table, verdict),
        warming(verdict),
    )


def _counted(table: Table) -> str:
    if table.load.is_open:
        return "Open loop: counted from when a request was due, which is what a user waits."
    return "Closed loop: a slow answer delays the next request of its connection, and is counted once."


def _over_time(table: Table, styles: dict[str, int], *, of: int) -> Markup | None:
    told = timeline(table, styles, of=of)
    turns = any(window.turned is not None for window in table.windows)
    which = "One round of all contenders, the same for each," if turns else "The middle round of each contender"
    says = f"{which} in colour, {'the' if turns else 'its'} other rounds faintly. All panels share the time axis."
    title = "Turn by turn" if turns else "Second by second"
    return question("Over time", title.lower(), None if told is None else card(title, says, told))
