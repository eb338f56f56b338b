"""Picture: the answer as one SVG that stands alone, for a README, a talk or a chat.

A page can be scrolled and asked for more; a picture is looked at once, without its page. So it carries what an honest
reading needs: the answer, who is tied, intervals, unit, doubts, machine and date. What it leaves out it
counts. Its colours are written out and its fonts are generic, for it may be shown on any page and by any program; texts
are measured beforehand, so that the longest name neither runs into its bar nor leaves the picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis, Standing, Verdict
from webdyno.report import course, titles, words
from webdyno.report.lettering import cut, line, width, wrap
from webdyno.report.markup import Markup, element

WIDTH = 900.0
_MARGIN = 32.0
_INNER = WIDTH - 2 * _MARGIN
_ROW, _GAP = 22.0, 14.0
_TEXT, _SMALL = 13.0, 12.0
_BAR = 250.0
"""The longest bar has at least this length: longer names give way."""
_ROWS, _ROWS_ALL, PANELS = 24, 48, 6
"""Rows of one panel, rows of all panels together, and panels: beyond them a picture is no picture any more."""
_NAMED = 6
_VOID = "void"
_HOW = "Correct answers per second: longer is better. The thin line is the 95 % interval of the rate on its own."
_RATIOS = "The interval beside vs best is that of the ratio, for comparing with the best."
_TIES = "Contenders that share a letter are tied."


@dataclass(frozen=True)
class Palette:
    """Concrete colours, for a picture is shown without our page."""

    page: str
    ink: str
    soft: str
    faint: str
    bar: str
    best: str
    out: str
    bad: str


LIGHT = Palette("#ffffff", "#1c1f23", "#59616b", "#e4e5e1", "#6baed6", "#0072b2", "#b9bec4", "#b3261e")
DARK = Palette("#121417", "#e9ebee", "#a4acb5", "#2c3036", "#2f6f9c", "#56b4e9", "#565d66", "#ff8a80")


class _Columns(NamedTuple):
    """Where things stand in every panel: right end of the names, both ends of the bars, right ends of the figures, and
    where ratios and letters begin.
    """

    name: float
    bar: float
    bar_end: float
    rate: float
    interval: float
    ratio: float
    """Left end: its figures stand below each other, whether they have an interval or not."""
    letters: float
    end: float
    """Of everything, with what sums of fractions may lack."""


class _Block(NamedTuple):
    """Something drawn from a height on, and the height below it."""

    parts: list[Markup]
    below: float


def render_picture(
    plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis, *, of: Sequence[int] = (), dark: bool
) -> str:
    """The picture as SVG; ``of``: only these tables, numbered from 1 as in the page."""
    palette = DARK if dark else LIGHT
    chosen = [analysis.verdicts[at - 1] for at in of] if of else analysis.verdicts[:PANELS]
    title = line(plan.title)
    answer = _answer(plan, analysis, chosen)
    blocks = _Block([], _MARGIN)
    for text in (
        _paragraph(title, 22.0, palette.ink, most=2, bold=True),
        _paragraph(answer, 16.0, palette.ink, most=5),
        _paragraph(_how(chosen), _SMALL, palette.soft, most=2) if any(map(words.served, chosen)) else None,
    ):
        blocks = _after(blocks, text)
    columns = _columns(chosen)
    rows = min(_ROWS, _ROWS_ALL // max(len(chosen), 1))
    for verdict in chosen:
        blocks = _panel(blocks, plan, verdict, columns, palette, rows, alone=len(chosen) == 1)
    for text in _end(plan, fingerprint, runs, analysis, chosen, palette):
        blocks = _after(blocks, text, 4.0)
    height = round(blocks.below + _MARGIN - 4)
    ground = element("rect", width=WIDTH, height=height, fill=palette.page)
    return _svg(height, f"{title}: {answer}", _told(chosen, rows), [ground, *blocks.parts])


def _how(chosen: Sequence[Verdict]) -> str:
    """How to read the rows; of ratios only where one has an interval."""
    ratios = any(words.compares(verdict.standings) for verdict in chosen)
    return " ".join([_HOW, *[_RATIOS] * ratios, _TIES])


def _svg(height: int, title: str, told: str, parts: Sequence[Markup]) -> str:
    """The whole file; its title and description are read out to those who cannot see it."""
    return (
        element(
            "svg",
            element("title", title, id="webdyno-title"),
            element("desc", told, id="webdyno-desc"),
            *parts,
            xmlns="http://www.w3.org/2000/svg",
            width=WIDTH,
            height=height,
            viewBox=f"0 0 {WIDTH:g} {height}",
            role="img",
            aria_labelledby="webdyno-title webdyno-desc",
            font_family="system-ui, sans-serif",
        )
        + "\n"
    )


class _Paragraph(NamedTuple):
    lines: list[str]
    size: float
    colour: str
    bold: bool


def _paragraph(text: str, size: float, colour: str, *, most: int, bold: bool = False) -> _Paragraph:
    return _Paragraph(wrap(line(text), size, _INNER, most, bold=bold), size, colour, bold)


def _after(block: _Block, text: _Paragraph | None, gap: float = _GAP) -> _Block:
    """``block`` and a paragraph below it."""
    if text is None or not text.lines:
        return block
    y, parts = block.below, list(block.parts)
    for each in text.lines:
        y += text.size * 1.35
        parts.append(_text(each, _MARGIN, y - text.size * 0.35, text.size, text.colour, bold=text.bold))
    return _Block(parts, y + gap)


def _text(text: str, x: float, y: float, size: float, colour: str, *, end: bool = False, bold: bool = False) -> Markup:
    return element(
        "text",
        text,
        x=round(x, 1),
        y=round(y, 1),
        font_size=size,
        font_weight="bold" if bold else None,
        text_anchor="end" if end else None,
        fill=colour,
    )


def _answer(plan: Plan, analysis: Analysis, chosen: Sequence[Verdict]) -> str:
    """Of one table its own sentence, of several the one over all of them."""
    if len(chosen) == 1:
        return _sentence(plan, chosen[0].sentence)
    return _sentence(plan, analysis.sentence)


def _sentence(plan: Plan, text: str) -> str:
    """With a capital, unless a contender's name stands there, and a full stop."""
    first = text.split(" ", 1)[0].rstrip(",:")
    return line(text if first in plan.contenders else text[:1].upper() + text[1:]) + "."


