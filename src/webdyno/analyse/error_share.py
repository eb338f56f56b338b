"""Error share: of the requests that came to an end, those that failed. One rule for all that webdyno says.

A request in flight when the load ended did neither: it stands above and below the line only where it had by then waited
for longer than an objective allows (see ``objectives``).
"""

from __future__ import annotations

from collections.abc import Mapping

NOT_AN_ERROR = "unfinished"
"""In flight when the load ended: neither right nor wrong."""


def gone_wrong(errors: Mapping[str, int]) -> dict[str, int]:
    """Requests that went wrong, by kind."""
    return {kind: number for kind, number in errors.items() if number and kind != NOT_AN_ERROR}


def failed(errors: Mapping[str, int]) -> int:
    """How many."""
    return sum(gone_wrong(errors).values())


def error_share(errors: Mapping[str, int], ok: int, overdue: int = 0) -> float:
    """0 where nothing came to an end. ``overdue`` are requests without an answer that count as failed."""
    wrong = failed(errors) + overdue
    return wrong / (wrong + ok) if wrong else 0.0
