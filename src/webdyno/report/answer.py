"""The first screen: the verdict as a picture, one table and one figure at a time.

Each bar is a figure beside the best one, with the interval of that ratio; brackets join those that are tied. Table and
figure are chosen by radio buttons that the page's style follows, so it works without the script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webdyno.analyse.ratios import HIGHEST_FIRST, Ratios
from webdyno.model.estimate import Estimate
from webdyno.model.trial import Plan
from webdyno.model.verdict import Verdict
from webdyno.report import digits, titles, words
from webdyno.report.lettering import width
from webdyno.report.markup import Markup, element

FIGURES = {"rate": "requests/s", "p99": "p99", "cpu_per_request": "CPU per request", "memory_peak": "memory"}
"""What can be shown, by its name in a Standing."""
TABLES = 6
"""Tables that can be chosen from; the overview has them all."""
_ROWS = 16
_NAMES, _LETTERS = 240.0, 14.0
"""Most room for names, and the size of their letters."""
_LANES = 4
"""Brackets side by side; further ones are left to the letters of the ranking."""
Found = Mapping[str, Ratios]
"""By figure."""


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    ratio: Estimate
    figure: str
    told: str
    """Its ratio to the best with its interval."""
    lanes: list[str]
    top: bool


def picture(verdicts: Sequence[Verdict], found: Sequence[Found]) -> Markup | None:
    """The picture of the first tables; None where nothing can be compared."""
    shown = [(at, verdict, each) for at, (verdict, each) in enumerate(zip(verdicts, found, strict=True), 1) if each]
    if not shown:
        return None
    shown = shown[:TABLES]
    metrics = [key for key in FIGURES if any(key in each for _, _, each in shown)]
    several = len(verdicts) > 1
    beside = titles.beside([verdict for _, verdict, _ in shown])
    tables = [(f"t{at}", title) for (at, _, _), title in zip(shown, beside, strict=True)]
    panels = [
        element(
            "div",
            element("p", f"{titles.of(verdict)}: {verdict.sentence}.", class_="answer") if several else None,
            *[_panel(verdict, key, each[key]) for key in metrics if key in each],
            class_=f"of t{at}",
        )
        for at, verdict, each in shown
    ]
    more = len(verdicts) - len(shown)
    return element(
        "section",
        _switch("What is compared", "figure", [(f"by-{key}", FIGURES[key]) for key in metrics]),
        _switch("Table", "table", tables) if len(tables) > 1 else None,
        *panels,
        element("p", f"{words.count(more, 'more table')} below.", class_="says") if more else None,
        id="answer",
        class_="card picture",
    )


def capital(plan: Plan, sentence: str) -> str:
    """A capital at the beginning, unless a contender's name stands there."""
    word = sentence.split(" ", 1)[0].rstrip(",:")
    return sentence if word in plan.contenders else sentence[:1].upper() + sentence[1:]


def _switch(legend: str, group: str, choices: Sequence[tuple[str, str]]) -> Markup:
    """Radio buttons, the first one chosen."""
    each = [
        element(
            "label", element("input", type="radio", name=group, value=value, checked=at == 0), element("span", text)
        )
        for at, (value, text) in enumerate(choices)
    ]
    return element("fieldset", element("legend", legend, class_="unseen"), *each, class_="switch")


def _panel(verdict: Verdict, key: str, found: Ratios) -> Markup:
    """One figure of one table."""
    best, higher = found.names[0], key in HIGHEST_FIRST
    rows = _rows(verdict, key, found)
    most = max(max(row.ratio.value, row.ratio.high or 0.0) for row in rows)
    tied = [name for name in found.names[1:] if name in _with_best(found)]
    first = f"{best} is tied with {words.listing(tied)}." if tied else f"{best} is ahead of all others."
    if not any(row.ratio.low is not None for row in rows[1:]):
        first = f"{best} leads so far: too few rounds to say more."
    better = "longer" if higher else "shorter"
    says = f"{FIGURES[key]} compared with {best}, with the 95 % interval of the ratio; {better} is better."
    left = len(found.names) - len(rows)
    return element(
        "div",
        element("p", element("b", first), f" {says[0].upper()}{says[1:]}", class_="says"),
        element("ol", *[_drawn(row, most) for row in rows], style=f"--names:{_room(rows):.0f}px"),
        element("p", f"and {words.count(left)} more: see the ranking", class_="says") if left else None,
        class_=f"panel by-{key}",
    )


