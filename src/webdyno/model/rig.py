"""Rig and Fingerprint: which cores and how much memory each role gets, how that is enforced, and what machine it is.

Placement is part of every result: client and server on one core or on two changes the cost of both by more than the
choice of engine does, so Runs of different placements are never compared.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from webdyno.model.verdict import Estimate
from webdyno.model.way import WayName

CgroupKind = Literal["v2", "v1", "none"]


class Rig(msgspec.Struct, frozen=True, kw_only=True):
    """Cores by role (numbers as the kernel counts them), the memory limit, and the means that enforce them."""

    contender_cores: tuple[int, ...]
    driver_cores: tuple[int, ...]
    control_cores: tuple[int, ...]
    """For webdyno itself; may overlap the driver's on small machines."""
    service_cores: tuple[int, ...]
    memory_bytes: int | None
    """Limit on the contender's memory; None: no limit was asked."""
    cgroup: CgroupKind
    """What enforces cores and memory; none: affinity only, and no memory limit."""
    cgroup_reason: str = ""
    """Why cgroup is none, for the Doubt."""
    cpus: float | None = None
    """Limit on the contender's CPU time, in cores' worth: a quota; None: no limit was asked."""
    container: str = ""
    """The engine that put the contender into a container, with its version; empty: it was in none."""
    as_user: bool = False
    """Contenders and services ran as throw-away users, who see nothing of the user's."""
    own_network: bool = False
    """All of it was in a network of its own, which has only loopback."""
    contender_host: str = ""
    """The machine of a fleet that all of it ran on, by its address; empty: the one that webdyno was started on."""
    contender_machine: str = ""
    """What kind of machine that is (``Fingerprint.kind``)."""
    driver_host: str = ""
    """The machine that the driver ran on, by its address; empty: the contender's."""
    carrier: str = ""
    """What started it there: ``Ray 2.60.0``."""
    carrier_confined: bool | None = None
    """Whether its daemons on the contender's machine were kept on the control cores; None: there are none."""

    @property
    def way(self) -> WayName:
        """How the contender was kept to cores and limits."""
        return "container" if self.container else "bare" if self.cgroup == "none" else "cgroup"

    @property
    def shares_cores(self) -> bool:
        """True when driver and contender have a core in common."""
        return bool(set(self.contender_cores) & set(self.own_driver_cores))

    @property
    def own_driver_cores(self) -> tuple[int, ...]:
        """Those of the contender's machine that the driver ran on."""
        return () if self.driver_host else self.driver_cores


class Ceiling(msgspec.Struct, frozen=True, kw_only=True):
    """The most the engine reached here, looping over some connections at a server that answers at once."""

    connections: int
    threads: int
    """Of the engine."""
    rate: Estimate
    """Correct answers per second, with the interval over rounds."""
    engine_busy: float
    """Share of its processors the engine used: well below 1, it was the server or the kernel that was the limit."""


class Fingerprint(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine is, read once per command; None means it could not be read."""

    hostname: str
    cpu_model: str
    architecture: str
    cores: int
    cores_usable: int
    threads_per_core: int | None
    governor: str | None
    turbo: bool | None
    memory_bytes: int
    swap_bytes: int
    kernel: str
    distribution: str
    mitigations: dict[str, str]
    virtualisation: str | None
    """kvm, docker, wsl ...: what lies between us and the metal; None when nothing was found."""
    cgroup: str
    """As mounted: v1, v2 or hybrid."""
    clocksource: str | None
    open_files_limit: int
    port_range: tuple[int, int] | None
    load_before: float
    """One-minute load average before the start."""
    webdyno: str
    python: str
    ceilings: list[Ceiling] = []
    """What ``webdyno doctor --calibrate`` found on this machine; empty: it was never asked."""
    driver: Fingerprint | None = None
    """The machine that the drivers ran on; None: this one."""
    fleet: dict[str, Fingerprint] = {}
    """The machines of a fleet, by address; this is then the first of them. Empty: there was one machine."""

    @property
    def kind(self) -> str:
        """Machines of one kind may share a study, and builds."""
        cores = f"{self.cores_usable} of {self.cores} cores"
        return f"{self.cpu_model}, {cores}, {self.architecture}, Linux {self.kernel}, {self.distribution}"


def changes(before: Fingerprint, after: Fingerprint) -> dict[str, tuple[object, object]]:
    """What differs between two machines (or one machine at two times) by field, as before and after.

    Its load apart, and its ceilings, which were measured on it and are no part of it.
    """
    before, after = _without_load(before), _without_load(after)
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in Fingerprint.__struct_fields__)
    return {name: (old, new) for name, old, new in pairs if old != new and name not in ("load_before", "ceilings")}


def _without_load(machine: Fingerprint) -> Fingerprint:
    driver = machine.driver and msgspec.structs.replace(machine.driver, load_before=0.0)
    fleet = {name: msgspec.structs.replace(each, load_before=0.0) for name, each in machine.fleet.items()}
    return msgspec.structs.replace(machine, driver=driver, fleet=fleet)
