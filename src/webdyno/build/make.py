"""Build one contender: each part from the cache, or made and published."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

from webdyno.build.cache import Complete, alone, clear, complete, explained, publish
from webdyno.build.mismatch import MismatchError
from webdyno.build.order import Order, Part
from webdyno.build.recipes import RECIPES
from webdyno.build.tool import Workshop
from webdyno.model.built import Built, Found
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import BuildError
from webdyno.rig.host import Host

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What a served process finds behind its own programs: the same for everyone, whatever the user's PATH is."""


def build(
    contender: Contender,
    app: App,
    runtime: Runtime,
    found: Found,
    sources: Path,
    lock: Path | None,
    cache: Path,
    host: Host,
    interrupted: Event | None = None,
) -> Built:
    """``contender``, ready to be served; BuildError, and KeyboardInterrupt once ``interrupted`` is set."""
    order = Order(contender, app, runtime, found, sources, lock, cache, host, interrupted or Event())
    recipe = RECIPES.get(runtime.kind)
    if recipe is None:
        raise BuildError(f"webdyno cannot build for {runtime.kind} yet")
    try:
        with explained(cache):
            return assemble(order, recipe.parts(order))
    except BuildError as error:
        if contender.needs is None or isinstance(error, MismatchError):
            raise
        raise BuildError(f"{error}; system requirements: {contender.needs}", error.log_tail) from None


def folders_of(job: Sequence[Any], cache: Path, host: Host) -> list[Path]:
    """Where the parts of a ``Job`` lie, or will once they are made; none where it cannot be built."""
    contender, app, runtime, found, sources, lock = job
    order = Order(contender, app, runtime, found, sources, lock, cache, host)
    try:
        return [cache / part.name / part.key for part in RECIPES[order.runtime.kind].parts(order)]
    except (BuildError, KeyError):
        return []


def assemble(order: Order, parts: list[Part]) -> Built:
    """What ``parts`` make together, each from the cache or made now; the last is the folder served from. BuildError."""
    key = _key(parts, order.found)
    workshop = _workshop(order, key)
    folders, versions, seconds = [], {order.runtime.name: order.found.version}, 0.0
    for part in parts:
        folder = order.cache / part.name / part.key
        marker, took = _from_cache_or_made(part, folder, workshop)
        folders.append(folder)
        versions |= marker.versions
        seconds += took
    # Last: a program's own word beats a gem's name.
    versions |= {each.runtime: each.version for each in order.found.beside}
    return Built(
        contender=order.contender.name,
        key=key,
        directory=str(folders[-1]),
        environment=_environment(parts, folders, order.found),
        versions=versions,
        log=str(workshop.log),
        seconds=seconds,
    )


def _key(parts: list[Part], found: Found) -> str:
    """Hash of all that is served, programs of the system beside it included."""
    beside = [f"{each.program}:{each.version}" for each in found.beside]
    return hashlib.sha256("".join([*(part.key for part in parts), *beside]).encode()).hexdigest()[:24]


def _environment(parts: list[Part], folders: list[Path], found: Found) -> dict[str, str]:
    """What the served process needs to find all that was built."""
    own = [part.variables(folder) for part, folder in zip(parts, folders, strict=True)]
    return {**{name: text for each in own for name, text in each.items()}, "PATH": _path(parts, folders, found)}


def _path(parts: list[Part], folders: list[Path], found: Found) -> str:
    """The contender's own programs first, then those of its runtimes, then the system's."""
    own = [
        str(folder / part.programs) for part, folder in zip(parts, folders, strict=True) if part.programs is not None
    ]
    theirs = [str(Path(each.program).parent) for each in (found, *found.beside)]
    return ":".join(dict.fromkeys([*own, *theirs, *SYSTEM_PATH.split(":")]))


def _workshop(order: Order, key: str) -> Workshop:
    log = order.cache / "logs" / f"{order.contender.name}-{key}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.touch()
    return Workshop(order.host, log, order.interrupted, begins=log.stat().st_size, lock=order.lock)


def _from_cache_or_made(part: Part, folder: Path, workshop: Workshop) -> tuple[Complete, float]:
    """What is in ``folder``, and the seconds it took to make it now (0.0: it was there)."""
    if marker := complete(folder):
        return marker, 0.0
    with alone(folder, workshop.interrupted):
        if marker := complete(folder):  # somebody else has made it while we waited
            return marker, 0.0
        clear(folder)
        began = time.monotonic()
        versions = part.make(folder, workshop)
        seconds = time.monotonic() - began
        marker = Complete(versions=versions, seconds=seconds)
        publish(folder, marker)
        return marker, seconds
