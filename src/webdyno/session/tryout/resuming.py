"""A tryout that was stopped goes on: of the same task, on the same machine, with the files it began with.

It is no function of its Runs alone, as other designs are: it builds, asks, and decides on the way. So it begins again,
and its journals give it the Runs that are there instead of measuring them. What depends on the moment (the first
answers, the memory that is free) is as it was found when it began, and time is what Runs took.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from webdyno.analyse.words import count
from webdyno.depth import is_deep
from webdyno.model.again import Again
from webdyno.model.catalogue import Catalogue
from webdyno.now import ordinary
from webdyno.session.ceilings import with_ceilings
from webdyno.session.folders import cache_folder
from webdyno.session.resuming import line_of, not_by, on_its_machine, opened, recall, refuse_links, refuse_variables
from webdyno.session.saying import say
from webdyno.session.trust import Agree, ask_for_try, refuse
from webdyno.session.tryout.asked import task_again
from webdyno.session.tryout.evidence import ANSWER
from webdyno.session.tryout.sources import refuse_changed
from webdyno.session.tryout.steps import SCREENING, Before, try_here
from webdyno.session.tryout.told import Told
from webdyno.store import FILE, Store

_LARGEST_ANSWER_BYTES = 8 << 20


def resume_try(
    folder: Path, known: Catalogue, again: Again, *, wait: bool = False, agree: Agree = refuse
) -> tuple[Told, bool]:
    """What there is to say by all Runs of a results folder, and whether the user stopped it. As ``try_out``."""
    if (told := _finished(folder)) is not None:
        say(f"nothing is left to measure in {folder}")
        return told, False
    with contextlib.ExitStack() as open_:
        screening = open_.enter_context(_screening(folder))
        plan = screening.plan()
        if plan.tried is None:
            raise not_by("try", plan, folder)
        ask_for_try(plan.tried, folder, agree)
        refuse_variables(plan, folder, again)
        recall(screening, known, again, folder)
        task = task_again(plan.tried, again, folder)
        refuse_changed(plan.tried.outset.sources, task.folder, folder)
        strapped, _ = open_.enter_context(on_its_machine(screening, wait=wait))
        final = open_.enter_context(opened(folder)) if (folder / FILE).is_file() else None
        if final is not None:
            final.add_fingerprint(with_ceilings(strapped.fingerprint, cache_folder()))
        runs = len(screening.done()) + (0 if final is None else len(final.done()))
        say(f"{folder} continues: {count(runs, 'run')} of an earlier sitting need not be repeated")
        return try_here(task, known, strapped, Before(screening.plan(), plan.tried, screening, final))


def folder_of(named: Path) -> Path:
    """The results folder, where a file of it was named, or its part."""
    folder = named.parent if named.name == FILE and named.is_file() else named
    return folder.parent if folder.name == SCREENING and (folder / FILE).is_file() else folder


def line_to_go_on(folder: Path, catalogues: Sequence[Path]) -> str | None:
    """The command line; None where nothing was measured yet, or nothing is left."""
    if not (folder / SCREENING / FILE).is_file() or _finished(folder) is not None:
        return None
    with Store.open(folder / SCREENING) as store:
        return line_of(store.plan(), folder, catalogues) if store.done() else None


def _screening(folder: Path) -> Store:
    """Of the folder, or what else it holds is said. UsageError."""
    if (folder / SCREENING / FILE).is_file():
        refuse_links(folder)
        return opened(folder / SCREENING)
    with Store.open(folder) as store:
        raise not_by("try", store.plan(), folder)


def _finished(folder: Path) -> Told | None:
    """What a tryout said that was not stopped."""
    try:
        text = ordinary(folder / ANSWER, _LARGEST_ANSWER_BYTES)
        told = None if is_deep(text) else msgspec.json.decode(text, type=Told)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return told if told is not None and told.complete else None
