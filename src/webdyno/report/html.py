"""The report as one HTML file: no network, nothing beside it.

It can be mailed, printed, and read in ten years. It opens with the answer and the doubts that matter, then shows
the evidence: ranking, latency, the course of time, memory against work, failures with their logs, the machine, and
the exact versions and commands. It is whole without its script, which filters, sorts and explains. Its policy allows
that one script by its hash, and forbids the network altogether, so that even a slip in escaping could do nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from webdyno.analyse.table import Evidence, Table, tables
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis, Verdict
from webdyno.report import explain, words
from webdyno.report.appendix import failures, machine, repeat, skipped, starts
from webdyno.report.charts import coloured, efficiency_chart, latency_chart, rate_chart
from webdyno.report.insight import limited, scaling, warming
from webdyno.report.markup import Markup, element, join, prose
from webdyno.report.ranking import ranking
from webdyno.report.sheets import lone
from webdyno.report.studied import claims, studied
from webdyno.report.words import Mark

_STYLE = Path(__file__).with_name("page.css")
_SCRIPT = tuple(Path(__file__).with_name(name) for name in ("page.js", "explain.js"))
"""The two halves of the page's one script."""


def render_html(plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis) -> str:
    """The whole page."""
    marks = words.marks(analysis)
    found = tables(Evidence(plan, fingerprint, runs))
    body = element(
        "div",
        _header(plan, runs, analysis),
        element(
            "main",
            _answer(plan, analysis),
            _facts(plan, fingerprint, runs, analysis),
            claims(plan, analysis),
            _findings(analysis, marks),
            studied(analysis),
            *[
                _section(plan, table, verdict, marks, f"table-{at}", several=len(found) > 1)
                for at, (table, verdict) in enumerate(zip(found, analysis.verdicts, strict=True), 1)
            ],
            scaling(analysis),
            _doubts(marks),
            failures(runs),
            skipped(plan),
            machine(fingerprint, runs),
            starts(plan, runs),
            repeat(plan, analysis),
        ),
        element("footer", f"Made by webdyno {fingerprint.webdyno}. {words.measured(plan, runs)}"),
        class_="page",
    )
    script = _script()
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        element("title", f"{plan.title} · webdyno"),
        element("style", Markup(_STYLE.read_text(encoding="utf-8"))),
    )
    whole = element("body", body, element("script", Markup(script)))
    return f"<!doctype html>\n{element('html', head, whole, lang='en')}\n"


def _script() -> str:
    """Both halves in one block, so that none of their names meets one of the browser's own."""
    return "\n".join(['"use strict"; {', *[part.read_text(encoding="utf-8") for part in _SCRIPT], "}"])


def _policy(script: str) -> str:
    """Content Security Policy Level 3: this one script, by its hash, the page's own style, nothing from anywhere."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own = f"script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _header(plan: Plan, runs: Sequence[Run], analysis: Analysis) -> Markup:
    began = min((run.started_at for run in runs), default="")
    places = [(f"#table-{at}", verdict.workload) for at, verdict in enumerate(analysis.verdicts, 1)]
    places = places if lone(analysis) else places[:1]
    places += [("#claims", "Claims")] if analysis.claims else []
    places += [("#studied", "As the original")] if analysis.curves or analysis.shapes else []
    places += [("#doubts", "Doubts"), ("#machine", "Machine"), ("#starts", "Commands")]
    return element(
        "header",
        element("strong", "webdyno"),
        element("span", f"{plan.study}{' · ' if began else ''}{began[:16].replace('T', ' ')}{' UTC' if began else ''}"),
        element("nav", *[join(element("a", text, href=place), Markup(" ")) for place, text in places]),
    )


def _answer(plan: Plan, analysis: Analysis) -> Markup:
    """The answer in a sentence for the study, and one for each workload when there are several."""
    head = element("h1", _emphasised(_capital(plan, analysis.sentence) + ".", analysis.recommended))
    if not lone(analysis):
        return join(head, element("p", plan.question, class_="lead"))
    if len(analysis.verdicts) == 1:
        return join(head, element("p", _capital(plan, analysis.verdicts[0].sentence), ".", class_="lead"))
    each = [
        element("p", element("b", words.title(verdict)), ": ", verdict.sentence, ".", class_="lead")
        for verdict in analysis.verdicts
    ]
    return join(head, *each, element("p", plan.question, class_="lead"))


def _capital(plan: Plan, sentence: str) -> str:
    """A capital at the beginning, unless a contender's name stands there."""
    word = sentence.split(" ", 1)[0].rstrip(",:")
    return sentence if word in plan.contenders else sentence[:1].upper() + sentence[1:]


