"""Strap: the with-block every measurement stands in.

On the way in: the machine's lock (two webdynos at once would measure each other), sweeping up after a webdyno that
was killed, cores by role, the way to make cgroups, the machine's fingerprint. On the way out, however it is left:
every process started in it is ended, every cgroup and temporary folder removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from webdyno.model.errors import MachineError
from webdyno.model.rig import Fingerprint, Rig
from webdyno.rig.cgroup_way import Cgroups, find_cgroups
from webdyno.rig.cores import Roles, move_to, roles, usable_cores
from webdyno.rig.fingerprint import read_fingerprint
from webdyno.rig.here import Here
from webdyno.rig.ledger import Ledger, sweep
from webdyno.rig.process import command_of, set_dumpable, set_subreaper


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


Waiting = Callable[[str], None]
"""Called again and again while another webdyno has the machine, with who that is: it waits a moment, or raises."""


@contextlib.contextmanager
def strap(
    memory_bytes: int | None, cache: Path, cores: int | None = None, waiting: Waiting | None = None
) -> Iterator[Strapped]:
    """Take the machine; contenders get ``cores`` of those there are for them, or all. MachineError when another
    webdyno has it, and nobody is ``waiting``.
    """
    with machine_lock(waiting):
        folder = cache / "rig"
        folder.mkdir(parents=True, exist_ok=True)
        swept = sweep(folder)
        fingerprint = read_fingerprint()
        every = usable_cores()
        placed = roles(cores)
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


@contextlib.contextmanager
def machine_lock(waiting: Waiting | None = None) -> Iterator[None]:
    """One webdyno at a time per machine (per temporary folder, to be exact); it ends with the process, however that
    ends. MachineError when another one has it, and nobody is ``waiting``.
    """
    named = os.environ.get("TMPDIR")
    if named and not os.access(named, os.W_OK | os.X_OK):
        raise MachineError(f"TMPDIR is {named}, where nothing can be written: make that folder, or name another one")
    path = Path(tempfile.gettempdir()) / "webdyno.lock"
    lock = _open_lock(path)
    try:
        while not _taken(lock):
            holder = _holder(lock)
            if waiting is None:
                raise MachineError(
                    f"another webdyno ({holder}) is measuring on this machine, and two would disturb each other; "
                    "wait until it has ended (--wait does), or end it"
                )
            waiting(holder)
        with contextlib.suppress(OSError):  # someone else's file that we may only read
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(lock)


def _taken(lock: int) -> bool:
    """Whether it is ours now."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(lock: int) -> str:
    """``pid 4711: webdyno run``, as far as it can be seen; no more of its command, for flags may hold secrets."""
    pid = os.pread(lock, 32, 0).decode(errors="replace").strip()
    words = command_of(int(pid)) if pid.isdecimal() else []
    ours = next((at for at, word in enumerate(words) if Path(word).name == "webdyno"), len(words))
    return ": ".join([f"pid {pid or 'unknown'}", *[f"webdyno {word}" for word in words[ours + 1 : ours + 2]]])


def _open_lock(path: Path) -> int:
    """Every user may hold it, so it is writable by all; the kernel refuses O_CREAT on others' files in such folders."""
    for flags in (os.O_RDWR, os.O_RDWR | os.O_CREAT | os.O_EXCL, os.O_RDWR, os.O_RDONLY):
        with contextlib.suppress(FileNotFoundError, FileExistsError, PermissionError):
            lock = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
            with contextlib.suppress(PermissionError):
                os.fchmod(lock, 0o666)
            return lock
    raise MachineError(f"the lock {path} cannot be opened; remove it, or set TMPDIR to a folder that can be written")
