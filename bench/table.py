"""Rows as text for a terminal. Pure: it returns lines, whoever called prints them."""

from __future__ import annotations

from collections.abc import Sequence

_GAP = "  "


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as they must be; what looks like a number is set right, the last column is never padded."""
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    numeric = [bool(rows) and all(_is_figure(row[i]) for row in rows) for i in range(len(heads))]
    lines = [_line(heads, widths, numeric), _line(["-" * width for width in widths], widths, numeric)]
    return lines + [_line(row, widths, numeric) for row in rows]


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = [
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(cells, widths, numeric, strict=True)
    ]
    return _GAP.join(padded).rstrip()


def _is_figure(cell: str) -> bool:
    return not cell or cell == "-" or cell.replace(",", "").replace(".", "").lstrip("-+").isdigit()
