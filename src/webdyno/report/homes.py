"""Homes: a page is mailed, and the name of the user who measured is nobody's business: home folders read ``~``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from webdyno.model.run import Run
from webdyno.model.trial import Plan

_HOME = re.compile(
    r"(?<![\w.~/-])(?:(/(?:home|Users)/[^/\s'\":;,]+|/root)(?=[/\s'\":;,]|$)|(/[^\s'\":;,=]*?)(?=/\.(?:cache|local)/))"
)
"""Where a system puts homes, and whatever has a folder that programs keep for a user."""


def homes(plan: Plan, runs: Sequence[Run]) -> list[str]:
    """Every home folder that commands, variables and logs name, longest first. A path that only an answer or a request
    has is none."""
    found: set[str] = set()
    for text in dict.fromkeys(_told(plan, runs)):
        found.update(one or other for one, other in _HOME.findall(text))
    return sorted(found, key=lambda home: (-len(home), home))


def without(text: str, folders: Iterable[str]) -> str:
    """``text`` with ``~`` for each."""
    for home in folders:
        text = re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)
    return text


def _told(plan: Plan, runs: Sequence[Run]) -> Iterable[str]:
    yield from plan.arguments
    for run in runs:
        yield from run.command
        yield from run.environment.values()
        yield run.message
        yield run.log_tail
