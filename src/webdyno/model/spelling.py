"""The nearest spelling, for the end of a sentence about a name that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one of ``known`` that is most like ``name``; None where none is near."""
    return next(iter(difflib.get_close_matches(name, known, n=1)), None)


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """``did you mean 'NAME'?`` with the nearest of ``known``; ``otherwise`` where none is near."""
    near = nearest(name, known)
    return f"did you mean {near!r}?" if near else otherwise
