"""Sources: the files of a project that have to be as they were for a tryout to go on, and what changed.

Looked at twice when it begins, before the application is imported and after its first answers: what it writes itself
(a database, a log) is none of them. Neither are environments, hidden folders, and files of variables, whose values
stand in no record in any form.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from webdyno.analyse.words import listing
from webdyno.model.errors import UsageError
from webdyno.model.tried import Sources

MOST_FILES = 5_000
"""Of a folder that has more (somebody's home), the first in order are looked at."""
LARGE_BYTES = 256 * 2**10
"""From here on a file is what its length and time say: pictures, programs, data."""
SHOWN = 3
_NOT_ITS_OWN = ("node_modules", "__pycache__")

Stamps = Mapping[str, tuple[int, int]]
"""Time and length of files, by name."""


def stamps(folder: Path) -> Stamps:
    """Of the files below ``folder``."""
    return _stamps(folder, islice(_names(folder), MOST_FILES))


def stamps_of_command(words: Sequence[str], folder: Path, path: str) -> Stamps:
    """Of what a command line names outside of ``folder``, its program first: that is measured with the project."""
    program = [] if not words or "/" in words[0] else [shutil.which(words[0], path=path)]
    named = [name for name in [*program, *words] if name and "/" in name]
    return _stamps(folder, [name for name in named if not Path(os.path.normpath(folder / name)).is_relative_to(folder)])


def sources(folder: Path, before: Stamps) -> Sources:
    """Those of ``before`` that are as they were then."""
    looked_ns = time.time_ns()
    names = [name for name, stamp in before.items() if _stamp(folder / name) == stamp]
    return Sources(names=names, digest=_digest(folder, names), looked_ns=looked_ns)


def refuse_changed(found: Sources, folder: Path, results: Path) -> None:
    """UsageError where the files of a project are no longer as ``results`` were measured with."""
    if _digest(folder, found.names) == found.digest:
        return
    changed = [name for name in found.names if _is_later(folder / name, found.looked_ns)]
    more = [f"{len(changed) - SHOWN} more"] if len(changed) > SHOWN else []
    named = f" ({listing([*changed[:SHOWN], *more])})" if changed else ""
    raise UsageError(
        f"{results}: the project's files have changed since it began{named}, and runs of two applications are "
        "not compared: restore them, or start over without --resume"
    )


def _stamps(folder: Path, names: Iterable[str]) -> Stamps:
    found = ((name, _stamp(folder / name)) for name in names)
    return {name: stamp for name, stamp in found if stamp is not None}


def _names(folder: Path) -> Iterator[str]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if _is_its_own(Path(where) / name))
        yield from (str((Path(where) / name).relative_to(folder)) for name in sorted(files) if not _has_variables(name))


def _is_its_own(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in _NOT_ITS_OWN
    return not hidden and not (folder / "pyvenv.cfg").exists()


def _has_variables(name: str) -> bool:
    return name.startswith(".env")


def _stamp(path: Path) -> tuple[int, int] | None:
    """None: there is no such file, or it is none to be read."""
    try:
        seen = path.stat()
    except OSError:
        return None
    return (seen.st_mtime_ns, seen.st_size) if stat.S_ISREG(seen.st_mode) else None


def _is_later(path: Path, looked_ns: int) -> bool:
    stamp = _stamp(path)
    return stamp is None or stamp[0] > looked_ns


def _digest(folder: Path, names: Iterable[str]) -> str:
    found = hashlib.sha256()
    for name in names:
        found.update(f"{name}\0{_content(folder / name)}\n".encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def _content(path: Path) -> str:
    """What says whether a file is the same."""
    stamp = _stamp(path)
    if stamp is None or stamp[1] >= LARGE_BYTES:
        return str(stamp)
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return str(error.errno)
