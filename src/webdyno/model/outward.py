"""Outward: text as it may leave webdyno. Names, logs, answers and whole results files come from others, and what they
hold may steer a terminal, turn a line around, hide a letter or start a formula.

Every place that shows or writes text takes these two functions and no other, which ``tests/test_outward.py`` proves.
"""

from __future__ import annotations

import re
from typing import TypeVar

Cell = TypeVar("Cell")

_SUSPECT = re.compile(r"\r\n|[^\n\t -~]")
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that are drawn as nothing (Default_Ignorable_Code_Point of Unicode)."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", *"\uff1d\uff0b\uff0d\uff20")
"""What a text may not begin with in a cell; the last four are the first four as Japanese writes them."""


def clean(text: str) -> str:
    """``text`` with each sign that is not to be seen written as JSON writes it, such as ``\\u001b`` for an escape.

    Those are all but letters, digits, marks and the blank: control characters (lines and tabs stay), what changes the
    direction of writing, signs without a width, lone halves of a pair. Text that is JSON stays the same JSON.
    """
    return _SUSPECT.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    sign = found[0]
    if sign == "\r\n":
        return "\n"
    if sign.isprintable() and not _UNSEEN.match(sign):
        return sign
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def csv_cell(value: Cell) -> Cell | str:
    """A cell of a CSV: clean, and with an apostrophe in front where a spreadsheet would take a text for a formula.

    Numbers stay as they are.
    """
    if not isinstance(value, str):
        return value
    return clean(f"'{value}" if value.lstrip(" ").startswith(_FORMULA) else value)
