"""The ranking as an HTML table: bars with their intervals inside it, tie letters, and the doubts beside each figure."""

from __future__ import annotations

from collections.abc import Sequence

from webdyno.model.trial import Plan
from webdyno.model.verdict import Standing, Verdict
from webdyno.report import explain, words
from webdyno.report.markup import Markup, element, join
from webdyno.report.words import Mark

_NUMBERS = ("rate", "interval", "ratio", "tie", "p50", "p99", "cpu", "memory", "errors", "served")
_ALWAYS = ("rate",)
"""Beside the name on a narrow screen; the others follow below it in two columns, each with its label."""
_WIDER = ("interval", "tie", "p99", "memory")
_HIGHEST_FIRST = ("rate", "interval", "ratio", "served")
"""Sorted so that the best stands first; of all others less is better."""


def ranking(plan: Plan, verdict: Verdict, marks: Sequence[Mark], styles: dict[str, int]) -> Markup:
    """The table of one verdict."""
    standings = words.served(verdict)
    most = max((standing.rate.high or standing.rate.value for standing in standings if standing.rate), default=1.0)
    head = [
        _head("place", "n", plan),
        _head("contender", "", plan),
        element("th", element("span", "bar", class_="unseen")),
    ]
    shown = [key for key in words.columns(standings) if key in _NUMBERS]
    head += [_head(key, "n", plan) for key in shown] + [_head("doubts", "", plan)]
    rows = [_row(plan, verdict, standing, marks, styles, most) for standing in standings]
    table = element(
        "table",
        element("thead", element("tr", *head)),
        element("tbody", *rows),
        aria_label=f"Ranking: {words.title(verdict)}",
        data_workload=verdict.workload,
    )
    return element("div", table, class_="ranking scroll")


def _head(key: str, kind: str, plan: Plan) -> Markup:
    """``data-sort`` says that the column can be sorted, and whether its best is the highest (down) or not (up)."""
    return element(
        "th",
        words.COLUMNS[key].title,
        class_=kind or None,
        title=explain.of_column(key, plan),
        scope="col",
        data_key=key,
        data_sort=None if key == "doubts" else "down" if key in _HIGHEST_FIRST else "up",
    )


def _row(
    plan: Plan, verdict: Verdict, standing: Standing, marks: Sequence[Mark], styles: dict[str, int], most: float
) -> Markup:
    text = words.cells(standing, dash="–")
    text["ratio"] = text["ratio"].replace("x", "×")
    style = styles.get(standing.contender)
    swatch = element("span", class_=f"swatch s{style}") if style is not None else element("span", class_="swatch")
    about = explain.of_contender(plan, standing)
    cells = [
        _figure("place", text["place"], standing, verdict, "n place"),
        element("td", swatch, element("b", standing.contender), _about(plan, standing), class_="name", title=about),
        element("td", _bar(verdict, standing, most), class_="bar"),
    ]
    shown = [key for key in words.columns(verdict.standings) if key in _NUMBERS]
    cells += [_figure(key, text[key], standing, verdict, _kind(key)) for key in shown]
    cells.append(element("td", _links(standing, marks), class_="more wider", data_label="doubts"))
    return element("tr", *cells, class_="out" if standing.place is None else None, **facets(plan, standing.contender))


def facets(plan: Plan, name: str) -> dict[str, str]:
    """What a row can be filtered by, as attributes; a contender the plan does not know has only its name."""
    contender = plan.contenders.get(name)
    if contender is None:
        return {"data_contender": name}
    app = plan.apps[contender.app]
    return {
        "data_contender": name,
        "data_server": contender.server,
        "data_framework": app.framework,
        "data_language": app.language,
        "data_model": contender.model,
    }


def _kind(key: str) -> str:
    if key in _ALWAYS:
        return f"n {key}"
    return "n more wider" if key in _WIDER else "n more"


def _figure(key: str, text: str, standing: Standing, verdict: Verdict, kind: str) -> Markup:
    inside: str = text
    if key == "tie":
        marks = [mark for part in text.split() for mark in ([part] if "-" in part else part)]
        inside = join(*[element("span", mark, class_="tie") for mark in marks])
    elif key == "ratio":
        ratio, _, bounds = text.partition(" ")
        inside = join(f"{ratio} ", element("small", bounds.strip("()"))) if bounds else ratio
    elif key == "errors" and text not in ("0 %", words.MISSING):
        inside = element("span", text, class_="bad")
    return element(
        "td",
        inside,
        class_=kind,
        data_label=words.COLUMNS[key].title if "more" in kind else None,
        data_value=explain.order(key, standing),
        title=explain.of_cell(key, standing, verdict),
    )


def _about(plan: Plan, standing: Standing) -> Markup | None:
    """Language and model, as far as the plan knows the contender."""
    contender = plan.contenders.get(standing.contender)
    if contender is None:
        return None
    return element("small", f"{plan.apps[contender.app].language} · {contender.model}")


def _bar(verdict: Verdict, standing: Standing, most: float) -> Markup | None:
    """Length is the rate, the dark line its interval."""
    rate = standing.rate
    if rate is None:
        return None
    kind = "first" if standing.contender in verdict.winners else "out" if standing.place is None else None
    parts = [element("rect", class_=kind, x=0, y=3, height=10, rx=2, width=_percent(rate.value / most))]
    if rate.low is not None and rate.high is not None:
        parts.append(element("line", x1=_percent(rate.low / most), x2=_percent(rate.high / most), y1=8, y2=8))
    bounds = words.interval(rate, dash=" to ")
    label = f"{words.plain(rate)} requests/s" + (f", 95 % interval {bounds}" if bounds else "")
    return element("svg", *parts, class_="bars", role="img", aria_label=label)


def _percent(part: float) -> str:
    return f"{100 * max(0.0, min(1.0, part)):.2f}%"


def _links(standing: Standing, marks: Sequence[Mark]) -> Markup:
    numbers = {mark.kind: mark.number for mark in marks}
    links: list[Markup] = []
    for doubt in standing.doubts:
        at = numbers[doubt.kind]
        kind = "bad" if doubt.severity == "voids" else None
        mark = f"{at}{'!' if doubt.severity == 'voids' else ''}"
        links += [
            element(
                "a",
                mark,
                href=f"#doubt-{at}",
                title=f"{doubt.kind}: {doubt.sentence}.",
                aria_label=f"{mark} {doubt.kind}",
                class_=kind,
            ),
            Markup(" "),
        ]
    return join(*links)
