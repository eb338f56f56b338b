"""``webdyno lock``: write down the exact versions a contender's requirements resolve to today."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from webdyno.build import lock as write_lock
from webdyno.commands.options import CatalogueOption, catalogue_of
from webdyno.commands.printing import out
from webdyno.model.errors import UsageError
from webdyno.plan import contenders_called
from webdyno.rig.here import Here


def lock(
    *names: Annotated[str, Parameter(help="Contenders to lock; patterns such as `pypy/*-pypy` too.")],
    catalogue: CatalogueOption = None,
) -> int:
    """Resolve a contender's requirements and write all exact versions into a catalogue's locks folder.

    A contender without a lock is resolved when it is built; with one it is the same next year.

    The lock goes where the contender's file is, into the folder locks/ beside contenders/. Contenders of one matrix
    and runtime share a lock, so naming one of them locks them all.

    Of what a pattern names, only contenders that have a lock are locked: those in Python 3.

    Example: `webdyno lock my-server --catalogue mine`
    """
    known = catalogue_of(catalogue)
    if not names:
        raise UsageError("lock what? Name contenders (see: webdyno list)")
    done: set[Path] = set()
    for name in contenders_called(list(names), known):
        contender, target = known.contenders[name], known.lock_places[name]
        if name not in names and known.runtimes[contender.runtime].kind != "python":
            continue
        if target not in done:
            sharing = [known.contenders[other] for other, place in known.lock_places.items() if place == target]
            write_lock(contender, known.apps[contender.app], known.runtimes[contender.runtime], target, Here(), sharing)
            out(str(target))
            done.add(target)
    if not done:
        raise UsageError(f"{', '.join(names)}: names no contender that has a lock; only those in Python 3 have one")
    return 0
