"""Opening: a connection to a results file that may be made to harm, and the one sentence for each way it fails.

SQLite reads files of strangers safely only where it is asked to (https://www.sqlite.org/security.html). So: ordinary
files alone, limits on what a statement may be and on how much work it may cause, no function a schema could call, a
schema that is word by word one of ours, every page looked at, and at the end only what a Store asks for is allowed. A
file of b-trees that point at each other in circles, of a million pages that are not there, or whose tables are views
that never end is a sentence after that; each of them alone would keep us for hours.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webdyno.disk import disk_of, is_full
from webdyno.model.errors import MachineError, UsageError
from webdyno.store import schema
from webdyno.wal import filled_bytes, refuse_hollow, refuse_odd, size_bytes

LARGEST_BODY_BYTES = 64 << 20
"""Of the plan; a hundred thousand Trials are 57 MB."""
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: LARGEST_BODY_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 64 << 10,
    sqlite3.SQLITE_LIMIT_COLUMN: 64,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 64,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 8,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 16,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 64,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_LONGEST = 200
"""Letters of what an error says."""
_STEP = 1000
_STEPS, _BYTES_A_STEP = 10_000, 250
"""How many thousand steps of SQLite's machine a statement may take, and for how many bytes of the file one more. Ten
million are half a second; of files full of empty rows the check of every page takes 0.75 for a byte, of real ones 0.02.
"""
_ON_TABLES = frozenset({sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE})
_ALLOWED = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_PRAGMA, sqlite3.SQLITE_TRANSACTION}
)
_NAMES = frozenset({"meta", "fingerprint", "plan", "trial", "run", "slice", "reading"})


def connect(file: Path, mode: str) -> sqlite3.Connection:
    """A connection to a results file that is there, or is to be made (``rwc``); sqlite3.Error as sqlite3 raises it."""
    refuse_odd(file)
    uri = f"{file.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=5.0, isolation_level=None)


def checked(
    connection: sqlite3.Connection, file: Path, *, writable: bool, every_page: bool = True
) -> sqlite3.Connection:
    """The connection, when this is a sound results file that we know how to read."""
    for limit, most in _LIMITS.items():
        connection.setlimit(limit, most)
    bound(connection, file)  # to read the schema is work already
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    number = _schema_of(connection, file)
    if _value(connection, "page_count") * _value(connection, "page_size") > size_bytes(file):
        raise sqlite3.DatabaseError("it lacks pages")  # each would be looked for
    bound(connection, file)
    if every_page and connection.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
        raise sqlite3.DatabaseError("it fails SQLite's own check")
    if writable:
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        connection.execute("PRAGMA synchronous=FULL")
    elif number < schema.SCHEMA:
        refuse_hollow(file)
        connection = _copy(connection)  # not ours, or only to be read: upgrade what we see, not what is
    for step in range(number, schema.SCHEMA):
        connection.executescript(f"BEGIN IMMEDIATE; {schema.UPGRADES[step]}; PRAGMA user_version={step + 1}; COMMIT;")
    connection.set_authorizer(_authorized)
    return connection


def bound(connection: sqlite3.Connection, file: Path) -> None:
    """Let what is asked next take no more work than a file of its size can need."""
    steps = iter(range(_STEPS + filled_bytes(file) // _BYTES_A_STEP))
    connection.set_progress_handler(lambda: next(steps, None) is None, _STEP)


def _schema_of(connection: sqlite3.Connection, file: Path) -> int:
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise UsageError(f"{file} is empty: webdyno ended, or had no space, before it began to measure; start over")
    if _value(connection, "application_id") != schema.APPLICATION:
        raise UsageError(f"{file} is not a results file of webdyno: name a folder that `webdyno run` made")
    number = _value(connection, "user_version")
    if number > schema.SCHEMA:
        raise UsageError(
            f"{file} has schema {number}, this webdyno reads up to {schema.SCHEMA}: install a newer webdyno"
        )
    if number < 1:
        raise UsageError(f"{file} has no schema of webdyno's: it was never finished, or was changed; start over")
    if (why := schema.foreign(connection, number)) is not None:
        raise UsageError(f"{file} is not as webdyno makes its files ({why}): it was changed; use another copy")
    return number


def _value(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _copy(connection: sqlite3.Connection) -> sqlite3.Connection:
    memory = sqlite3.connect(":memory:", isolation_level=None)
    connection.backup(memory)
    connection.close()
    return memory


def _authorized(action: int, name: str | None, _second: str | None, _base: str | None, within: str | None) -> int:
    """What a Store asks for, and nothing on behalf of a view or a trigger."""
    fine = action in _ALLOWED or (action in _ON_TABLES and name in _NAMES)
    return sqlite3.SQLITE_OK if fine and within is None else sqlite3.SQLITE_DENY


def tame(error: Exception) -> str:
    """What an error says, which may quote the file: short, and nothing that a terminal would obey."""
    said = "".join(letter if letter.isprintable() else " " for letter in str(error)[:_LONGEST])
    return " ".join(said.split())


@contextmanager
def explained(file: Path, *, fresh: bool = False) -> Iterator[None]:
    """Every way SQLite can fail, as one sentence: what happened, what is kept, what to do; ``fresh``: nothing is in it.

    A full disk is not always called one: where no file can be made or lengthened for the log it cannot be opened, or
    fails.
    """
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # ours
    except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite may quote what is no text
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN) and is_full(file):
            code = sqlite3.SQLITE_FULL
        said = _SENTENCES.get(code)
        if said is None:
            raise UsageError(
                f"{file} is damaged or not a results file ({tame(error)}): use another copy; "
                f"`sqlite3 {file} .recover` may save what is left"
            ) from None
        if fresh:
            said = said.replace(_KEPT, _NOTHING).replace(_RESUMED, _ELSEWHERE)
        raise MachineError(said.format(file=file, folder=file.parent, error=tame(error), disk=disk_of(file))) from None


_KEPT, _NOTHING = "the Runs so far are kept", "nothing was measured yet"
_RESUMED, _ELSEWHERE = "--resume {folder} continues then", "or name a folder on another disk"
_SENTENCES = {
    sqlite3.SQLITE_FULL: f"{{file}}: {{disk}} is full; {_KEPT}: make room; {_RESUMED}",
    sqlite3.SQLITE_IOERR: f"{{file}}: {{disk}} fails, or lets no file grow so large ({{error}}); {_KEPT}: look at the "
    f"disk and at `ulimit -f`, or copy {{folder}} elsewhere; {_RESUMED}",
    sqlite3.SQLITE_READONLY: f"{{file}} cannot be written to; {_KEPT}: make it writable, or copy {{folder}} elsewhere",
    sqlite3.SQLITE_BUSY: "{file}: another webdyno is writing to it: wait until it has ended",
    sqlite3.SQLITE_CANTOPEN: "{file} cannot be opened ({error}): you need the right to read it and to write its folder",
}