def _emphasised(sentence: str, name: str | None) -> Markup:
    """The sentence with the contender's name marked."""
    if not name or name not in sentence:
        return join(sentence)
    before, _, after = sentence.partition(name)
    return join(before, element("b", name), after)


def _facts(plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis) -> Markup:
    loads = list(dict.fromkeys(trial.load.label for trial in plan.trials))
    facts = [
        ("Machine", f"{words.count(fingerprint.cores, 'core')}, {words.size(fingerprint.memory_bytes)}"),
        ("Placement", words.cores(runs[-1].rig) if runs else words.MISSING),
        ("Limits", words.limits(runs[-1].rig) if runs else words.MISSING),
        ("Load", words.listing([f"{load}, closed loop" for load in loads], 3)),
        ("Rounds", words.rounds(plan, runs)),
        ("Typical interval", _typical(analysis)),
    ]
    each = [
        element("div", element("dt", label), element("dd", element("span", text, title=explain.FACTS.get(label))))
        for label, text in facts
    ]
    return element("dl", *each, class_="facts")


def _typical(analysis: Analysis) -> str:
    """Middle of the half-widths of all rates, in per cent."""
    rates = [s.rate for verdict in analysis.verdicts for s in verdict.standings if s.rate]
    wide = [(r.high - r.low) / 2 / r.value for r in rates if r.low is not None and r.high is not None]
    return f"± {words.per_cent(median(wide))}" if wide else "none: too few rounds"


def _findings(analysis: Analysis, marks: Sequence[Mark]) -> Markup | None:
    """The doubts that matter for the answer: those that void, and those about everything or a whole table."""
    general = {d.kind for d in analysis.doubts} | {d.kind for verdict in analysis.verdicts for d in verdict.doubts}
    grave = [mark for mark in marks if mark.voids or mark.kind in general]
    if not marks:
        return None
    rest = len(marks) - len(grave)
    more = element("a", f"{words.count(rest, 'more doubt')} about single contenders", href="#doubts") if rest else None
    if not grave:
        return element("div", "Read the table with ", more, " in mind.", class_="note")
    items = [
        element("li", element("a", mark.kind, href=f"#doubt-{mark.number}"), f": {'; '.join(mark.sentences)}.")
        for mark in grave
    ]
    title = f"{words.count(len(grave), 'finding')} {'needs' if len(grave) == 1 else 'need'} care:"
    return element("div", title, element("ul", *items, element("li", more, ".") if more else None), class_="note")


def _section(
    plan: Plan, table: Table, verdict: Verdict, marks: Sequence[Mark], anchor: str, *, several: bool
) -> Markup:
    """Everything about one workload under one load; a sentence that stands at the top already is not said again."""
    styles = coloured(verdict)
    return element(
        "section",
        element("h2", words.title(verdict), id=anchor),
        element("p", _capital(plan, verdict.sentence), ".", class_="answer") if several else None,
        _card(
            "Ranking",
            f"{table.workload.title}. A bar is the rate, the dark line in it its 95 % interval. "
            "Contenders that share a letter cannot be told apart.",
            ranking(plan, verdict, marks, styles),
        ),
        element(
            "div",
            _chart(
                "Latency by percentile",
                "Each step to the right is ten times rarer. Closed loop: a slow answer delays the next request of its "
                "connection, and is counted once. Faint: the single rounds.",
                latency_chart(table, styles),
            ),
            _chart(
                "Memory against work",
                "Up and left is better: more requests for a second of CPU, with less memory.",
                efficiency_chart(words.served(verdict), styles),
            ),
            class_="pair",
        ),
        _chart(
            "Second by second",
            "Right answers per second in the middle round of each; the other rounds faintly. Starts at zero.",
            rate_chart(table, styles),
        ),
        limited(verdict),
        warming(verdict),
    )


def _card(title: str, says: str, content: Markup) -> Markup:
    return element("div", element("h3", title), element("p", says, class_="says"), content, class_="card")


def _chart(title: str, says: str, chart: Markup | None) -> Markup | None:
    return None if chart is None else _card(title, says, element("div", chart, class_="scroll"))


def _doubts(marks: Sequence[Mark]) -> Markup:
    if not marks:
        nothing = element("p", "No rule found a reason to doubt these figures.", class_="says")
        return element("section", element("h2", "Doubts", id="doubts"), nothing)
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
        element("h2", "Doubts", id="doubts"),
        element("p", says, class_="lead") if says else None,
        element("div", element("ol", *items, class_="doubts"), class_="card"),
    )
