"""The machine, for as long as a command measures on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

from webdyno.model.load import Load
from webdyno.model.place import Cluster
from webdyno.model.study import StudyLoad
from webdyno.model.way import WayName
from webdyno.rig.strap import Strapped, strap
from webdyno.session.folders import cache_folder
from webdyno.session.interrupts import listening_for_interrupts
from webdyno.session.saying import note
from webdyno.session.waiting import waiting


@contextmanager
def strapped_here(
    memory_bytes: int | None,
    cores: int | None = None,
    *,
    way: WayName | None = None,
    as_user: bool = False,
    cpus: float | None = None,
    wait: bool = False,
    far: Cluster | None = None,
) -> Iterator[Strapped]:
    """The machine as ``strap`` takes it, interrupted by a Ctrl-C; what was swept of a killed webdyno is told.

    ``far``: drivers are started on another host of it.
    """
    if far is None:
        taken = strap(memory_bytes, cache_folder(), cores, waiting(wait), way=way, as_user=as_user, cpus=cpus)
    else:
        from webdyno.session.far import strap_apart

        taken = strap_apart(far, memory_bytes, cores, way=way, as_user=as_user, cpus=cpus, wait=wait)
    with taken as strapped, listening_for_interrupts(event=strapped.interrupted):
        note(strapped.swept)
        yield strapped


def wide(far: Cluster | None, loads: Iterable[Load | StudyLoad]) -> Cluster | None:
    """``far``, with a host for each driver of the load that has the most."""
    most = max((load.drivers for load in loads), default=1)
    return None if far is None else msgspec.structs.replace(far, hosts=most)
