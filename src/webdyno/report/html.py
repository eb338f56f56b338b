"""The report as one HTML file: no network, nothing beside it.

It can be mailed, printed, and read in ten years. Its first screen has the verdict in a sentence and the picture of it;
then comes the ranking of each table, and the rest is folded by question: why, over time, how sure, which commands. On
paper all is open. With many tables it has a contents, and all but the first are closed until they are asked for. It is
whole without its script, which filters, sorts, compares and explains. Its policy allows that one script by its hash,
and forbids the network altogether, so that even a slip in escaping could do nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from webdyno.analyse.table import Evidence, Table, tables
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis, Verdict
from webdyno.report import answer, course, titles, words
from webdyno.report.against import against, sweeps
from webdyno.report.appendix import failures, machine, repeat, skipped, starts
from webdyno.report.cards import question
from webdyno.report.charts import ordered, palettes
from webdyno.report.compared import Compared, compared
from webdyno.report.contents import FEW, contents
from webdyno.report.csv import render_csv
from webdyno.report.downloads import downloads
from webdyno.report.facts import facts, in_brief
from webdyno.report.headline import headline
from webdyno.report.homes import homes, without
from webdyno.report.insight import scaling
from webdyno.report.json import render_json
from webdyno.report.markup import Markup, element, join, prose
from webdyno.report.overview import overview
from webdyno.report.sheets import sheets
from webdyno.report.studied import claims, studied
from webdyno.report.tables import section
from webdyno.report.words import Mark

_STYLE = tuple(Path(__file__).with_name(name) for name in ("page.css", "answer.css"))
_SCRIPT = tuple(Path(__file__).with_name(name) for name in ("page.js", "pairs.js", "explain.js"))
"""The parts of the page's one style and one script."""


def render_html(plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis) -> str:
    """The whole page."""
    found = tables(Evidence(plan, fingerprint, runs))
    private = homes(plan, runs)
    body = element(
        "div",
        _header(plan, runs, analysis),
        element("main", *_main(plan, fingerprint, runs, analysis, found, private)),
        element("footer", f"Made by webdyno {fingerprint.webdyno}. {course.measured(plan, runs)}"),
        class_="page",
    )
    script = _script()
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        element("title", f"{plan.title} · webdyno"),
        element("style", Markup("\n".join(part.read_text(encoding="utf-8") for part in _STYLE))),
    )
    whole = element("body", Markup(without(body, private)), element("script", Markup(script)))
    return f"<!doctype html>\n{element('html', head, whole, lang='en')}\n"


def _main(
    plan: Plan,
    fingerprint: Fingerprint,
    runs: Sequence[Run],
    analysis: Analysis,
    found: Sequence[Table],
    private: Sequence[str],
) -> list[Markup | None]:
    """From top to bottom."""
    marks = words.marks(analysis)
    grave = _grave(analysis, marks)
    pairs = list(zip(found, analysis.verdicts, strict=True))
    ratios = [compared(plan, table, verdict) for table, verdict in pairs]
    told = (plan, fingerprint, runs, analysis)
    files = {"csv": render_csv(*told), "json": render_json(*told).decode()}
    links = downloads(plan.study, {ending: without(text, private) for ending, text in files.items()})
    return [
        headline(plan, analysis),
        _findings(grave),
        answer.picture(analysis.verdicts, [each.ratios for each in ratios]),
        in_brief(*told, _other(marks, grave), links),
        claims(plan, analysis),
        contents(analysis.verdicts),
        overview(analysis),
        *_evidence(plan, pairs, analysis, marks, ratios),
        question(
            "How sure?",
            _counted(marks, runs, plan),
            facts(*told),
            _doubts(marks),
            failures(runs),
            skipped(plan),
            machine(fingerprint, runs),
            id_="sure",
        ),
        question(
            "Commands", "versions, and how to repeat it", starts(plan, runs), repeat(plan, analysis), id_="commands"
        ),
    ]


def _counted(marks: Sequence[Mark], runs: Sequence[Run], plan: Plan) -> str:
    """What lies in the fold: ``3 doubts, 2 skipped, the machine``."""
    failed = {run.trial.contender for run in runs if run.outcome not in ("ok", "interrupted")}
    told = [
        words.count(len(marks), "doubt"),
        f"{words.count(len(failed), 'contender')} failed" if failed else "",
        f"{len(plan.skipped)} skipped" if plan.skipped else "",
        "the machine",
    ]
    return ", ".join(filter(None, told))


def _script() -> str:
    """All parts in one block, so that none of their names meets one of the browser's own."""
    return "\n".join(['"use strict"; {', *[part.read_text(encoding="utf-8") for part in _SCRIPT], "}"])


