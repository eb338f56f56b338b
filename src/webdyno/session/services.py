"""Services for a command: which of them its workloads need, which this machine has, and the embedded ones built."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from webdyno.build import build_embedded, find_runtime
from webdyno.model.built import Built
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import BuildError
from webdyno.model.service import FoundService
from webdyno.model.workload import Workload
from webdyno.rig.host import Host
from webdyno.rig.strap import Strapped
from webdyno.service import find_service
from webdyno.session.builds import say_built
from webdyno.session.folders import cache_folder


def look_for_services(
    catalogue: Catalogue, workloads: Iterable[str], host: Host, *, apart: bool = False
) -> tuple[dict[str, FoundService], dict[str, str]]:
    """The services of ``workloads`` that can be had here; and of those workloads that cannot be asked here, why.

    ``apart``: contenders are in a network of their own, and reach only what is started there.
    """
    needed = dict.fromkeys(service for name in workloads if (service := catalogue.workloads[name].service))
    looked = {
        name: find_service(
            catalogue.services[name], os.environ, lambda runtime: find_runtime(catalogue.runtimes[runtime], host)
        )
        for name in needed
    }
    found = {name: result for name, result in looked.items() if isinstance(result, FoundService)}
    reasons = {name: _why_not(catalogue.workloads[name], looked, apart=apart) for name in workloads}
    return found, {name: reason for name, reason in reasons.items() if reason is not None}


def _why_not(workload: Workload, looked: Mapping[str, FoundService | str], *, apart: bool) -> str | None:
    """Why ``workload`` cannot be asked here; None: it can."""
    if workload.service is None:
        return None
    found = looked[workload.service]
    if isinstance(found, str):
        return found
    service = found.service
    if apart and found.way.kind == "url":
        return (
            f"the {service.title} that {service.variable} names is out of reach of throw-away users, whose network has "
            f"only loopback; unset {service.variable}, or use --no-as-user"
        )
    if not workload.delay_ms or found.way.delays:
        return None
    if found.way.kind == "url":
        return (
            f"the {service.title} that {service.variable} names is not slowed down, because others may need it; unset "
            f"{service.variable}, or slow the network to it (tc netem) and ask {workload.like or 'it without delay_ms'}"
        )
    return f"{found.program or found.way.server} cannot delay its answers; use it without delay_ms"


def build_services(
    found: Mapping[str, FoundService], known: Catalogue, strapped: Strapped
) -> dict[str, Built | BuildError]:
    """The embedded ones among ``found``, each built, or why it could not be."""
    results: dict[str, Built | BuildError] = {}
    for name, each in found.items():
        if each.runtime is None:
            continue
        runtime, sources = known.runtimes[each.runtime.runtime], known.service_directories.get(name)
        try:
            results[name] = build_embedded(each, runtime, sources, cache_folder(), strapped, strapped.interrupted)
        except BuildError as error:
            results[name] = error
        say_built(f"service {name}", results[name])
    return results
