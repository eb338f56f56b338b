"""Overlay: two results folders over each other; what they share, judged as `webdyno compare BASE HEAD` judges it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from webdyno.analyse.change import Change
from webdyno.analyse.table import Cell, Evidence, Table
from webdyno.analyse.versus import Outcome, Shared, Versus, figure_of, side_by_side
from webdyno.model.estimate import Estimate
from webdyno.model.rig import changes
from webdyno.report import words
from webdyno.report.charts import latency_chart
from webdyno.report.markup import Markup, element, join
from webdyno.report.versus import TITLES, sentence, signed
from webdyno.view.course import of_two
from webdyno.view.shell import Reply, page, place, query

MARGIN = 0.03
"""Changes smaller than this part count as none, as `webdyno compare` has it by default."""
SIDES = ("base", "head")
_KINDS: dict[Outcome, str] = {
    "better": "ruling good",
    "same": "ruling",
    "worse": "ruling bad",
    "cannot tell": "ruling open",
}
_NONE = Markup(words.MISSING)


def overlay_page(names: tuple[str, str], both: tuple[Evidence, Evidence], chosen: int | None) -> Reply:
    """The page; ``chosen``: which cell is drawn, else the one that changed the most. UsageError: none shared."""
    found = side_by_side(*both, MARGIN)
    at = chosen if chosen is not None and 0 <= chosen < len(found) else _most_changed(found)
    shared, versus = found[at]
    title = f"{names[1]} over {names[0]}"
    return page(
        title,
        element("h1", "What changed from base to head"),
        _sides(names, both),
        _notes(both),
        _card("Cells in both", _SAYS, _table(names, found, at)),
        element("h2", versus.where, id="drawn"),
        element("p", _capital(sentence(SIDES, versus)), ".", class_="answer"),
        *_drawn(shared, versus),
    )


_SAYS = (
    "Figures with their 95 % interval over rounds; a ratio is head divided by base, its interval allows for all cells "
    "compared at once. The rate alone is judged: changes below 3 % count as none. Choose a cell to draw it below."
)


def _sides(names: tuple[str, str], both: tuple[Evidence, Evidence]) -> Markup:
    facts = []
    for side, name, evidence in zip(SIDES, names, both, strict=True):
        machine = evidence.fingerprint
        where = f"{machine.cpu_model}, {words.count(machine.cores, 'core')}, {machine.hostname}"
        link = element("a", name, href=place(name))
        facts.append(element("div", element("dt", side), element("dd", link, element("small", where))))
    return element("dl", *facts, class_="facts sides")


def _notes(both: tuple[Evidence, Evidence]) -> Markup:
    """What two sittings cannot tell."""
    differ = changes(both[0].fingerprint, both[1].fingerprint)
    machines = f" The machines differ in {words.listing(list(differ), 20)}." if differ else ""
    said = "Measured in two sittings: what changed on the machine in between cannot be separated from the change."
    return element("div", f"{said}{machines}", class_="note")


def _card(title: str, says: str, content: Markup | None) -> Markup | None:
    if content is None:
        return None
    return element("div", element("h3", title), element("p", says, class_="says"), content, class_="card")


def _most_changed(found: Sequence[tuple[Shared, Versus]]) -> int:
    """The cell to begin with: decided before undecided, then by how far from none."""

    def far(at: int) -> tuple[bool, float]:
        versus = found[at][1]
        ratio = versus.changes["rate"].ratio
        distance = max(ratio.value, 1 / ratio.value) if ratio and ratio.value else 0.0
        return versus.outcome in ("better", "worse"), distance

    return max(range(len(found)), key=far)


def _table(names: tuple[str, str], found: Sequence[tuple[Shared, Versus]], chosen: int) -> Markup:
    tops = [("", 2), ("requests/s", 3), ("p99", 3), ("", 1)]
    top = element("tr", *[element("th", text, colspan=wide, class_="group", scope="colgroup") for text, wide in tops])
    heads = ("contender", "asked", "base", "head", "ratio", "base", "head", "ratio", "head is")
    head = element(
        "tr", *[element("th", text, scope="col", class_="n" if at > 1 else None) for at, text in enumerate(heads)]
    )
    rows = [_row(names, shared, versus, at, drawn=at == chosen) for at, (shared, versus) in enumerate(found)]
    table = element("table", element("thead", top, head), element("tbody", *rows), class_="overlay")
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label="Cells in both")


def _row(names: tuple[str, str], shared: Shared, versus: Versus, at: int, *, drawn: bool) -> Markup:
    link = query("/compare", base=names[0], head=names[1], cell=str(at)) + "#drawn"
    who = shared.head.name if shared.base.name == shared.head.name else f"{shared.base.name}, {shared.head.name}"
    by = "" if shared.table.driver == "engine" else f", by {shared.table.driver}"
    asked = f"{shared.table.workload.name}, {shared.table.load.label}{by}"
    cells = [
        element("td", element("a", element("b", who), href=link), class_="who"),
        element("td", asked, class_="asked"),
    ]
    for figure in ("rate", "p99"):
        for side, cell in zip(SIDES, (shared.base, shared.head), strict=True):
            cells.append(_figure(f"{_TITLES[figure]} {side}", _estimate(figure_of(cell, figure), figure)))
        cells.append(_figure(f"{_TITLES[figure]} ratio", _ratio(versus.changes[figure])))
    told = element("span", versus.outcome, class_=_KINDS[versus.outcome])
    cells.append(element("td", told, element("small", versus.why) if versus.why else None, class_="n told"))
    return element("tr", *cells, class_="drawn" if drawn else None)


_TITLES = {"rate": "requests/s", "p99": "p99"}


def _figure(label: str, content: Markup) -> Markup:
    return element("td", content, class_="n more", data_label=label)


def _estimate(estimate: Estimate | None, figure: str) -> Markup:
    if estimate is None:
        return _NONE
    scale, unit = (1.0, "") if figure == "rate" else words.time_unit(estimate.value)
    value = f"{words.plain(estimate, scale)} {unit}".strip()
    return _with_bounds(value, words.interval(estimate, scale, "–"))


def _ratio(change: Change) -> Markup:
    if change.ratio is None:
        return _NONE
    return _with_bounds(f"{words.plain(change.ratio)}×", words.interval(change.ratio, dash="–"))


def _with_bounds(value: str, bounds: str) -> Markup:
    return join(value, element("small", bounds or "one round"))


def _drawn(shared: Shared, versus: Versus) -> list[Markup | None]:
    """Both cells in the report's own charts, as if they were two contenders named base and head."""
    cells = tuple(_named(cell, side) for cell, side in zip((shared.base, shared.head), SIDES, strict=True))
    table: Table = replace(shared.table, cells=cells)
    styles = {side: at for at, side in enumerate(SIDES)}
    percentiles, seconds = latency_chart(table, styles), of_two(dict(zip(SIDES, cells, strict=True)))
    latency = _card(
        "Latency by percentile",
        "Each step to the right is ten times rarer. All rounds together; faint: the single rounds.",
        element("div", percentiles, class_="scroll", tabindex=0, role="region", aria_label="Latency")
        if percentiles
        else None,
    )
    return [
        element("div", latency, _all_changes(versus), class_="pair"),
        _card(
            "Turn by turn" if any(window.turned for cell in cells for window in cell.windows) else "Second by second",
            "Correct answers per second in the middle round of each; the other rounds faintly. Starts at zero.",
            element("div", seconds, class_="scroll", tabindex=0, role="region", aria_label="Seconds")
            if seconds
            else None,
        ),
    ]


def _all_changes(versus: Versus) -> Markup | None:
    """Every figure's change, and the reasons not to believe them."""
    told = [(TITLES[figure], signed(change)) for figure, change in versus.changes.items() if change.ratio is not None]
    rows = [join(element("dt", title), element("dd", change)) for title, change in told]
    doubts = element("ul", *[element("li", doubt, ".") for doubt in versus.doubts]) if versus.doubts else None
    content = join(element("dl", *rows, class_="plain"), element("h3", "Doubts") if doubts else None, doubts)
    return _card("Changes", "From base to head, with their intervals.", content)


def _named(cell: Cell, side: str) -> Cell:
    return replace(cell, contender=msgspec.structs.replace(cell.contender, name=side))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
