"""Aside: what a command goes through on its way to be executed where nothing of the user's is, and without any right.

launch.py imports it from beside itself, as root, and only for a command that gets a user of its own; throwaway.py says
what is hidden and what is shown. The command sees this machine's files read-only in a mount namespace of its own, which
ends with its processes: folders that may hold something of the user's are covered by empty ones, and what it needs of
them is mounted in there again, at the same place. It writes only into its home and into empty folders for temporary
files. Of processes it sees its own. What fails is an OSError that says which step it was.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

SHARED = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - each becomes an empty one of its own
"""Where everybody may write."""
_NEW_MOUNTS, _NEW_IPC = 0x20000, 0x8000000
_NO_SUID, _NO_DEVICES, _NO_PROGRAMS, _BIND, _RECURSIVE, _PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000  # its number is the same on all architectures
_ATTR_READ_ONLY, _ATTR_NO_SUID = 1, 2
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_KEYCTL = {"x86_64": 250, "aarch64": 219}
_JOIN_SESSION_KEYRING = 1
_MOST_CAPABILITIES = 64

_libc = ctypes.CDLL(None, use_errno=True)


def encode(user: int, home: str, hidden: Sequence[str], shown: Sequence[str]) -> list[str]:
    """Words for ``step_aside``."""
    return [str(user), home, str(len(hidden)), *hidden, *shown]


def step_aside(words: Sequence[str]) -> None:
    """Into namespaces of this command's own, and down to its user. OSError."""
    user, home, hidden, shown = int(words[0]), words[1], words[3 : 3 + int(words[2])], words[3 + int(words[2]) :]
    folder = os.getcwd()  # noqa: PTH109 - pathlib would double the time this takes
    _check(_libc.unshare(_NEW_MOUNTS | _NEW_IPC), "a mount namespace of its own could not be made")
    _mount("", "/", "", _RECURSIVE | _PRIVATE)
    opened = {path: os.open(path, os.O_PATH) for path in (*shown, home)}  # as they are before anything is hidden
    for path in hidden:
        os.makedirs(path, exist_ok=True)  # noqa: PTH103 - quick; makes only what lies in one that is hidden already
        _mount("tmpfs", path, "tmpfs", _NO_SUID | _NO_DEVICES, f"mode={'1777' if path in SHARED else '755'}")
    for path, source in opened.items():
        os.makedirs(path, exist_ok=True)  # noqa: PTH103 - the same
        _mount(f"/proc/self/fd/{source}", path, "", _BIND | _RECURSIVE)
        os.close(source)
    _mount("proc", "/proc", "proc", _NO_SUID | _NO_DEVICES | _NO_PROGRAMS, "hidepid=2")
    _set(_ATTR_READ_ONLY | _ATTR_NO_SUID, 0, "/", _AT_RECURSIVE)
    for path in (home, "/proc", *(path for path in SHARED if path in hidden)):
        _set(0, _ATTR_READ_ONLY, path)
    os.chdir(folder)
    _give_up(user)


def _give_up(user: int) -> None:
    """All rights, for good."""
    keyctl = _KEYCTL.get(os.uname().machine)
    if keyctl is not None:
        _libc.syscall(keyctl, _JOIN_SESSION_KEYRING, None)  # a fresh one: root's would be handed down
    for capability in range(_MOST_CAPABILITIES):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # those that this kernel has
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "its right to get more rights could not be given up")
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    words = [os.fsencode(text) or None for text in (source, target, kind)]
    status = _libc.mount(*words, ctypes.c_ulong(flags), os.fsencode(options) or None)
    _check(status, f"{kind or 'a folder'} could not be mounted on {target}")


def _set(attributes: int, cleared: int, path: str, flags: int = 0) -> None:
    """Attributes of a mount, with ``_AT_RECURSIVE`` of all below it too."""
    asked = (ctypes.c_uint64 * 4)(attributes, cleared, 0, 0)
    arguments = (ctypes.c_long(_AT_FDCWD), os.fsencode(path), ctypes.c_long(flags), asked, ctypes.sizeof(asked))
    _check(_libc.syscall(_MOUNT_SETATTR, *arguments), f"{path} could not be made read-only (Linux 5.12 can)")


def _check(status: int, failed: str) -> None:
    if status:
        number = ctypes.get_errno()
        raise OSError(number, f"{failed}: {os.strerror(number).lower()}")
