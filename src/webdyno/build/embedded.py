"""Embedded: a service that webdyno builds by itself, by the recipe of its runtime, as if it were a contender's app."""

from __future__ import annotations

from pathlib import Path
from threading import Event

from webdyno.build.make import build
from webdyno.model.built import Built
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import BuildError
from webdyno.model.service import FoundService
from webdyno.rig.host import Host


def build_embedded(
    found: FoundService,
    runtime: Runtime,
    sources: Path | None,
    cache: Path,
    host: Host,
    interrupted: Event | None = None,
) -> Built:
    """The embedded server of ``found``, ready to be started; BuildError."""
    name, way = found.service.name, found.way
    if sources is None or found.runtime is None:
        raise BuildError(f"service {name} has no folder with the sources of its embedded server")
    app = App(
        name=name,
        language=runtime.language,
        interface="native",
        framework="none",
        requires=way.requires,
        answers=[],
        build=way.build,
    )
    as_contender = Contender(
        name=f"service-{name}",
        app=name,
        runtime=runtime.name,
        server=way.server or name,
        model="",
        serve=way.serve,
        because="",
        author="",
    )
    return build(as_contender, app, runtime, found.runtime, sources, None, cache, host, interrupted)
