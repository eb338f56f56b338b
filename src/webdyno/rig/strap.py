"""Strap: the with-block every measurement stands in.

On the way in: the machine's lock (two webdynos at once would measure each other), sweeping up after a webdyno that
was killed, cores by role, the way to make cgroups, the machine's fingerprint. On the way out, however it is left:
every process started in it is ended, every cgroup and temporary folder removed.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path

from webdyno.model.rig import Fingerprint, Rig
from webdyno.rig.cgroup_way import Cgroups, find_cgroups
from webdyno.rig.cores import Roles, Side, move_to, roles, usable_cores
from webdyno.rig.daemons import Daemons
from webdyno.rig.far import FarHost
from webdyno.rig.fingerprint import read_fingerprint
from webdyno.rig.group import Group
from webdyno.rig.here import Here
from webdyno.rig.host import Command, Host
from webdyno.rig.ledger import Ledger, sweep
from webdyno.rig.lock import Waiting, machine_lock
from webdyno.rig.process import set_dumpable, set_subreaper


class Strapped(Here):
    """A Host whose contender, driver and services get the Rig's cores and cgroups."""

    def __init__(
        self,
        rig: Rig,
        fingerprint: Fingerprint,
        swept: list[str],
        cgroups: Cgroups,
        ledger: Ledger,
        *,
        owns_process: bool = False,
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
        )
        self.rig = rig
        self.fingerprint = fingerprint
        self.swept = swept
        """What a killed webdyno had left, one sentence each."""
        self.interrupted = threading.Event()
        """Set when the user wants an end; all that works on this machine looks at it."""
        self.address = "127.0.0.1"
        """Where contenders listen."""
        self.far: FarHost | None = None
        """The host of the drivers, where that is another one."""
        self.daemons: Daemons | None = None
        """Of what carries calls there."""

    def part(self, far: FarHost, rig: Rig, fingerprint: Fingerprint, address: str, daemons: Daemons | None) -> None:
        """From now on drivers are started on ``far``, and contenders listen on ``address``, where it reaches them."""
        self.far, self.rig, self.fingerprint = far, rig, fingerprint
        self.address, self.daemons = address, daemons

    @property
    def of_drivers(self) -> Host:
        """The host that drivers are started on."""
        return self.far or self

    def start(self, command: Command) -> Group:
        """On the host of its role."""
        if self.far is not None and command.role == "driver":
            return self.far.start(command)
        return super().start(command)


@contextlib.contextmanager
def strap(
    memory_bytes: int | None,
    cache: Path,
    cores: int | None = None,
    waiting: Waiting | None = None,
    side: Side | None = None,
) -> Iterator[Strapped]:
    """Take the machine; contenders get ``cores`` of those there are for them, or all. MachineError when another
    webdyno has it, and nobody is ``waiting``. ``side``: what of contender and driver is here; None: both.
    """
    with machine_lock(waiting):
        folder = cache / "rig"
        folder.mkdir(parents=True, exist_ok=True)
        swept = sweep(folder)
        fingerprint = read_fingerprint()
        every = usable_cores()
        placed = roles(cores, side)
        ledger = Ledger(folder, secrets.token_hex(4))
        subreaper_before = set_subreaper(True)
        is_guest = set_dumpable(False)  # the program webdyno hides from its start on
        strapped = None
        try:
            cgroups = find_cgroups(ledger.token, ledger)
            rig = _rig(placed, memory_bytes, cgroups)
            strapped = Strapped(rig, fingerprint, swept, cgroups, ledger, owns_process=not is_guest)
            move_to(placed.control)
            yield strapped
        finally:
            with contextlib.ExitStack() as ending:  # each step is taken, whatever those before it meet
                ending.callback(ledger.close)
                ending.callback(set_dumpable, is_guest)
                ending.callback(set_subreaper, subreaper_before)
                ending.callback(move_to, every)
                if strapped is not None:
                    strapped.end_all()


def _rig(placed: Roles, memory_bytes: int | None, cgroups: Cgroups) -> Rig:
    return Rig(
        contender_cores=placed.contender,
        driver_cores=placed.driver,
        control_cores=placed.control,
        service_cores=placed.service,
        memory_bytes=memory_bytes,
        cgroup=cgroups.kind,
        cgroup_reason=cgroups.reason,
    )
