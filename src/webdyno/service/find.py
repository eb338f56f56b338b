"""Find: the first way to have a service that this machine offers, or the one line that says how to get it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping

from webdyno.model.built import Found
from webdyno.model.errors import UsageError
from webdyno.model.service import FoundService, Service, Way
from webdyno.service.protocol import PROTOCOLS

FindRuntime = Callable[[str], Found | str]
"""By a runtime's name; text: one line why it is not there."""


def find_service(service: Service, environment: Mapping[str, str], find_runtime: FindRuntime) -> FoundService | str:
    """``service`` as it can be had here; text: one line why not. UsageError when the user's own URL cannot be one."""
    looked: list[str] = []
    for way in service.ways:
        found = _WAYS[way.kind](service, way, environment, find_runtime)
        if isinstance(found, FoundService):
            return found
        looked.append(found)
    return f"{service.title} was not found ({'; '.join(looked)}); to get it: {service.install}"


def _url(service: Service, way: Way, environment: Mapping[str, str], _: FindRuntime) -> FoundService | str:
    url = environment.get(service.variable)
    if not url:
        return f"{service.variable} is not set"
    try:
        PROTOCOLS[service.protocol](url)
    except ValueError as error:
        raise UsageError(f"{service.variable} in the environment {error}") from None
    return FoundService(service=service, way=way, url=url)


def _program(service: Service, way: Way, environment: Mapping[str, str], _: FindRuntime) -> FoundService | str:
    for name in way.find:
        if program := shutil.which(name, path=environment.get("PATH")):
            return FoundService(service=service, way=way, program=program)
    return f"no {' or '.join(way.find)} on PATH"


def _embedded(service: Service, way: Way, _: Mapping[str, str], find_runtime: FindRuntime) -> FoundService | str:
    runtime = find_runtime(way.runtime or "")
    if isinstance(runtime, Found):
        return FoundService(service=service, way=way, runtime=runtime)
    return f"for {way.server}: {runtime.partition('; to get it')[0]}"


_WAYS = {"url": _url, "program": _program, "embedded": _embedded}
