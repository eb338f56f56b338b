"""The nearest spelling, for the end of a sentence about a name that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """``did you mean 'NAME'?`` with the nearest of ``known``; ``otherwise`` where none is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise
