"""Build several contenders, a few at once. One that fails is a result like any other; the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import NamedTuple

from webdyno.build.make import build
from webdyno.model.built import Built, Found
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import BuildError
from webdyno.rig.host import Host

Say = Callable[[str, Built | BuildError], None]
"""Called with a contender's name and its result as soon as there is one."""


class Job(NamedTuple):
    """One contender with all that belongs to it: the first arguments of ``build``, in its order."""

    contender: Contender
    app: App
    runtime: Runtime
    found: Found
    sources: Path
    lock: Path | None


def build_all(
    work: Sequence[Job],
    cache: Path,
    host: Host,
    interrupted: Event | None = None,
    say: Say = lambda *_: None,
    at_once: int = 2,
) -> dict[str, Built | BuildError]:
    """The result of each job by its contender's name; ``say`` is called in this thread.

    KeyboardInterrupt, and any error that is not a BuildError, sets ``interrupted``, waits until the builds that run
    have ended, and goes on to the caller.
    """
    stop = interrupted or Event()
    events: SimpleQueue[tuple[str, Built | BaseException]] = SimpleQueue()

    def one(job: Job) -> None:
        try:
            events.put((job.contender.name, build(*job, cache, host, stop)))
        except BaseException as error:  # whatever it is, it belongs to the caller's thread
            events.put((job.contender.name, error))

    results: dict[str, Built | BuildError] = {}
    with ThreadPoolExecutor(max_workers=at_once, thread_name_prefix="build") as pool:
        try:
            for job in work:
                pool.submit(one, job)
            for _ in work:
                name, event = events.get()
                if not isinstance(event, Built | BuildError):
                    raise event
                results[name] = event
                say(name, event)
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return results
