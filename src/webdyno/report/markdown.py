"""The report as Markdown, to paste into an issue, a pull request or an article.

GitHub's dialect. Text from outside cannot break a table or become markup: it is escaped, and logs stand in fences
longer than any run of backticks within them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from webdyno.analyse.race_end import race_end
from webdyno.analyse.table import Evidence
from webdyno.model.claim import ClaimVerdict
from webdyno.model.outward import clean
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis, Verdict
from webdyno.report import course, failed, headline, sheets, titles, words
from webdyno.report.appendix import StartRow, again, start_rows
from webdyno.report.kept import kept
from webdyno.report.sheet import Sheet
from webdyno.report.words import Mark

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&])")
_LOG_LINES = 10


def render_markdown(plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis) -> str:
    """The whole report."""
    marks = words.marks(analysis)
    parts = [f"# {_text(plan.title)}", _text(plan.question), *_headline(analysis)]
    if raced := race_end(Evidence(plan, fingerprint, runs)):
        parts.append(_text(f"{raced}."))
    if analysis.recommended_command:
        parts.append(_fence(shlex.join(analysis.recommended_command)))
    parts += _claims(plan, analysis)
    first = next((each for each in analysis.verdicts if words.compares(each.standings)), None)
    for verdict in analysis.verdicts:
        parts += [f"## {_text(titles.of(verdict))}", _text(verdict.sentence), _table(verdict, marks)]
        if verdict is first:
            parts.append(_text(f"{words.BY_RATIO} {words.BY_ITSELF}"))
        if held := words.held_back(verdict):
            parts.append(_text(f"What limits them: {'; '.join(held)}."))
    if analysis.scalings:
        parts += ["## Scaling", "\n".join(f"- {_text(line)}" for line in words.scalings(analysis))]
    parts += [part for sheet in sheets.sheets(analysis) for part in _sheet(sheet)]
    parts += _doubts(marks) + _failures(runs)
    if plan.skipped:
        parts += ["## Skipped", "\n".join(f"- **{_text(s.what)}**: {_text(s.reason)}" for s in plan.skipped)]
    parts += ["## How", _text(course.measured(plan, runs)), _machine(fingerprint, runs)]
    parts += [*_starts(plan, runs), "## How to repeat it", _fence(again(plan))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _headline(analysis: Analysis) -> list[str]:
    """The answer in a sentence; of a study's claims how many hold, and those that answer its question."""
    if not analysis.claims:
        return [f"**{_text(analysis.sentence)}**"]
    told = [f"- **{claim.ruling}**: {_text(headline.found(claim))}" for claim in headline.leading(analysis)]
    take = _text(headline.rest(analysis)) if analysis.recommended else ""
    return [f"**{_text(headline.counted(analysis.claims))}**", "\n".join(told), take]


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(clean(text).split()))


def _fence(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{clean(text)}\n{fence}"


plain_text, fence = _text, _fence
"""For other pages in Markdown: text that is no markup, and a log."""


def _table(verdict: Verdict, marks: Sequence[Mark]) -> str:
    standings = words.served(verdict)
    if not standings:
        return ""
    numbers = {mark.kind: mark.number for mark in marks}
    keys = words.columns(standings)
    rows = [[words.COLUMNS[key].title for key in keys]]
    rows.append([":---" if key in ("contender", "ratio", "tie", "doubts") else "---:" for key in keys])
    for standing in standings:
        doubts = " ".join(f"{numbers[d.kind]}{'!' if d.severity == 'voids' else ''}" for d in standing.doubts)
        row = words.cells(standing) | {"doubts": doubts}
        rows.append([_text(row[key]) for key in keys])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _sheet(sheet: Sheet) -> list[str]:
    aligned = [":---" if at < sheet.texts or not title else "---:" for at, title in enumerate(sheet.head)]
    rows = [sheet.head, aligned, *[[_text(cell) for cell in row] for row in sheet.rows]]
    return [f"## {_text(sheet.title)}", _text(sheet.says), "\n".join(f"| {' | '.join(row)} |" for row in rows)]


def _claims(plan: Plan, analysis: Analysis) -> list[str]:
    if not analysis.claims:
        return []
    rows = [["claim", "here", "why"], [":---", ":---", ":---"]]
    rows += [[_claim(c), f"**{c.ruling}**", _text(c.sentence)] for c in sheets.judged(analysis.claims)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows) if len(rows) > 2 else ""
    return ["## What the original claimed", _text(sheets.source(plan)), table, _text(sheets.tally(analysis.claims))]


def _claim(claim: ClaimVerdict) -> str:
    basis = _text(sheets.basis(claim))
    return f"{_text(claim.text)}<br>*{basis}*" if basis else _text(claim.text)


def _doubts(marks: Sequence[Mark]) -> list[str]:
    if not marks:
        return []
    lines = [
        f"- **{mark.number}{'!' if mark.voids else ''} {_text(mark.kind)}**: "
        f"{_text('; '.join(mark.sentences))}. *What to do: {_text(mark.advice)}.*"
        for mark in marks
    ]
    told = "An exclamation mark: the figures are shown, but not ranked." if any(mark.voids for mark in marks) else ""
    return ["## Doubts", "\n".join(lines), told]


def _failures(runs: Sequence[Run]) -> list[str]:
    found = failed.failures(runs)
    parts = ["## Failed"] if found else []
    for failure in found:
        says = (
            f"**{_text(failure.contender)}** {_text(failure.says)} ({_text(failure.outcome)}; {_text(failure.where)})"
        )
        parts += [f"{says}: {_text(failure.message)}" if failure.message else says]
        if log := words.tail(failure.log_tail, _LOG_LINES):
            parts.append(_fence(log))
    return parts


def _machine(fingerprint: Fingerprint, runs: Sequence[Run]) -> str:
    facts = words.machine(fingerprint)
    facts += [("Placement", text) for text in dict.fromkeys(words.placement(run.rig) for run in runs)]
    facts += [("Way", text) for text in dict.fromkeys(kept(run.rig) for run in runs)]
    facts += words.services(runs)
    return "\n".join(f"- {_text(label)}: {_text(text)}" for label, text in facts)


def _starts(plan: Plan, runs: Sequence[Run]) -> list[str]:
    """Versions as they were found, and how each contender was started: a figure without them cannot be checked."""
    rows = start_rows(plan, runs)
    if not rows:
        return []
    lines = ["| contender | workers x threads | versions | command |", "| :--- | :--- | :--- | :--- |"]
    lines += [
        f"| {_text(row.contender)} | {_text(row.workers)} | {_text(row.versions)} | {_text(_command(row))} |"
        for row in rows
    ]
    tools = words.listing(sorted({run.driver_version for run in runs if run.driver_version}))
    return ["## Versions and commands", _text(f"Load by {tools}.") if tools else "", "\n".join(lines)]


def _command(row: StartRow) -> str:
    """The command with its settings, but for PATH and the like: where this machine keeps its files is of no use to
    others, and names its user."""
    settings = [f"{key}={shlex.quote(value)}" for key, value in row.environment.items() if "/" not in value]
    return " ".join([*settings, row.command])
