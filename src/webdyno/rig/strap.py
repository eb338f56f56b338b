"""Strap: the with-block every measurement stands in.

On the way in: the machine's lock (two webdynos at once would measure each other), sweeping up after a webdyno that was
killed (also of what it had set to make the machine quiet), cores by role, the way to make cgroups, the machine's
fingerprint. On the way out, however it is left: every process started in it is ended, every cgroup and temporary
folder removed.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from webdyno.model.errors import MachineError
from webdyno.model.rig import Fingerprint, Rig
from webdyno.model.way import WayName
from webdyno.rig.cgroup_way import Cgroups, find_cgroups, no_cgroups
from webdyno.rig.containers import Containers, Limits, find_containers
from webdyno.rig.cores import Roles, Side, move_to, roles, usable_cores
from webdyno.rig.daemons import Daemons
from webdyno.rig.far import FarHost
from webdyno.rig.fingerprint import read_fingerprint
from webdyno.rig.group import Group
from webdyno.rig.here import Here
from webdyno.rig.host import Command, Host
from webdyno.rig.ledger import Ledger, sweep
from webdyno.rig.lock import Waiting, machine_lock
from webdyno.rig.network import own_network
from webdyno.rig.process import set_dumpable, set_subreaper
from webdyno.rig.quieted import put_back_left
from webdyno.rig.throwaway import ThrowawayUsers

Fit = Callable[[FarHost], object]
"""UsageError, MachineError where a host has not what the plan needs of it."""


class Strapped(Here):
    """A Host whose contender, driver and services get the Rig's cores and cgroups."""

    address = "127.0.0.1"
    """Where contenders listen."""
    far: Sequence[FarHost] = ()
    """The hosts of the drivers, where those are others."""
    daemons: Daemons | None = None
    """Of what carries calls there."""
    spare: Callable[[Fit], FarHost] | None = None
    """Takes a host for drivers instead of one that is lost; MachineError where there is none that fits."""

    def __init__(
        self,
        rig: Rig,
        fingerprint: Fingerprint,
        swept: list[str],
        cgroups: Cgroups,
        ledger: Ledger,
        *,
        owns_process: bool = False,
        containers: Containers | None = None,
        users: ThrowawayUsers | None = None,
        outside: int = 0,
    ) -> None:
        every = tuple(usable_cores())
        super().__init__(
            token=ledger.token,
            cores={
                "contender": rig.contender_cores,
                "driver": rig.driver_cores,
                "service": rig.service_cores,
                "build": every,
                "tool": every,
            },
            cgroups=cgroups,
            memory_bytes=rig.memory_bytes,
            ledger=ledger,
            owns_process=owns_process,
            cpus=_quota(rig.cpus, rig.contender_cores),
            contain=None if containers is None else containers.wrapped,
            users=users,
            outside=outside,
        )
        self.rig = rig
        self.fingerprint = fingerprint
        self.swept = swept
        """What a killed webdyno had left, one sentence each."""
        self.interrupted = threading.Event()
        """Set when the user wants an end; all that works on this machine looks at it."""
        self._containers = containers

    def part(
        self, far: Sequence[FarHost], rig: Rig, fingerprint: Fingerprint, address: str, daemons: Daemons | None
    ) -> None:
        """From now on drivers are started on ``far``, and contenders listen on ``address``, where it reaches them."""
        self.rig, self.fingerprint = rig, fingerprint
        self.address, self.daemons = address, daemons
        self._load_from(far)

    def _load_from(self, far: Sequence[FarHost]) -> None:
        self.far = far
        if far:
            names = ", ".join(host.name for host in far)
            self.rig = msgspec.structs.replace(self.rig, driver_cores=far[0].cores, driver_host=names)

    @property
    def lost(self) -> str:
        """Why a host of the drivers is lost; empty where none is."""
        return next((host.lost for host in self.far if host.lost), "")

    def replace_lost(self, fit: Fit) -> list[str]:
        """Take another host, which has to ``fit``, for each that is lost; what is to be said of it. MachineError."""
        if self.spare is None or not self.lost:
            return []
        before = self.far
        self._load_from([self.spare(fit) if host.lost else host for host in before])
        changed = [(old.name, new.name) for old, new in zip(before, self.far, strict=True) if old is not new]
        return [f"{old} is lost: load comes from {new} from now on" for old, new in changed]

    @property
    def of_drivers(self) -> Host:
        """The host that a single driver is started on."""
        return self.far[0] if self.far else self

    def start(self, command: Command) -> Group:
        """On the host of its role."""
        if self.far and command.role == "driver":
            return self.far[0].start(command)
        return super().start(command)

    def end_all(self) -> list[str]:
        """As any Host, and what an engine still has of ours."""
        try:
            return super().end_all()
        finally:
            if self._containers is not None:
                self._containers.close()


