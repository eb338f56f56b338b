"""WAL: the write-ahead log beside a results file: read it without a trace, know who writes it, take it away at the end.

A reader must write nothing, also while another process writes the store. SQLite's ``mode=ro`` alone is not enough:
where a store in WAL mode lacks its -wal and -shm, it makes them, and where they are there it notes itself in -shm. So,
by what lies beside the file:

    -wal and -shm   a writer is at work, or was killed: ``readonly_shm=1`` takes locks and writes nothing; without a
                    writer SQLite reads the log into memory of its own
    -wal alone      somebody copied the folder in parts: both are copied to a folder of our own and read there
    no -wal         nobody writes: ``immutable=1``, without locks. A reader that cannot rule out that a writer begins in
                    that very moment compares ``signature`` before and after

What is not covered: a file in rollback mode with a hot journal, which webdyno never leaves.

POSIX locks belong to the process, and closing any descriptor of a file drops all that the process has on it
(https://www.sqlite.org/howtocorrupt.html, 2.2). ``is_written`` opens and closes one: never call it while this process
has a connection to the same store.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import struct
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

_FLOCK = "hhqqi0q"
"""struct flock of 64-bit Linux: type, whence, start, length, pid; padded to whole quads."""
_DEAD_MAN = 128
"""Byte of -shm on which every connection holds a shared lock as long as it lives (UNIX_SHM_DMS of SQLite's os_unix.c).
"""

TRIES, PAUSE_S = 20, 0.05
"""How often, and how far apart, the log is tried to be taken away while somebody reads."""

_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
"""End of a rollback journal that names a super-journal (https://www.sqlite.org/fileformat2.html#the_rollback_journal).
"""
_PACKED, _SMALL_BYTES = 8, 64 << 20
"""A disk may pack what it holds this many times; a small store may be all holes."""
_PAGES_AT_ONCE = 1000
_BLOCK_BYTES = 512
"""Of st_blocks, whatever the file system's own are."""

Signature = tuple[tuple[int, int, int], ...]
"""Inode, length in bytes and time of change in ns of the file and of its log."""


def connect_without_trace(file: Path) -> sqlite3.Connection:
    """A connection that reads ``file`` as it is now and writes nothing; sqlite3.Error as sqlite3 raises it."""
    refuse_odd(file)
    log, index = (file.with_name(file.name + end) for end in ("-wal", "-shm"))
    if not log.exists():
        return _open(file, "mode=ro&immutable=1")
    return _open(file, "mode=ro&readonly_shm=1") if index.exists() else _copied(file, log)


def refuse_odd(file: Path) -> None:
    """sqlite3.DatabaseError where ``file``, or what SQLite reads beside it, is no file that it is safe to hand it."""
    for path in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm", "-journal"))):
        with suppress(FileNotFoundError):
            if not S_ISREG(path.lstat().st_mode):  # a FIFO would keep us for ever, a link lead elsewhere
                raise sqlite3.DatabaseError(f"{path.name} is no ordinary file")
    with suppress(FileNotFoundError), path.open("rb") as journal:
        journal.seek(max(0, path.stat().st_size - len(_NAMES_ANOTHER)))
        if journal.read() == _NAMES_ANOTHER:  # which SQLite removes, whatever it is
            raise sqlite3.DatabaseError(f"{path.name} names another file")


def size_bytes(file: Path) -> int:
    """Of the file and its log; a store has no more pages than they hold."""
    return sum(length for _, length, _ in signature(file))


def filled_bytes(file: Path) -> int:
    """Of these, what takes room on a disk: a file can be a million times as long as what is in it."""
    found = 0
    for path in (file, file.with_name(file.name + "-wal")):
        with suppress(OSError):
            found += _BLOCK_BYTES * path.stat().st_blocks
    return found


def refuse_hollow(file: Path) -> None:
    """sqlite3.DatabaseError before a copy would be far larger than what the file and its log fill."""
    if size_bytes(file) > _PACKED * filled_bytes(file) + _SMALL_BYTES:
        raise sqlite3.DatabaseError("it is nearly all holes")


def signature(file: Path) -> Signature:
    """Changes whenever the store does; empty when there is no file."""
    found = []
    for path in (file, file.with_name(file.name + "-wal")):
        try:
            status = path.stat()
        except OSError:
            continue
        found.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)


def is_written(file: Path) -> bool:
    """Whether another process has the store open in WAL mode: a run that writes it, or for a moment another reader.

    The kernel is asked who holds the lock, so nothing stale is left by a process that was killed.
    """
    try:
        how = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(file.with_name(file.name + "-shm"), how)
    except OSError:
        return False
    try:
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, _DEAD_MAN, 1, 0)
        found = fcntl.fcntl(descriptor, fcntl.F_GETLK, asked)
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)
    return bool(struct.unpack(_FLOCK, found)[0] != fcntl.F_UNLCK)


def fold(connection: sqlite3.Connection) -> None:
    """Copy the log into the file as far as readers let us; durable it is anyway."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def take_away(connection: sqlite3.Connection, wait: Callable[[float], object] | None = None) -> None:
    """Fold the whole log in and remove it, so that the file stands alone; it stays while somebody keeps on reading.

    SQLite does not wait for readers when a journal mode changes, whatever the connection's timeout; so we do, by
    ``wait``.
    """
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    wait = wait or threading.Event().wait
    for _ in range(TRIES):
        try:
            connection.execute("PRAGMA journal_mode=DELETE").fetchall()
        except sqlite3.Error as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):  # as on a full disk
                return
            wait(PAUSE_S)
        else:
            return


def _open(file: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?{how}", uri=True, timeout=5.0, isolation_level=None)


def _copied(file: Path, log: Path) -> sqlite3.Connection:
    """The store with its log, read from a copy into memory."""
    most = size_bytes(file)
    refuse_hollow(file)

    def refuse_missing(_status: int, _remaining: int, pages: int) -> None:
        """A log can speak of four thousand million pages; each would be made."""
        if not 0 <= pages * page_bytes <= most:  # a number that overflowed below zero
            raise sqlite3.DatabaseError(f"{log.name} speaks of pages that are not there")

    memory = sqlite3.connect(":memory:", isolation_level=None)
    with tempfile.TemporaryDirectory(prefix="webdyno-view-") as folder:
        try:
            shutil.copyfile(file, Path(folder) / file.name)
            shutil.copyfile(log, Path(folder) / log.name)
        except OSError as error:  # gone since, or no room
            memory.close()
            raise sqlite3.OperationalError(str(error)) from error
        copy = sqlite3.connect(Path(folder) / file.name)
        try:
            [(page_bytes,)] = copy.execute("PRAGMA page_size").fetchall()
            copy.backup(memory, pages=_PAGES_AT_ONCE, progress=refuse_missing)
        except BaseException:
            memory.close()
            raise
        finally:
            copy.close()
    return memory
