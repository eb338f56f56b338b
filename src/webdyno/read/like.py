"""Like: a Workload that asks what another asks, of a service that answers later. Pure.

It has the other's requests and service, and an app that answers the other answers it too, without a line in its file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from webdyno.model.workload import Workload
from webdyno.read.lines import Key
from webdyno.read.source import suggest


def like_faults(it: Workload, workloads: Mapping[str, Workload]) -> Iterator[tuple[Key, str]]:
    """What stands against ``it`` being like another one of ``workloads``."""
    if it.like is None:
        return
    other = workloads.get(it.like)
    if other is None:
        yield ("like",), f'there is no workload "{it.like}"; {suggest(it.like, workloads)}'
    elif other.like is not None:
        yield ("like",), f'"{it.like}" is like another one itself; name that: "{other.like}"'
    for key in ("requests", "service", "service_floor_ms"):
        if getattr(it, key):
            yield (key,), f'is that of "{it.like}"; remove it'
    if not it.delay_ms:
        yield ("delay_ms",), f'must be 1 or more, because with 0 it asks what "{it.like}" asks'


def filled_in(it: Workload, other: Workload) -> Workload:
    """``it`` with what it has of the one it is like."""
    return msgspec.structs.replace(
        it, requests=other.requests, service=other.service, service_floor_ms=other.service_floor_ms
    )


def answered(names: Sequence[str], workloads: Mapping[str, Workload]) -> list[str]:
    """Workloads that are answered where those of ``names`` are: the same, and those that are like them."""
    alike = [name for name, each in workloads.items() if each.like in names]
    return list(dict.fromkeys([*names, *alike]))