def _columns(chosen: Sequence[Verdict]) -> _Columns:
    """The same for every panel, so that bars stand below each other; the bars take what the texts leave."""
    told = [words.cells(standing, dash="–") for verdict in chosen for standing in words.served(verdict)]
    names = max((width(line(t["contender"]), _TEXT, bold=True) for t in told), default=0.0)
    rate = max([width("requests/s", _SMALL), *(width(t["rate"], _TEXT, bold=True) for t in told)])
    interval = max([width("95 % interval", _SMALL), *(width(t["interval"], _TEXT) for t in told)])
    ratio = max([width("vs best", _SMALL), *(width(t["ratio"], _TEXT) for t in told)])
    letters = min(max([width(_VOID, _SMALL), *(width(t["tie"], _TEXT) for t in told)]), 80.0)
    end = WIDTH - _MARGIN
    name = _MARGIN + max(min(names, _INNER - rate - interval - ratio - letters - 5 * _GAP - _BAR), 20.0)
    begins = end - letters - _GAP - ratio
    return _Columns(
        name=name,
        bar=name + _GAP,
        bar_end=begins - interval - rate - 3 * _GAP,
        rate=begins - interval - 2 * _GAP,
        interval=begins - _GAP,
        ratio=begins,
        letters=end - letters,
        end=end + 0.01,
    )


def _panel(
    block: _Block, plan: Plan, verdict: Verdict, columns: _Columns, palette: Palette, rows: int, *, alone: bool
) -> _Block:
    """One table: what was asked, the ranking, and who is not in it."""
    block = _after(block, _paragraph(titles.of(verdict), 15.0, palette.ink, most=2, bold=True), 4.0)
    if not alone:
        block = _after(block, _paragraph(_sentence(plan, verdict.sentence), _TEXT, palette.soft, most=3), 6.0)
    standings = words.served(verdict)
    parts, y = list(block.parts), block.below
    if standings:
        most = max((s.rate.high or s.rate.value for s in standings if s.rate), default=1.0) or 1.0
        parts += _head(columns, y + _SMALL, palette)
        y += _SMALL + 6
        for standing in standings[:rows]:
            parts += _row(verdict, standing, columns, y, most, palette)
            y += _ROW
        y += 6
    block = _Block(parts, y)
    for text in _below(verdict, rows):
        block = _after(block, _paragraph(text, _SMALL, palette.soft, most=2), 2.0)
    return _Block(block.parts, block.below + _GAP)


def _head(columns: _Columns, y: float, palette: Palette) -> Iterator[Markup]:
    for title, x, end in (
        ("requests/s", columns.rate, True),
        ("95 % interval", columns.interval, True),
        ("vs best", columns.ratio, False),
        ("tie", columns.letters, False),
    ):
        yield _text(title, x, y, _SMALL, palette.soft, end=end)


def _row(
    verdict: Verdict, standing: Standing, columns: _Columns, y: float, most: float, palette: Palette
) -> Iterator[Markup]:
    """Name, bar with its interval, figures; who is not ranked stands in grey."""
    told = words.cells(standing, dash="–")
    out, first = standing.place is None, standing.contender in verdict.winners
    ink, base = palette.soft if out else palette.ink, y + _ROW / 2 + _TEXT * 0.36
    name = cut(line(told["contender"]), _TEXT, columns.name - _MARGIN + 0.01, bold=True)
    yield _text(name, columns.name, base, _TEXT, ink, end=True, bold=first)
    colour = palette.out if out else palette.best if first else palette.bar
    yield from _bar(standing, columns, y, most, colour, palette)
    yield _text(told["rate"], columns.rate, base, _TEXT, ink, end=True, bold=True)
    yield _text(told["interval"], columns.interval, base, _TEXT, palette.soft, end=True)
    yield _text(told["ratio"], columns.ratio, base, _TEXT, palette.soft)
    letters = _VOID if out else cut(told["tie"], _TEXT, columns.end - columns.letters)
    yield _text(letters, columns.letters, base, _SMALL if out else _TEXT, palette.bad if out else ink)


