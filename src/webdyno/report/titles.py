"""Titles of tables: the workload and the load of each, alone or beside others."""

from __future__ import annotations

import re
from collections.abc import Sequence

from webdyno.analyse.phrases import where
from webdyno.model.verdict import Verdict

_LARGE = re.compile(r"\b\d{4,}(?= connections)")


def of(verdict: Verdict) -> str:
    """``hello, 1,000 connections, keep-alive``; a driver that is not our own engine is named."""
    return _LARGE.sub(lambda number: f"{int(number[0]):,}", where(verdict))


def beside(verdicts: Sequence[Verdict]) -> list[str]:
    """Titles that stand beside each other: what all of them end with, or begin with, is left out."""
    parts = [of(verdict).split(", ") for verdict in verdicts]
    for end in (-1, 0):
        while len(parts) > 1 and min(map(len, parts)) > 1 and len({each[end] for each in parts}) == 1:
            for each in parts:
                del each[end]
    return [", ".join(each) for each in parts]