@contextlib.contextmanager
def strap(
    memory_bytes: int | None,
    cache: Path,
    cores: int | None = None,
    waiting: Waiting | None = None,
    *,
    way: WayName | None = None,
    cpus: float | None = None,
    side: Side | None = None,
    as_user: bool = False,
) -> Iterator[Strapped]:
    """Take the machine; contenders get ``cores`` of those there are for them, or all, and ``cpus`` of their time.

    MachineError when another webdyno has it, and nobody is ``waiting``, or what is asked cannot be had here. ``side``:
    what of contender and driver is here; None: both, and then ``as_user`` also takes the thread into another network.
    """
    with machine_lock(waiting), contextlib.ExitStack() as ending:  # each step is taken, whatever those before it meet
        swept, fingerprint = _swept(cache), read_fingerprint()
        every, placed = usable_cores(), roles(cores, side)
        users = _users(way, cache) if as_user else None
        outside = ending.enter_context(own_network()) if as_user and side is None else 0
        ledger = Ledger(cache / "rig", secrets.token_hex(4))
        ending.callback(ledger.close)
        is_guest = set_dumpable(False)  # the program webdyno hides from its start on
        ending.callback(set_dumpable, is_guest)
        ending.callback(set_subreaper, set_subreaper(True))
        ending.callback(move_to, every)
        cgroups = _cgroups(way, _quota(cpus, placed.contender), ledger)
        limits = _limits(placed.contender, memory_bytes, cpus)
        containers = find_containers(_tools(ledger), cache, limits) if way == "container" else None
        rig = _rig(placed, memory_bytes, cpus, cgroups, containers)
        rig = msgspec.structs.replace(rig, as_user=as_user, own_network=outside != 0)
        made = (rig, fingerprint, swept, cgroups, ledger)
        strapped = Strapped(*made, owns_process=not is_guest, containers=containers, users=users, outside=outside)
        try:
            move_to(placed.control)
            _prove(strapped, as_user)
            yield strapped
        finally:
            strapped.end_all()


def _swept(cache: Path) -> list[str]:
    """What a killed webdyno had left, one sentence each."""
    folder = cache / "rig"
    folder.mkdir(parents=True, exist_ok=True)
    return [*sweep(folder), *put_back_left()]


def _cgroups(way: WayName | None, quota: float | None, ledger: Ledger) -> Cgroups:
    """Those of ``way``; MachineError where it cannot be had, or nothing can hold a contender to its ``quota``."""
    if way == "bare" and quota is not None:
        raise MachineError(f"--cpus {quota:g} cannot be enforced bare: choose --way cgroup or --way container")
    if way == "bare":
        return no_cgroups()
    found = find_cgroups(ledger.token, ledger, quota=quota is not None and way != "container")
    if found.kind == "none" and way != "container":
        if way == "cgroup":
            raise MachineError(f"--way cgroup: {found.reason}; or choose another way: --way container or bare")
        if quota is not None:
            raise MachineError(f"--cpus {quota:g} cannot be enforced here: {found.reason}; or try --way container")
    return found


def _limits(cores: tuple[int, ...], memory_bytes: int | None, cpus: float | None) -> Limits:
    """Of a container: as much CPU time as there are cores, where no less is asked."""
    return Limits(cores=cores, cpus=_quota(cpus, cores) or len(cores), memory_bytes=memory_bytes)


def _users(way: WayName | None, cache: Path) -> ThrowawayUsers:
    if way == "container":
        raise MachineError(
            "--as-user and --way container exclude each other: a container keeps a contender to limits, not from your "
            "files; choose --way cgroup or bare, or --no-as-user"
        )
    return ThrowawayUsers(cache)


def prove_users(cache: Path) -> None:
    """MachineError where nothing can be started as a throw-away user."""
    with own_network() as outside:
        _prove(Here(users=ThrowawayUsers(cache), outside=outside), True)


def _prove(host: Here, as_user: bool) -> None:
    """What can fail for every throw-away user is to fail before anything is built; MachineError."""
    if not as_user:
        return
    home = host.folder()
    command = Command(argv=["/bin/sh", "-c", ":"], cwd=home, environment={"HOME": str(home)}, role="contender")
    try:
        host.start(command).end(1.0)
    finally:
        host.drop(home)


def _tools(ledger: Ledger) -> Here:
    """A Host for an engine's commands, which have to do with no Rig."""
    return Here(token=ledger.token, ledger=ledger)


def _quota(cpus: float | None, cores: Sequence[int]) -> float | None:
    """None where the cores are the limit already."""
    return None if cpus is None or cpus >= len(cores) else cpus


def _rig(
    placed: Roles, memory_bytes: int | None, cpus: float | None, cgroups: Cgroups, containers: Containers | None
) -> Rig:
    return Rig(
        contender_cores=placed.contender,
        driver_cores=placed.driver,
        control_cores=placed.control,
        service_cores=placed.service,
        memory_bytes=memory_bytes,
        cgroup=cgroups.kind if containers is None else containers.kind,
        cgroup_reason=cgroups.reason if containers is None else "",
        cpus=cpus if containers is None else containers.limits.cpus,
        container="" if containers is None else containers.version,
    )
