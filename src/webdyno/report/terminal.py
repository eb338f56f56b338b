"""The report on a terminal: the verdict first, then a table that fits, then every doubt with what to do about it.

Columns that do not fit are dropped, the least telling first, and named below. Piped, it is plain ASCII without
colours (rich takes those away, and honours NO_COLOR). Nothing is read as markup: all text is put in as it is,
cleaned of control characters, for names and logs come from outside.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from webdyno.analyse.race_end import race_end
from webdyno.analyse.table import Evidence
from webdyno.model.outward import clean
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis, Standing, Verdict
from webdyno.report import course, failed, headline, titles, words
from webdyno.report.sheet import Sheet
from webdyno.report.sheets import basis, judged, lone, source, tally
from webdyno.report.sheets import sheets as study_sheets
from webdyno.report.words import Mark

_DROPPED_FIRST = ("memory", "cpu", "p50", "errors", "p99", "served", "interval", "ratio", "doubts")
"""Columns in the order in which they give way to a narrow terminal."""
_INTERVALS = ("interval", "ratio")
"""Before one of these goes, columns move closer together."""
TO_THE_LEFT = ("contender", "ratio", "tie", "doubts")
_LOG_LINES = 4
_RULINGS = {"holds": "bold green", "does not hold": "bold red", "cannot tell": "bold yellow"}


def render_terminal(
    plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis, folder: Path, console: Console
) -> None:
    """Print the whole report on ``console``."""
    page = _Page(console)
    marks = words.marks(analysis)
    page.heading(plan.title)
    page.line(plan.question)
    page.line(f"{fingerprint.cpu_model}, {words.count(fingerprint.cores, 'core')}, {fingerprint.kernel}", "dim")
    if runs:
        page.line(words.placement(runs[-1].rig), "dim")
    for service, text in words.services(runs):
        page.line(f"{service}: {text}", "dim")
    page.line(course.measured(plan, runs), "dim")
    if raced := race_end(Evidence(plan, fingerprint, runs)):
        page.line(f"{raced}.")
    dropped = _verdicts(page, analysis, marks)
    _sheets(page, analysis)
    _claims(page, plan, analysis)
    if dropped:
        page.line(
            f"A wider terminal also shows: {words.listing([words.COLUMNS[key].title for key in dropped])}.", "dim"
        )
    _scalings(page, analysis)
    _doubts(page, analysis, marks)
    _failures(page, runs)
    _skipped(page, plan)
    _recommendation(page, analysis, folder)


def _verdicts(page: _Page, analysis: Analysis, marks: Sequence[Mark]) -> list[str]:
    """Print the sentence and the ranking of every table; returns the columns that did not fit the last one."""
    dropped: list[str] = []
    told = False
    for verdict in analysis.verdicts:
        page.heading(titles.of(verdict))
        page.line(verdict.sentence, "bold green" if len(verdict.winners) == 1 else "bold yellow")
        if not lone(analysis):
            continue
        dropped = _ranking(page, verdict, marks)
        if not told and words.compares(verdict.standings):
            told = True
            page.line(which_interval(dropped), "dim")
        if held := words.held_back(verdict):
            page.line(f"What limits them: {'; '.join(held)}.", "dim")
    if not lone(analysis):
        page.line("The ranking of each load: webdyno report FOLDER --format html, or md.", "dim")
    return dropped


def which_interval(dropped: Sequence[str]) -> str:
    """Which interval is for what, of those that fitted."""
    told = [words.BY_RATIO] * ("ratio" not in dropped) + [words.BY_ITSELF] * ("interval" not in dropped)
    return " ".join(told)


class _Page:
    """A console that takes plain text only, in ASCII when nobody looks at it."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.ascii = not console.is_terminal or not console.encoding.lower().startswith("utf")

    def text(self, content: str, style: str = "") -> Text:
        text = clean(content)
        return Text(text.replace("µ", "u") if self.ascii else text, style=style)

    def line(self, content: str, style: str = "", indent: int = 0) -> None:
        """Wrapped here and not by rich, which would fill every line with blanks up to the margin."""
        margin = " " * indent
        for line in textwrap.wrap(
            content, self.console.width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
        ):
            self.console.print(self.text(line, style), soft_wrap=True)

    def heading(self, content: str) -> None:
        self.console.print()
        self.console.print(self.text(content, "bold underline"))


def _ranking(page: _Page, verdict: Verdict, marks: Sequence[Mark]) -> list[str]:
    """Print the table of one verdict; returns the columns that did not fit."""
    standings = words.served(verdict)
    if not standings:
        return []
    numbers = {mark.kind: mark for mark in marks}
    rows = [words.cells(standing) | {"doubts": _numbers(standing, numbers)} for standing in standings]
    keys = [key for key in words.columns(standings) if key != "doubts" or any(row["doubts"] for row in rows)]
    titles = {key: words.COLUMNS[key].title for key in keys}
    shown, gap = fitting(titles, rows, page.console.width)
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold", show_edge=False)
    for key in shown:
        table.add_column(page.text(titles[key]), justify="left" if key in TO_THE_LEFT else "right", no_wrap=True)
    for standing, row in zip(standings, rows, strict=True):
        style = "bold" if standing.contender in verdict.winners else "dim" if standing.place is None else ""
        table.add_row(*[page.text(row[key]) for key in shown], style=style)
    page.console.print(table)
    about = " ".join(str(numbers[doubt.kind].number) for doubt in verdict.doubts)
    if about:
        page.line(f"Doubts about the whole table: {about}", "dim")
    return [key for key in keys if key not in shown]


