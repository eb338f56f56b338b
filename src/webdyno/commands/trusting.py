"""Commands of somebody else's folder: shown, and asked about, before anything of it is run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from webdyno.analyse.words import listing
from webdyno.commands.options import catalogue_of, flag
from webdyno.commands.printing import answer, err, err_is_seen
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import UsageError
from webdyno.model.study import Study
from webdyno.session.executed import visible
from webdyno.session.trust import Agree, Strange, allow, ask_for_catalogues, refuse, throwaway

TrustOption = Annotated[
    bool,
    flag("--trust", help="Run the commands of somebody else's results or catalogue folder without asking."),
]
AsRootOption = Annotated[
    bool, flag("--no-as-user", help="As root: run servers of somebody else's catalogue with all rights of root.")
]
AS_ROOT = (
    "You are root: its builds, and programs that are asked for their versions, get all rights. Its servers and "
    "services run as throw-away users, unless --no-as-user is given."
)
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


def refuse_as_root(what: str, said: bool | None, folders: Sequence[Path]) -> None:
    """UsageError where ``what`` would run somebody else's servers as root: they run beside a project that needs its
    user's files, so throw-away users are no way out. ``said``: --as-user, or --no-as-user.
    """
    if said:
        raise UsageError(f"--as-user is only for contenders of the catalogue: {what} runs your own project")
    if strange := [folder for folder in folders if throwaway(said, [folder])]:
        catalogue_of([*folders])  # one that cannot be read is said to be so
        where = listing([f"--catalogue {visible(str(folder))}" for folder in strange])
        raise UsageError(
            f"{where}: somebody else's, as far as webdyno can tell, and {what} would run servers and builds of it as "
            "root, beside your own project: run it as another user; --no-as-user gives them all rights of root"
        )


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
    if os.geteuid() == 0:
        err(AS_ROOT)
    choice = "[y/N]" if lines == shown else "[y/N, a: all of it]"
    while (said := answer(f"Run these commands? {choice} ")) == "a":
        for line in lines:
            err(f"  {line}")
    return said in ("y", "yes")


def _cut(line: str) -> str:
    left = len(line) - SHOWN_CHARACTERS
    return line if left <= 0 else f"{line[:SHOWN_CHARACTERS]}... ({left} more characters)"
