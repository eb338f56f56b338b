"""Build the contenders of a command, several at once, and say what happens while it takes its time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

import msgspec

from webdyno.analyse.words import length
from webdyno.build import Job, build_all
from webdyno.model.built import Built, Found
from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import Contender
from webdyno.model.errors import BuildError
from webdyno.rig.strap import Strapped
from webdyno.session.folders import cache_folder
from webdyno.session.saying import say


def build_contenders(
    names: list[str], known: Catalogue, found: Mapping[str, Found], strapped: Strapped
) -> dict[str, Built | BuildError]:
    """Each contender built, or why it could not be; one failure stops nobody else."""
    clock = time.monotonic()
    jobs = jobs_of(names, known, found)
    built = build_all(jobs, cache_folder(), strapped, strapped.interrupted, say_built)
    fresh = [result for result in built.values() if isinstance(result, Built) and result.seconds]
    if fresh:
        say(f"built {len(fresh)} of {len(jobs)} contenders in {length(time.monotonic() - clock)}")
    return built


def jobs_of(names: Iterable[str], known: Catalogue, found: Mapping[str, Found]) -> list[Job]:
    """What building them is made of."""
    return [
        Job(
            contender=known.contenders[name],
            app=known.apps[known.contenders[name].app],
            runtime=known.runtimes[known.contenders[name].runtime],
            found=_found(known.contenders[name], found),
            sources=known.app_directories[known.contenders[name].app],
            lock=known.locks.get(name),
        )
        for name in names
    ]


def _found(contender: Contender, found: Mapping[str, Found]) -> Found:
    """Its runtime, with what it is served with besides."""
    return msgspec.structs.replace(found[contender.runtime], beside=[found[name] for name in contender.beside])


def say_built(name: str, result: Built | BuildError) -> None:
    """One line for what was built just now, or could not be."""
    if isinstance(result, BuildError):
        say(f"build of {name} failed: {result}")
    elif result.seconds:
        say(f"built {name} in {length(result.seconds)}")