def _room(rows: Sequence[_Row]) -> float:
    """What the names need, within reason: longer ones are broken."""
    return min(_NAMES, max(width(row.name, _LETTERS, bold=True) for row in rows) + 2)


def _rows(verdict: Verdict, key: str, found: Ratios) -> list[_Row]:
    standings = {standing.contender: standing for standing in verdict.standings}
    estimates: list[Estimate | None] = [getattr(standings[name], key) for name in found.names]
    (figures,) = digits.told(estimates)
    unit = "/s" if key == "rate" else f" {figures.unit}"
    to_best = [found.between(name, found.names[0]) for name in found.names]
    told = digits.ratios(to_best)
    names = found.names[:_ROWS]
    lanes = brackets(names, found.ties)
    tied = _with_best(found)
    return [
        _Row(
            name=name,
            ratio=to_best[at],
            figure=f"{figures.numbers[at]}{unit}",
            told=told[at],
            lanes=lanes[at],
            top=at == 0 or name in tied,
        )
        for at, name in enumerate(names)
    ]


def _with_best(found: Ratios) -> set[str]:
    """The best where it is tied, and everyone who is tied with it."""
    return {name for group in found.ties if found.names[0] in group for name in group}


def brackets(names: Sequence[str], ties: Sequence[Sequence[str]]) -> list[list[str]]:
    """For each row what stands in each lane beside it: the start, a member, the end of a bracket, or its line passing
    one that is not in it; empty elsewhere. A group of which one row alone is shown has none.
    """
    spans = []
    for group in ties:
        places = [at for at, name in enumerate(names) if name in group]
        if len(places) > 1:
            spans.append((places[0], places[-1], set(places)))
    lanes: list[list[tuple[int, int, set[int]]]] = []
    for span in spans:
        lane = next((lane for lane in lanes if lane[-1][1] < span[0]), None)
        if lane is not None:
            lane.append(span)
        elif len(lanes) < _LANES:
            lanes.append([span])
    return [[_mark(at, lane) for lane in lanes] for at in range(len(names))]


def _mark(at: int, lane: Sequence[tuple[int, int, set[int]]]) -> str:
    for start, end, members in lane:
        if start <= at <= end:
            return "start" if at == start else "end" if at == end else "member" if at in members else "past"
    return ""


def _drawn(row: _Row, most: float) -> Markup:
    ratio, _, bounds = row.told.partition(" ")
    return element(
        "li",
        element("b", row.name),
        element("span", *_bar(row, most), class_="line"),
        element("span", row.figure, class_="n figure"),
        element("span", f"{ratio} ", element("small", bounds.strip("()")) if bounds else None, class_="n"),
        element("span", *[element("i", class_=lane or None) for lane in row.lanes], class_="lanes", aria_hidden="true"),
        class_="top" if row.top else None,
        data_contender=row.name,
    )


def _bar(row: _Row, most: float) -> list[Markup]:
    """From zero to the ratio, and over its end a line for the interval."""
    ratio = row.ratio
    drawn = [element("i", style=f"width:{100 * ratio.value / most:.1f}%")]
    if ratio.low is not None and ratio.high is not None and ratio.high > ratio.low:
        left, wide = 100 * ratio.low / most, 100 * (ratio.high - ratio.low) / most
        drawn.append(element("s", style=f"left:{left:.1f}%;width:{wide:.1f}%"))
    return drawn
