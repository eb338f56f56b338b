"""``webdyno lock``: write down the exact versions a contender's requirements resolve to today."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from webdyno.build import lock as write_lock
from webdyno.commands.options import CatalogueOption, catalogue_of
from webdyno.model.errors import UsageError
from webdyno.read import default_folder, lock_path
from webdyno.rig.here import Here


def lock(
    *names: Annotated[str, Parameter(help="Contenders to lock.")],
    catalogue: CatalogueOption = None,
) -> int:
    """Resolve a contender's requirements and write all exact versions into a catalogue's locks folder.

    A contender without a lock is resolved when it is built; with one it is the same next year.

    The lock goes where the contender's file is, into the folder locks/ beside contenders/.

    Example: `webdyno lock my-server --catalogue mine`
    """
    known = catalogue_of(catalogue)
    folders = [default_folder(), *(catalogue or [])]
    if not names:
        raise UsageError("lock what? Name contenders (see: webdyno list)")
    for name in names:
        if name not in known.contenders:
            raise UsageError(f"there is no contender {name!r}; see: webdyno list")
    for name in names:
        contender = known.contenders[name]
        target = lock_path(name, folders)
        write_lock(contender, known.apps[contender.app], known.runtimes[contender.runtime], target, Here())
        print(target)
    return 0