def _numbers(standing: Standing, marks: dict[str, Mark]) -> str:
    """``2! 4``: the exclamation mark stands for a doubt that voids."""
    return " ".join(f"{marks[d.kind].number}{'!' if d.severity == 'voids' else ''}" for d in standing.doubts)


def fitting(titles: Mapping[str, str], rows: Sequence[Mapping[str, str]], width: int) -> tuple[list[str], int]:
    """The columns without those that must go for a ranking to fit, and the blanks between two of them."""
    needed = {key: max(cell_len(title), *(cell_len(row[key]) for row in rows)) for key, title in titles.items()}
    kept = list(titles)
    for key in _DROPPED_FIRST:
        for gap in (2, 1) if key in _INTERVALS else (2,):
            if sum(needed[k] + gap for k in kept) - gap <= width:
                return kept, gap
        kept = [k for k in kept if k != key]
    return kept, 2


def _scalings(page: _Page, analysis: Analysis) -> None:
    if analysis.scalings:
        page.heading("Scaling")
    for line in words.scalings(analysis):
        page.line(line)


def _sheets(page: _Page, analysis: Analysis) -> None:
    """Every table of the study."""
    for sheet in study_sheets(analysis):
        page.heading(sheet.title)
        if sheet.says:
            page.line(sheet.says, "dim")
        _sheet(page, sheet)


def _sheet(page: _Page, sheet: Sheet) -> None:
    """A table; texts that end a row and would make it too wide stand on a line of their own below it."""
    width = sum(max(cell_len(row[at]) for row in [sheet.head, *sheet.rows]) + 2 for at in range(len(sheet.head)))
    below = width > page.console.width and len(sheet.head) > sheet.texts + 1
    shown = len(sheet.head) - 1 if below and _ends_in_text(sheet) else len(sheet.head)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", show_edge=False)
    for at, title in enumerate(sheet.head[:shown]):
        left = at < sheet.texts or (at == len(sheet.head) - 1 and _ends_in_text(sheet))
        table.add_column(page.text(title), justify="left" if left else "right", overflow="fold")
    for row in sheet.rows:
        table.add_row(*[page.text(cell) for cell in row[:shown]])
    page.console.print(table)
    if shown < len(sheet.head):
        for row in sheet.rows:
            page.line(f"{row[0]}: {row[-1]}", "dim")


def _ends_in_text(sheet: Sheet) -> bool:
    """Its last column holds words."""
    return sheet.head[-1] == ""


def _claims(page: _Page, plan: Plan, analysis: Analysis) -> None:
    """Each claim of the original, with what became of it here."""
    if not analysis.claims:
        return
    page.heading("What the original claimed")
    if came_from := source(plan):
        page.line(came_from, "dim")
    for claim in judged(analysis.claims):
        page.line(f"{claim.ruling}: {claim.text}", _RULINGS[claim.ruling])
        if rests_on := basis(claim):
            page.line(rests_on, "dim", indent=3)
        if claim.sentence:
            page.line(claim.sentence, indent=3)
    page.line(tally(analysis.claims), "dim")


def _doubts(page: _Page, analysis: Analysis, marks: Sequence[Mark]) -> None:
    if not marks:
        return
    page.heading("Doubts")
    general = {doubt.kind for doubt in analysis.doubts}
    for mark in marks:
        style = "bold red" if mark.voids else "bold yellow"
        where = ", about everything" if mark.kind in general else ""
        page.line(f"{mark.number}{'!' if mark.voids else ''} {mark.kind}{where}", style)
        for sentence in mark.sentences:
            page.line(sentence, indent=3)
        page.line(f"What to do: {mark.advice}", "dim", indent=3)
    if any(mark.voids for mark in marks):
        page.line("! means: the figures are shown, but not ranked.", "dim")


def _failures(page: _Page, runs: Sequence[Run]) -> None:
    found = failed.failures(runs)
    if not found:
        return
    page.heading("Failed")
    for failure in found:
        page.line(f"{failure.contender} {failure.says} ({failure.outcome}; {failure.where})", "bold red")
        page.line(failure.message, indent=3)
        for line in words.tail(failure.log_tail, _LOG_LINES).splitlines():
            page.console.print(page.text(f"   | {line}", "dim"), soft_wrap=True)


def _skipped(page: _Page, plan: Plan) -> None:
    if plan.skipped:
        page.heading("Skipped")
    for skipped in plan.skipped:
        page.line(f"{skipped.what}: {skipped.reason}")


def _recommendation(page: _Page, analysis: Analysis, folder: Path) -> None:
    page.heading("Recommendation")
    for claim in headline.leading(analysis):
        page.line(claim.headline)
    if sentence := headline.rest(analysis):
        page.line(sentence, "bold green" if analysis.recommended else "bold yellow")
    if analysis.recommended_command:
        # printed without wrapping, so that it can be copied
        page.console.print(page.text("  " + shlex.join(analysis.recommended_command)), soft_wrap=True)
    page.console.print(page.text(f"Results: {folder}"), soft_wrap=True)
