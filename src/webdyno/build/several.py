"""Build several contenders, a few at once. One that fails is a result like any other; the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import NamedTuple

from webdyno.build.make import build
from webdyno.model.built import Built, Found
from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import BuildError
from webdyno.rig.host import Host

Progress = Callable[[str, Built | BuildError | None], None]
"""Called with a contender's name and None when its build begins, and again with the result when it ends."""


class Job(NamedTuple):
    """One contender with all that belongs to it: the first arguments of ``build``, in its order."""

    contender: Contender
    app: App
    runtime: Runtime
    found: Found
    sources: Path
    lock: Path | None


def jobs(names: Iterable[str], catalogue: Catalogue, found: Mapping[str, Found]) -> list[Job]:
    """A Job for each of ``names``, whose runtimes must all be in ``found`` (by the runtime's name)."""
    return [
        Job(
            contender=contender,
            app=catalogue.apps[contender.app],
            runtime=catalogue.runtimes[contender.runtime],
            found=found[contender.runtime],
            sources=catalogue.app_directories[contender.app],
            lock=catalogue.locks.get(contender.name),
        )
        for contender in (catalogue.contenders[name] for name in names)
    ]


def build_all(
    work: Sequence[Job],
    cache: Path,
    host: Host,
    *,
    at_once: int = 2,
    progress: Progress = lambda *_: None,
    interrupted: Event | None = None,
) -> dict[str, Built | BuildError]:
    """The result of each job by its contender's name; ``progress`` is called in this thread.

    KeyboardInterrupt, and any error that is not a BuildError, sets ``interrupted``, waits until the builds that run
    have ended, and goes on to the caller.
    """
    stop = interrupted or Event()
    events: SimpleQueue[tuple[str, Built | BaseException | None]] = SimpleQueue()

    def one(job: Job) -> None:
        events.put((job.contender.name, None))
        try:
            events.put((job.contender.name, build(*job, cache, host, stop)))
        except BaseException as error:  # whatever it is, it belongs to the caller's thread
            events.put((job.contender.name, error))

    results: dict[str, Built | BuildError] = {}
    with ThreadPoolExecutor(max_workers=at_once, thread_name_prefix="build") as pool:
        try:
            for job in work:
                pool.submit(one, job)
            while len(results) < len(work):
                name, event = events.get()
                if event is not None and not isinstance(event, Built | BuildError):
                    raise event
                progress(name, event)
                if event is not None:
                    results[name] = event
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return results
