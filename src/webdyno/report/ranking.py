"""The ranking as an HTML table: bars with their intervals inside it, tie letters, and the doubts beside each figure.

Each column has one unit, which stands at its head, and digits that never contradict its order. An interval stands below
the figure it belongs to, so that the table fits a narrow window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from webdyno.model.trial import Plan
from webdyno.model.verdict import Standing, Verdict
from webdyno.report import digits, explain, titles, words
from webdyno.report.markup import Markup, element, join
from webdyno.report.words import Mark

_NUMBERS = ("rate", "ratio", "tie", "p50", "p99", "cpu", "memory", "errors", "served")
_ALWAYS = ("rate",)
"""Beside the name on a narrow screen; the others follow below it in two columns, each with its label."""
_WIDER = ("ratio", "p50", "cpu", "errors")
_HIGHEST_FIRST = ("rate", "ratio", "served")
"""Sorted so that the best stands first; of all others less is better."""


class _Texts(NamedTuple):
    """What stands in the cells of a table."""

    units: dict[str, str]
    """By column; none: it has none."""
    cells: list[dict[str, str]]
    """By contender and column; an interval stands behind a blank."""


def ranking(plan: Plan, verdict: Verdict, marks: Sequence[Mark], styles: dict[str, int], **data: str | None) -> Markup:
    """The table of one verdict; ``data`` are further attributes of it."""
    standings = words.served(verdict)
    most = max((standing.rate.high or standing.rate.value for standing in standings if standing.rate), default=1.0)
    texts = _texts(standings)
    head = [
        _head("place", "n", plan),
        _head("contender", "", plan),
        element("th", element("span", "bar", class_="unseen")),
    ]
    shown = [key for key in words.columns(standings) if key in _NUMBERS]
    head += [_head(key, "n", plan, texts.units.get(key)) for key in shown] + [_head("doubts", "", plan)]
    rows = [
        _row(plan, verdict, standing, marks, styles, most, text, texts.units)
        for standing, text in zip(standings, texts.cells, strict=True)
    ]
    table = element(
        "table",
        element("thead", element("tr", *head)),
        element("tbody", *rows),
        aria_label=f"Ranking: {titles.of(verdict)}",
        data_workload=verdict.workload,
        **data,
    )
    return element("div", table, class_="ranking")


def _texts(standings: Sequence[Standing]) -> _Texts:
    (rate,) = digits.told([standing.rate for standing in standings])
    p50, p99 = digits.told([standing.p50 for standing in standings], [standing.p99 for standing in standings])
    (cpu,) = digits.told([standing.cpu_per_request for standing in standings])
    (memory,) = digits.told([standing.memory_peak for standing in standings])
    ratios = digits.ratios([standing.ratio_to_best for standing in standings])
    cells = []
    for at, standing in enumerate(standings):
        bounds = rate.intervals[at] or "one round"
        _, plus, stays = words.memory(standing).partition(", +")
        of_its_own = {
            "rate": f"{rate.numbers[at]} {bounds}",
            "ratio": ratios[at],
            "p50": p50.numbers[at],
            "p99": p99.numbers[at],
            "cpu": cpu.numbers[at],
            "memory": memory.numbers[at] + (f" +{stays}" if plus else ""),
        }
        cells.append(words.cells(standing, dash="–") | of_its_own)
    return _Texts({"p50": p50.unit, "p99": p99.unit, "cpu": cpu.unit, "memory": memory.unit}, cells)


def _head(key: str, kind: str, plan: Plan, unit: str | None = None) -> Markup:
    """``data-sort`` says that the column can be sorted, and whether its best is the highest (down) or not (up)."""
    return element(
        "th",
        words.COLUMNS[key].title,
        element("small", f" {unit}") if unit else None,
        class_=kind or None,
        title=explain.of_column(key, plan),
        scope="col",
        data_key=key,
        data_sort=None if key == "doubts" else "down" if key in _HIGHEST_FIRST else "up",
    )


def _row(
    plan: Plan,
    verdict: Verdict,
    standing: Standing,
    marks: Sequence[Mark],
    styles: dict[str, int],
    most: float,
    text: dict[str, str],
    units: dict[str, str],
) -> Markup:
    style = styles.get(standing.contender)
    swatch = element("span", class_=f"swatch s{style}") if style is not None else element("span", class_="swatch")
    about = explain.of_contender(plan, standing)
    cells = [
        _figure("place", text["place"], standing, verdict, "n place"),
        element("td", swatch, element("b", standing.contender), _about(plan, standing), class_="name", title=about),
        element("td", _bar(verdict, standing, most), class_="bar"),
    ]
    shown = [key for key in words.columns(verdict.standings) if key in _NUMBERS]
    cells += [_figure(key, text[key], standing, verdict, _kind(key), units.get(key)) for key in shown]
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


def _figure(key: str, text: str, standing: Standing, verdict: Verdict, kind: str, unit: str | None = None) -> Markup:
    inside: str = text
    if key == "tie":
        marks = [mark for part in text.split() for mark in ([part] if "-" in part else part)]
        inside = join(*[element("span", mark, class_="tie") for mark in marks])
    elif key in ("rate", "ratio", "memory"):
        figure, _, bounds = text.partition(" ")
        inside = join(f"{figure} ", element("small", bounds.strip("()"))) if bounds else figure
    elif key == "errors" and text not in ("0 %", words.MISSING):
        inside = element("span", text, class_="bad")
    return element(
        "td",
        inside,
        class_=kind,
        data_label=words.COLUMNS[key].title if "more" in kind else None,
        data_unit=unit if unit and text != words.MISSING else None,
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
