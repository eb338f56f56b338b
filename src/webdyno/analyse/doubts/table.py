"""The table of doubts: a row for each, with what is known of it but its sentence.

The registries of ``analyse.doubts``, what ends a race about a pair (``moot``), what makes a rate a floor (``floors``)
and docs/reference/doubts.md are made from it. A new doubt is one function in a file beside this one, and one row in
``of_figures``, ``of_contender`` or ``of_table``. Rules are asked in the order of their rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webdyno.analyse.doubts.of_contender import CONTENDER
from webdyno.analyse.doubts.of_figures import FIGURES
from webdyno.analyse.doubts.of_table import STUDY, TABLE
from webdyno.analyse.doubts.row import Row
from webdyno.model.doubt import Doubt

ROWS: tuple[Row, ...] = (*FIGURES, *CONTENDER, *TABLE, *STUDY)


def kind_of(rule: Callable[[Any], Doubt | None]) -> str:
    """The kind of the doubts that a rule finds, for callers that treat one kind in a way of its own."""
    return next(row.kind for row in ROWS if row.rule is rule)
