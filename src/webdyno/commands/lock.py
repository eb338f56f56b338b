"""``webdyno lock``: record the exact versions a contender's requirements resolve to today, and their hashes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from webdyno.build import HASHES, KINDS, lock_jars
from webdyno.build import lock as write_lock
from webdyno.commands.completing import contenders
from webdyno.commands.options import CatalogueOption
from webdyno.commands.printing import out
from webdyno.commands.trusting import TrustOption, catalogue_to_run
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import UsageError
from webdyno.plan import contenders_called
from webdyno.rig.here import Here


def lock(
    *names: Annotated[
        str, Parameter(help="Contenders to lock; patterns such as `pypy/*-pypy` too.", completer=contenders)
    ],
    catalogue: CatalogueOption = None,
    trust: TrustOption = False,
) -> int:
    """Resolve a contender's requirements and write all exact versions, with hashes, into a catalogue's locks folder.

    A contender without a lock is resolved when it is built. With a lock it is the same next year, and a file that does
    not match is refused.

    The lock goes where the contender's file is, into the folder locks/ beside contenders/. Contenders of one matrix
    and runtime share a lock, so naming one of them locks them all.

    Of the contenders that a pattern matches, only those that can have a lock are locked: in Python, and on the JVM.

    Example: `webdyno lock my-server --catalogue mine`
    """
    known = catalogue_to_run(catalogue, trust)
    if not names:
        raise UsageError("lock what? Name contenders (see: webdyno list)")
    done: set[Path] = set()
    for name in contenders_called(list(names), known):
        if name not in names and known.runtimes[known.contenders[name].runtime].kind not in (*KINDS, "jvm"):
            continue
        target = _target(name, known)
        if target not in done:
            _lock(name, target, known)
            out(str(target))
            done.add(target)
    if not done:
        raise UsageError(
            f"{', '.join(names)}: no contender of these has a lock; only those in Python and on the JVM do"
        )
    return 0


def _target(name: str, known: Catalogue) -> Path:
    contender = known.contenders[name]
    on_jvm = known.runtimes[contender.runtime].kind == "jvm"
    return known.app_directories[contender.app] / HASHES if on_jvm else known.lock_places[name]


def _lock(name: str, target: Path, known: Catalogue) -> None:
    contender, here = known.contenders[name], Here()
    runtime = known.runtimes[contender.runtime]
    if runtime.kind == "jvm":
        lock_jars(target, here)
        return
    sharing = [known.contenders[other] for other, place in known.lock_places.items() if place == target]
    write_lock(contender, known.apps[contender.app], runtime, target, here, sharing)
