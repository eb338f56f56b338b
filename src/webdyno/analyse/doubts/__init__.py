"""Doubts: every reason webdyno knows not to trust a figure, a comparison or a whole study.

Each rule is one function that looks at the evidence and returns its Doubt, or None. Its row in the table of doubts
(``table``) says what it looks at and what its Doubt does, for the reports, the sentences and the ranking.
``voids`` takes a contender out of the ranking (or forbids to rank a table at all); ``shades`` is reported beside the
figure.

A rule stays silent about what was not measured: no evidence is no reason to doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from webdyno.analyse.doubts.table import ROWS
from webdyno.analyse.table import Cell, Evidence, Table
from webdyno.model.doubt import Doubt

CONTENDER_RULES: tuple[Callable[[Cell], Doubt | None], ...] = tuple(
    row.rule for row in ROWS if row.about == "contender"
)
TABLE_RULES: tuple[Callable[[Table], Doubt | None], ...] = tuple(row.rule for row in ROWS if row.about == "table")
STUDY_RULES: tuple[Callable[[Evidence], Doubt | None], ...] = tuple(row.rule for row in ROWS if row.about == "study")


def about_contender(cell: Cell) -> list[Doubt]:
    """Doubts about one contender in one table, the gravest first."""
    return _graver_first([rule(cell) for rule in CONTENDER_RULES])


def about_table(table: Table) -> list[Doubt]:
    """Doubts about a table as a whole."""
    return _graver_first([rule(table) for rule in TABLE_RULES])


def about_study(evidence: Evidence) -> list[Doubt]:
    """Doubts about everything in a results folder."""
    return _graver_first([rule(evidence) for rule in STUDY_RULES])


def _graver_first(found: Sequence[Doubt | None]) -> list[Doubt]:
    return sorted((doubt for doubt in found if doubt is not None), key=lambda doubt: doubt.severity != "voids")
