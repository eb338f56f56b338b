"""The machine's lock: one webdyno at a time, of all users, for two at once would measure each other.

What is locked is a folder that every Linux has and that only root can make, rename or replace: ``/run``, or ``/`` where
that will not do. Nothing is created, so nobody can put a link, a file or a folder in its place; it is the
same for root and all users, whatever their TMPDIR, and a root that is read only will do. The lock ends with the
process, however that ends. Who has it is asked of the kernel: what a file says, anybody could have written.

What an ill-meaning user of the machine can still do is to hold the lock, for those who may read a folder may lock it.
That is no more than any user can do anyway, which is to keep every core busy; the refusal names the process and its
user, and WEBDYNO_LOCK names another folder to lock. It helps containers too: each has a ``/run`` of its own, and a
folder mounted into all of them is a lock they share.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from webdyno.model.errors import MachineError
from webdyno.rig.process import command_of, name_of

VARIABLE = "WEBDYNO_LOCK"
PLACES = (Path("/run"), Path("/"))
_LOCK = re.compile(r"\d+: FLOCK +ADVISORY +\w+ (?P<pid>\d+) (?P<major>\w+):(?P<minor>\w+):(?P<inode>\d+) ")

Waiting = Callable[[str], None]
"""Called again and again while another webdyno has the machine, with who that is: it waits a moment, or raises."""


@contextlib.contextmanager
def machine_lock(waiting: Waiting | None = None) -> Iterator[None]:
    """One webdyno at a time on this machine. MachineError when another one has it and there is no ``waiting``, and
    where there is nothing to lock.
    """
    temporary = os.environ.get("TMPDIR")
    if temporary and not os.access(temporary, os.W_OK | os.X_OK):
        raise MachineError(
            f"TMPDIR is {temporary}, where nothing can be written: make that folder, or name another one"
        )
    named = os.environ.get(VARIABLE)
    lock, is_ours = _first_lock([Path(named)] if named else PLACES)
    try:
        while not is_ours:
            if waiting is None:
                raise _refusal(lock)
            waiting(_said(_holder(lock)))
            is_ours = _taken(lock)
        yield
    finally:
        os.close(lock)


def _first_lock(places: tuple[Path, ...] | list[Path]) -> tuple[int, bool]:
    """Of the first place whose file system knows locks, and whether it is ours now."""
    failures = []
    for place in places:
        try:
            lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            failures.append(f"{place}: {(error.strerror or str(error)).lower()}")
            continue
        try:
            return lock, _taken(lock)
        except OSError as error:  # NFS locks only what was opened to be written
            os.close(lock)
            failures.append(f"{place}: {(error.strerror or str(error)).lower()}")
    raise MachineError(
        f"no folder can be locked to keep a second webdyno away ({'; '.join(failures)}): name one of your own, "
        f"which is not a link, with {VARIABLE}=FOLDER"
    )


def _taken(lock: int) -> bool:
    """Whether it is ours now."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _refusal(lock: int) -> MachineError:
    pid = _holder(lock)
    sentence = (
        f"another webdyno ({_said(pid)}) is measuring on this machine, and two would disturb each other; "
        "wait until it has ended (--wait does), or end it"
    )
    if pid is None or _user(pid) != os.geteuid():
        sentence += (
            f"; if you cannot, {VARIABLE}=FOLDER names another folder to lock, but nothing then keeps the two apart"
        )
    return MachineError(sentence)


def _holder(lock: int, table: Path = Path("/proc/locks")) -> int | None:
    """The process that has it, as the kernel says; None where that cannot be seen, as from inside a container."""
    it = os.fstat(lock)
    of = (os.major(it.st_dev), os.minor(it.st_dev), it.st_ino)
    with contextlib.suppress(OSError):
        for line in filter(None, map(_LOCK.match, table.read_text(errors="replace").splitlines())):
            if (int(line["major"], 16), int(line["minor"], 16), int(line["inode"])) == of:
                return int(line["pid"]) or None
    return None


def _said(pid: int | None) -> str:
    """``pid 4711: webdyno run``, as far as it can be seen; no more of its command, for flags may hold secrets."""
    if pid is None:
        return "a process that cannot be seen from here"
    words = command_of(pid)
    ours = next((at for at, word in enumerate(words) if Path(word).name == "webdyno"), None)
    user = _user(pid)
    whose = "" if user in (None, os.geteuid()) else f" of user {_name(user)}"
    return f"pid {pid}{whose}: {name_of(pid) if ours is None else ' '.join(['webdyno', *words[ours + 1 : ours + 2]])}"


def _user(pid: int) -> int | None:
    """None when the process is gone."""
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)
