"""Commands of somebody else's folder: shown, and asked about, before anything of it is run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec

from webdyno.commands.options import catalogue_of, flag
from webdyno.commands.printing import answer, err, err_is_seen
from webdyno.model.catalogue import Catalogue
from webdyno.model.study import Study
from webdyno.session.executed import visible
from webdyno.session.trust import Agree, Strange, allow, ask_for_catalogues, refuse, throwaway

TrustOption = Annotated[
    bool,
    flag("--trust", help="Run the commands of somebody else's results or catalogue folder without asking."),
]
SHOWN_LINES, SHOWN_CHARACTERS = 20, 300
"""At first, and of each."""


def agreeing(trust: bool) -> Agree:
    """As ``--trust`` says."""
    return allow if trust else ask


def catalogue_to_run(folders: list[Path] | None, trust: bool) -> Catalogue:
    """As ``catalogue_of``, for a command that executes something of it: UsageError unless that may be."""
    known = catalogue_of(folders)
    ask_for_catalogues(folders or [], known, agreeing(trust))
    return known


def with_user(study: Study, said: bool | None, folders: list[Path] | None) -> Study:
    """``study``, with contenders as throw-away users if that was ``said``, or is the default for these catalogues."""
    return msgspec.structs.replace(study, as_user=throwaway(said, folders or [], wanted=study.as_user))


def ask(strange: Strange) -> bool:
    """What the user says who sits at a terminal; UsageError where nobody does."""
    if not (sys.stdin.isatty() and err_is_seen()):
        return refuse(strange)
    err(f"{visible(strange.where)}: somebody else's, as far as webdyno can tell. It would run:")
    lines = [visible(line) for line in strange.lines]
    shown = [_cut(line) for line in lines[:SHOWN_LINES]]
    for line in shown:
        err(f"  {line}")
    left = len(lines) - len(shown)
    if left:
        err(f"  ... and {left} more")
    choice = "[y/N]" if lines == shown else "[y/N, a: all of it]"
    while (said := answer(f"Run these commands? {choice} ")) == "a":
        for line in lines:
            err(f"  {line}")
    return said in ("y", "yes")


def _cut(line: str) -> str:
    left = len(line) - SHOWN_CHARACTERS
    return line if left <= 0 else f"{line[:SHOWN_CHARACTERS]}... ({left} more characters)"
