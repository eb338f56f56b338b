"""Far: a study on two machines. This one has the contenders, and so whatever is built, started, verified and sampled;
the load tools are started on another host, by whatever carries calls there. A host that is lost is replaced by one that
is like it, where the cluster has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

import msgspec

from webdyno.model.errors import MachineError, UsageError
from webdyno.model.place import Cluster
from webdyno.model.way import WayName
from webdyno.rig.by_ray import Attached, attached
from webdyno.rig.daemons import confined
from webdyno.rig.far import FarHost
from webdyno.rig.reach import Reached, answering
from webdyno.rig.strap import Fit, Strapped, strap
from webdyno.session.agent import About, Agent, about_here, error_of, refuse_other_versions
from webdyno.session.folders import cache_folder
from webdyno.session.waiting import waiting


@contextmanager
def strap_apart(
    cluster: Cluster,
    memory_bytes: int | None,
    cores: int | None = None,
    *,
    way: WayName | None = None,
    as_user: bool = False,
    cpus: float | None = None,
    wait: bool = False,
) -> Iterator[Strapped]:
    """This machine for contenders, another host of ``cluster`` for drivers. UsageError, MachineError."""
    taken_here = strap(
        *(memory_bytes, cache_folder(), cores, waiting(wait)), way=way, as_user=as_user, cpus=cpus, side="contender"
    )
    with (
        attached(cluster) as node,
        node.placed(Agent, error_of, cluster.hosts) as far,
        taken_here as strapped,
        confined(node.sign, strapped.rig.control_cores) as daemons,
        taken(far, node.sign) as abouts,
        ExitStack() as later,
    ):
        rig = msgspec.structs.replace(
            strapped.rig,
            carrier=node.version,
            carrier_confined=daemons is not None and daemons.are_confined,
        )
        fingerprint = msgspec.structs.replace(strapped.fingerprint, driver=abouts[0].fingerprint)
        strapped.part(far, rig, fingerprint, node.address, daemons)
        strapped.spare = Spares(node, abouts[0], far, later).take
        yield strapped


class Spares:
    """Hosts of the cluster that make no load as yet, for those that are lost. They are given back with ``ending``.

    An agent stands on the next one from the start, and does nothing: it would take seconds to start one.
    """

    def __init__(self, node: Attached, like: About, far: Sequence[FarHost], ending: ExitStack) -> None:
        self._node, self._like, self._ending = node, like, ending
        self._tried = {host.name for host in far}
        self._standing: dict[str, FarHost] = {}
        with suppress(MachineError):  # which is found again when it is needed
            for address in self._left()[:1]:
                self._agent_on(address)

    def take(self, fit: Fit) -> FarHost:
        """The next one that is like those before, and has to ``fit``. MachineError, with why each other does not."""
        reasons = []
        for address in self._left():
            self._tried.add(address)
            try:
                return self._taken(address, fit)
            except (MachineError, UsageError) as error:
                reasons.append(str(error))
        raise MachineError("; ".join(["the cluster has no other host for the load", *reasons]))

    def _left(self) -> list[str]:
        return [address for address in self._node.for_load() if address not in self._tried]

    def _agent_on(self, address: str) -> FarHost:
        if address not in self._standing:
            (host,) = self._ending.enter_context(self._node.placed(Agent, error_of, host=address))
            self._standing[address] = host
        return self._standing[address]

    def _taken(self, address: str, fit: Fit) -> FarHost:
        host = self._agent_on(address)
        with ExitStack() as trying:
            (about,) = trying.enter_context(taken([host], self._node.sign))
            if (here := _kind(about)) != (before := _kind(self._like)):
                raise UsageError(f"{address} has {here}, and the load came from {before}")
            fit(host)
            self._ending.enter_context(trying.pop_all())
        return host


def _kind(about: About) -> str:
    """What of a host decides how much load it can make."""
    it, cores = about.fingerprint, len(about.rig.driver_cores) if about.rig else 0
    return f"{it.cpu_model} ({it.architecture}, threads per core: {it.threads_per_core}), {cores} of {it.cores} cores"


@contextmanager
def hosts_of_load(cluster: Cluster) -> Iterator[list[FarHost]]:
    """Other hosts of ``cluster``, taken for drivers; nothing is started on this one. UsageError, MachineError."""
    listening = msgspec.structs.replace(cluster, allow_public=True)  # no contender of ours
    with attached(listening) as node, node.placed(Agent, error_of, cluster.hosts) as far, taken(far, node.sign):
        yield far


@contextmanager
def taken(far: Sequence[FarHost], sign: str) -> Iterator[list[About]]:
    """All of them strapped for drivers, and given back afterwards. UsageError for other versions than ours."""
    with ExitStack() as ending:
        abouts: list[About] = []
        for host in far:
            ending.callback(host.give_back)
            abouts.append(host.take(sign))
            refuse_other_versions(abouts[-1], host.name)
        yield abouts


class HostLook(msgspec.Struct, frozen=True, kw_only=True):
    """One host of a cluster, and what lies between it and this one."""

    address: str
    about: About
    reached: Reached | None = None
    """None for this one."""
    clock_ahead_ns: int | None = None
    """Of its monotonic clock before ours, which is taken off all that is read there."""
    clock_error_ns: int | None = None
    """That this may be wrong by at most."""


def look_at_hosts(cluster: Cluster) -> list[HostLook]:
    """Every host that lives, this one first. UsageError, MachineError."""
    with attached(cluster) as node:
        found = [HostLook(address=node.address, about=about_here())]
        for address in node.others():
            with node.placed(Agent, error_of, host=address) as (far,), answering(node.address) as port:
                ahead_ns, error_ns = far.clock_ahead_ns(), far.round_trip_ns() // 2
                look = HostLook(
                    address=address,
                    about=far.about(),
                    reached=far.reach(node.address, port),
                    clock_ahead_ns=ahead_ns,
                    clock_error_ns=error_ns,
                )
                found.append(look)
        return found
