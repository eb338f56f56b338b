"""What a study adds to the report on a terminal: its tables, and what became of each claim."""

from __future__ import annotations

from rich.cells import cell_len
from rich.table import Table

from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis
from webdyno.report import sheets, words
from webdyno.report.page import Page
from webdyno.report.sheets import Sheet

STYLES = {"holds": "bold green", "does not hold": "bold red", "cannot tell": "bold yellow"}


def show_sheets(page: Page, analysis: Analysis) -> None:
    """Every table of the study."""
    for sheet in sheets.sheets(analysis):
        page.heading(sheet.title)
        if sheet.says:
            page.line(sheet.says, "dim")
        _sheet(page, sheet)


def _sheet(page: Page, sheet: Sheet) -> None:
    """A table; texts that end a row and would make it too wide stand on a line of their own below it."""
    width = sum(max(cell_len(row[at]) for row in [sheet.head, *sheet.rows]) + 2 for at in range(len(sheet.head)))
    below = width > page.console.width and len(sheet.head) > sheet.texts + 1
    shown = len(sheet.head) - 1 if below and _is_text(sheet) else len(sheet.head)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", show_edge=False)
    for at, title in enumerate(sheet.head[:shown]):
        left = at < sheet.texts or (at == len(sheet.head) - 1 and _is_text(sheet))
        table.add_column(page.text(title), justify="left" if left else "right", overflow="fold")
    for row in sheet.rows:
        table.add_row(*[page.text(cell) for cell in row[:shown]])
    page.console.print(table)
    if shown < len(sheet.head):
        for row in sheet.rows:
            page.line(f"{row[0]}: {row[-1]}", "dim")


def _is_text(sheet: Sheet) -> bool:
    """Its last column holds words."""
    return sheet.head[-1] == ""


def show_claims(page: Page, plan: Plan, analysis: Analysis) -> None:
    """Each claim of the original, with what became of it here."""
    if not analysis.claims:
        return
    page.heading("What the original claimed")
    if source := sheets.source(plan):
        page.line(source, "dim")
    for claim in analysis.claims:
        page.line(f"{claim.ruling}: {claim.text}", STYLES[claim.ruling])
        if claim.sentence:
            page.line(claim.sentence, indent=3)
    page.line(words.tally(analysis.claims), "dim")
