"""The report as one HTML file: no network, nothing beside it.

It can be mailed, printed, and read in ten years. It opens with the answer and the doubts that matter, then shows
the evidence: how speed goes with the load, then for each table its ranking, latency, speed beside its price and the
course of time; failures with their logs, the machine, the exact versions and commands, and how to repeat it. With many
tables it has a contents, and all but the first are closed until they are asked for, or printed. It is whole without its
script, which filters, sorts and explains. Its policy allows that one script by its hash, and forbids the network
altogether, so that even a slip in escaping could do nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from webdyno.analyse.table import Evidence, Table, tables
from webdyno.model.load import connections_text
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis, Verdict
from webdyno.report import explain, words
from webdyno.report.against import Pair, against, sweeps
from webdyno.report.appendix import failures, machine, repeat, skipped, starts
from webdyno.report.cards import card, chart
from webdyno.report.charts import latency_chart, ordered, palettes, speed_chart
from webdyno.report.contents import FEW, contents
from webdyno.report.insight import limited, scaling, warming
from webdyno.report.markup import Markup, element, join, prose
from webdyno.report.ranking import ranking
from webdyno.report.sheets import sheets
from webdyno.report.sides import clause, sides_of
from webdyno.report.studied import claims, studied
from webdyno.report.timeline import timeline
from webdyno.report.words import Mark
from webdyno.report.work import work

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
            _findings(analysis, marks),
            claims(plan, analysis),
            contents(analysis.verdicts),
            *_evidence(plan, list(zip(found, analysis.verdicts, strict=True)), analysis, marks),
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
    places = [("#claims", "Claims")] if analysis.claims else []
    places += _places(analysis.verdicts)
    places += [("#studied", "As the original")] if sheets(analysis) else []
    places += [("#doubts", "Doubts"), ("#machine", "Machine"), ("#starts", "Commands"), ("#again", "Repeat")]
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
    names = [verdict.workload for verdict in verdicts]
    alike = len(set(names)) < len(names)
    return [
        (f"#table-{at}", words.title(verdict) if alike else verdict.workload) for at, verdict in enumerate(verdicts, 1)
    ]


def _answer(plan: Plan, analysis: Analysis) -> Markup:
    """The answer in a sentence for the study, and one for each of its tables when there are few."""
    head = element("h1", _emphasised(_capital(plan, analysis.sentence) + ".", analysis.recommended))
    if len(analysis.verdicts) > FEW:
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
    facts = [
        ("Machine", f"{words.count(fingerprint.cores, 'core')}, {words.size(fingerprint.memory_bytes)}"),
        ("Placement", words.cores(runs[-1].rig) if runs else words.MISSING),
        ("Limits", words.limits(runs[-1].rig) if runs else words.MISSING),
        ("Load", words.listing(_loads(plan), 3)),
        ("Rounds", words.rounds(plan, runs)),
        ("Measured", clause(sides_of(runs)) or words.MISSING),
        ("Typical interval", _typical(analysis)),
    ]
    each = [
        element("div", element("dt", label), element("dd", element("span", text, title=explain.FACTS.get(label))))
        for label, text in facts
    ]
    return element("dl", *each, class_="facts")


def _loads(plan: Plan) -> list[str]:
    """Each kind of load, of closed ones with all its numbers of connections: ``8, 64 and 256 connections, close``."""
    numbers: dict[str, set[int]] = {}
    for load in {trial.load.label: trial.load for trial in plan.trials}.values():
        kind = f"{load.label}, {'open' if load.is_open else 'closed'} loop"
        counted = connections_text(load.connections)
        numbers.setdefault(kind.removeprefix(counted), set()).update([load.connections] * kind.startswith(counted))
    told = {kind: words.listing([words.count(number) for number in sorted(each)], 8) for kind, each in numbers.items()}
    return [f"{connections_text(text)}{kind}" if text else kind for kind, text in told.items()]


def _typical(analysis: Analysis) -> str:
    """Middle of the half-widths of all rates, in per cent."""
    rates = [s.rate for verdict in analysis.verdicts for s in verdict.standings if s.rate]
    wide = [(r.high - r.low) / 2 / r.value for r in rates if r.low is not None and r.high is not None]
    if not wide:
        return "none: too few rounds"
    told = words.per_cent(median(wide))
    return f"below ± {told[2:]}" if told.startswith("<") else f"± {told}"


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


def _evidence(plan: Plan, pairs: Sequence[Pair], analysis: Analysis, marks: Sequence[Mark]) -> list[Markup | None]:
    """All that was measured: against the load, table by table, and as a study shows it."""
    swept = sweeps(pairs, analysis)
    styles = palettes([*[sweep.names for sweep in swept], *[ordered(verdict) for _, verdict in pairs]])
    first = next((each for each in analysis.verdicts if words.compares(each.standings)), None)
    sections = [
        _section(plan, pair, marks, colours, at, of=len(pairs), legend=pair[1] is first)
        for at, (pair, colours) in enumerate(zip(pairs, styles[len(swept) :], strict=True), 1)
    ]
    return [against(swept, styles[: len(swept)]), *sections, studied(analysis)]


def _section(
    plan: Plan, pair: Pair, marks: Sequence[Mark], styles: dict[str, int], at: int, *, of: int, legend: bool
) -> Markup:
    """Everything about one workload under one load, closed at first where it is one of many.

    A sentence that stands at the top already is not said again.
    """
    title, anchor = element("h2", words.title(pair[1])), f"table-{at}"
    says = element("p", _capital(plan, pair[1].sentence), ".", class_="answer") if of > 1 else None
    inside = [says, *_cards(plan, pair, marks, styles, of=of, legend=legend)]
    if of <= FEW:
        return element("section", title, *inside, id=anchor)
    # the anchor is inside: a browser opens what a link leads into
    told = element("section", *inside, id=anchor)
    return element("details", element("summary", title), told, class_="table", open=at == 1)


def _cards(
    plan: Plan, pair: Pair, marks: Sequence[Mark], styles: dict[str, int], *, of: int, legend: bool
) -> list[Markup | None]:
    """``legend``: the one table of the report that says which interval is for what."""
    table, verdict = pair
    return [
        card(
            "Ranking",
            f"{table.workload.title}. A bar is the rate, the dark line in it its 95 % interval. "
            f"Contenders that share a letter are tied.{f' {words.BY_RATIO} {words.BY_ITSELF}' if legend else ''}",
            ranking(plan, verdict, marks, styles),
        ),
        element(
            "div",
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
            class_="pair",
        ),
        _seconds(table, styles, of=of),
        work(plan, table, verdict),
        limited(verdict),
        warming(verdict),
    ]


def _counted(table: Table) -> str:
    if table.load.is_open:
        return "Open loop: counted from when a request was due, which is what a user waits."
    return "Closed loop: a slow answer delays the next request of its connection, and is counted once."


def _seconds(table: Table, styles: dict[str, int], *, of: int) -> Markup | None:
    told = timeline(table, styles, of=of)
    turns = any(window.turned is not None for window in table.windows)
    which = "One round of all contenders, the same for each," if turns else "The middle round of each contender"
    says = f"{which} in colour, {'the' if turns else 'its'} other rounds faintly. All panels share the time axis."
    return None if told is None else card("Turn by turn" if turns else "Second by second", says, told)


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