def _bar(
    standing: Standing, columns: _Columns, y: float, most: float, colour: str, palette: Palette
) -> Iterator[Markup]:
    """Length is the rate; the interval is a line with two ends."""
    rate = standing.rate
    if rate is None:
        return
    long = columns.bar_end - columns.bar
    length = long * max(0.0, min(1.0, rate.value / most))
    yield element(
        "rect", x=round(columns.bar, 1), y=y + 4, width=round(max(length, 0.5), 1), height=_ROW - 8, rx=2, fill=colour
    )
    if rate.low is None or rate.high is None:
        return
    low, high = (columns.bar + long * max(0.0, min(1.0, value / most)) for value in (rate.low, rate.high))
    middle = y + _ROW / 2
    drawn = f"M{low:.1f} {middle:.1f}H{high:.1f}M{low:.1f} {middle - 3:.1f}v6M{high:.1f} {middle - 3:.1f}v6"
    yield element("path", d=drawn, stroke=palette.ink, stroke_width=1.4, fill="none")


def _below(verdict: Verdict, rows: int) -> Iterator[str]:
    """What the rows do not show, counted and named."""
    standings = words.served(verdict)
    if len(standings) > rows:
        yield f"and {words.count(len(standings) - rows)} more"
    failed = [standing for standing in verdict.standings if standing.rate is None]
    if failed:
        yield f"Without a figure: {words.listing([_failed(standing) for standing in failed], _NAMED)}"


def _failed(standing: Standing) -> str:
    """``meinheld (build-failed)``, by what happened most often."""
    outcomes = standing.outcomes
    most = max(outcomes, key=lambda key: outcomes[key]) if outcomes else "not run"
    return f"{_short(standing.contender)} ({_short(most)})"


def _short(text: str) -> str:
    """One line of small text, short enough that others have room beside it."""
    return cut(line(text), _SMALL, 260.0)


def _end(
    plan: Plan,
    fingerprint: Fingerprint,
    runs: Sequence[Run],
    analysis: Analysis,
    chosen: Sequence[Verdict],
    palette: Palette,
) -> Iterator[_Paragraph]:
    """Tables left out, doubts, and on which machine, when and how."""
    if len(chosen) < len(analysis.verdicts):
        shown = f"{len(chosen)} of {words.count(len(analysis.verdicts), 'table')} of this study"
        yield _paragraph(shown, _SMALL, palette.soft, most=1)
    for text, colour in ((_doubts(analysis, chosen, "voids"), palette.bad), (_doubts(analysis, chosen, "shades"), "")):
        if text:
            yield _paragraph(text, _SMALL, colour or palette.soft, most=2)
    began = min((run.started_at for run in runs), default="")[:10]
    facts = [
        fingerprint.cpu_model,
        words.count(fingerprint.cores, "core"),
        fingerprint.kernel,
        f"rounds: {course.rounds(plan, runs)}",
        began,
        f"webdyno {fingerprint.webdyno}",
    ]
    yield _paragraph(" · ".join(_short(fact) for fact in facts if fact), _SMALL, palette.soft, most=2)


def _doubts(analysis: Analysis, chosen: Sequence[Verdict], severity: str) -> str:
    """``Not ranked because of: dead-cell (cherrypy)``: the kinds, each with whom it is about."""
    found: dict[str, dict[str, None]] = {}
    everyone = [*analysis.doubts, *(doubt for verdict in chosen for doubt in verdict.doubts)]
    everyone += [doubt for verdict in chosen for s in verdict.standings for doubt in s.doubts]
    for doubt in everyone:
        if doubt.severity == severity:
            found.setdefault(doubt.kind, {}).update({_short(doubt.subject): None} if doubt.subject else {})
    if not found:
        return ""
    told = [f"{kind} ({words.listing(list(about), 3)})" if about else kind for kind, about in found.items()]
    return f"{'Doubts that void' if severity == 'voids' else 'Doubts to keep in mind'}: {', '.join(told)}."


def _told(chosen: Sequence[Verdict], rows: int) -> str:
    """The rankings as sentences, with names in full."""
    return line(" ".join("".join(_ranked(verdict, rows)) for verdict in chosen))


def _ranked(verdict: Verdict, rows: int) -> Iterator[str]:
    yield f"{titles.of(verdict)}: "
    for standing in words.served(verdict)[:rows]:
        told = words.cells(standing, dash=" to ")
        tie = "not ranked" if standing.place is None else f"tie {told['tie']}"
        of_best = f", {told['ratio']} vs best" if standing.ratio_to_best else ""
        yield f"{standing.contender} {told['rate']} requests/s (95 % interval {told['interval']}){of_best}, {tie}; "
    yield "; ".join(_below(verdict, rows)) + "."