def _policy(script: str) -> str:
    """Content Security Policy Level 3: this one script, by its hash, the page's own style, nothing from anywhere."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own = f"script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _header(plan: Plan, runs: Sequence[Run], analysis: Analysis) -> Markup:
    began = min((run.started_at for run in runs), default="")
    places = [("#claims", "Claims")] if analysis.claims else []
    places += _places(analysis.verdicts)
    places += [("#studied", "As the original")] if sheets(analysis) else []
    places += [("#sure", "How sure?"), ("#doubts", "Doubts"), ("#commands", "Commands"), ("#again", "Repeat")]
    return element(
        "header",
        element("strong", "webdyno"),
        element("span", f"{plan.study}{' · ' if began else ''}{began[:16].replace('T', ' ')}{' UTC' if began else ''}"),
        element("nav", *[join(element("a", text, href=place), Markup(" ")) for place, text in places]),
    )


def _places(verdicts: Sequence[Verdict]) -> list[tuple[str, str]]:
    """The tables by name, or their contents."""
    if len(verdicts) > FEW:
        return [("#contents", "Contents")]
    return [(f"#table-{at}", title) for at, title in enumerate(titles.beside(verdicts), 1)]


def _findings(marks: Sequence[Mark]) -> Markup | None:
    """The doubts that matter for the answer: those that void, and those about everything or a whole table.

    By name: in full they would push the picture off the first screen.
    """
    if not marks:
        return None
    items = [
        element("li", element("a", mark.kind, href=f"#doubt-{mark.number}"), f": {'; '.join(mark.sentences)}.")
        for mark in marks
    ]
    title = f"{words.count(len(marks), 'finding')} {'needs' if len(marks) == 1 else 'need'} care"
    kinds = element("span", f": {words.listing([mark.kind for mark in marks])}")
    return element("details", element("summary", title, kinds), element("ul", *items), class_="note")


def _grave(analysis: Analysis, marks: Sequence[Mark]) -> list[Mark]:
    general = {d.kind for d in analysis.doubts} | {d.kind for verdict in analysis.verdicts for d in verdict.doubts}
    return [mark for mark in marks if mark.voids or mark.kind in general]


def _other(marks: Sequence[Mark], grave: Sequence[Mark]) -> Markup | None:
    """The way to the doubts that are about single contenders."""
    rest = len(marks) - len(grave)
    told = f"{words.count(rest, 'more doubt' if grave else 'doubt')} about single contenders"
    return element("p", element("a", told, href="#doubts")) if rest else None


def _evidence(
    plan: Plan,
    pairs: Sequence[tuple[Table, Verdict]],
    analysis: Analysis,
    marks: Sequence[Mark],
    ratios: Sequence[Compared],
) -> list[Markup | None]:
    """All that was measured: table by table, against the load, and as a study shows it."""
    swept = sweeps(pairs, analysis)
    styles = palettes([*[sweep.names for sweep in swept], *[ordered(verdict) for _, verdict in pairs]])
    first = next((each for each in analysis.verdicts if words.compares(each.standings)), None)
    sections = [
        section(plan, pair, marks, colours, at, of=len(pairs), legend=pair[1] is first, ratios=found)
        for at, (pair, colours, found) in enumerate(zip(pairs, styles[len(swept) :], ratios, strict=True), 1)
    ]
    rising = question(
        "How does it go with the load?",
        "speed and latency over connections, rates and workers",
        against(swept, styles[: len(swept)]),
        scaling(analysis),
    )
    shown = question("What did the study show?", "its tables and graphs, measured here", studied(analysis))
    return [*sections, rising, shown]


def _doubts(marks: Sequence[Mark]) -> Markup:
    if not marks:
        nothing = element("p", "No rule found a reason to doubt these figures.", class_="says")
        return element("section", element("h3", "Doubts", id="doubts"), nothing)
    items = [
        element(
            "li",
            element("b", f"{mark.number}{'!' if mark.voids else ''} {mark.kind}", class_="bad" if mark.voids else None),
            *[element("p", sentence, ".") for sentence in mark.sentences],
            element("p", "What to do: ", prose(mark.advice), ".", class_="todo"),
            id=f"doubt-{mark.number}",
        )
        for mark in marks
    ]
    says = "An exclamation mark: the figures are shown, but not ranked." if any(mark.voids for mark in marks) else ""
    return element(
        "section",
        element("h3", "Doubts", id="doubts"),
        element("p", says, class_="lead") if says else None,
        element("div", element("ol", *items, class_="doubts"), class_="card"),
    )
