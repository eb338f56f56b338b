"""Store: one SQLite file per results folder, the only bridge between measuring and judging.

Each Run is one durable transaction (write-ahead log, synchronous=FULL): a killed webdyno loses at most the Run in
flight, and another process may read while this one writes. Closing folds the log back in, so that ``results.sqlite``
alone is everything, but for secrets (model/secret.py), and can be mailed. A Run is never changed once it is in.

The whole of each noun stands in a ``body`` column as JSON; the columns beside it only repeat what somebody with the
sqlite3 program wants to see, and are never read back. What is refused: a file that is not ours, that is damaged, or
that a newer schema wrote.

Rule of resuming: a Trial is done when it has a Run of any outcome but "interrupted". What a contender did wrong is a
result and is not tried again; what the user stopped was never measured. The interrupted Run stays in the file, and is
left out of ``runs()`` once a later Run of the same Trial has replaced it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.rig import Fingerprint, changes
from webdyno.model.run import Run
from webdyno.model.sample import Reading, Slice
from webdyno.model.secret import hidden, recalled, with_secrets
from webdyno.model.trial import Plan, Trial
from webdyno.wal import connect_without_trace, fold, take_away

FILE = "results.sqlite"
LOGS = "logs"

SCHEMA = 2
# History, one line per schema; each step up has its SQL in _UPGRADES.
#   1  first: meta, fingerprint, plan, trial, run, slice, reading; view rate
#      (rate: of turns where there are any; without a step, for what had the older view has none)
#   2  run.service; a Run may hold the service behind it, a Reading be of role service, an outcome be service-failed
_UPGRADES: dict[int, str] = {1: "ALTER TABLE run ADD COLUMN service TEXT"}
"""SQL from schema n to schema n + 1. A new field with a default needs no step: a body may lack it."""

_APPLICATION = int.from_bytes(b"wdyn", "big")
"""Marks the file as ours (``file results.sqlite`` shows it)."""

_RATE = """coalesce(sum(CASE phase WHEN 'turn' THEN ok END) * 1e9 / sum(CASE phase WHEN 'turn' THEN duration_ns END),
                    sum(ok) * 1e9 / sum(duration_ns))"""
_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE fingerprint (
    number INTEGER PRIMARY KEY, hostname TEXT, cpu_model TEXT, kernel TEXT, body TEXT NOT NULL);
CREATE TABLE plan (study TEXT, title TEXT, seed INTEGER, rounds INTEGER, body TEXT NOT NULL);
CREATE TABLE trial (
    position INTEGER PRIMARY KEY, id TEXT, contender TEXT, workload TEXT, load TEXT, driver TEXT, round INTEGER);
CREATE TABLE run (
    number INTEGER PRIMARY KEY AUTOINCREMENT, trial TEXT NOT NULL, fingerprint INTEGER NOT NULL, contender TEXT,
    workload TEXT, load TEXT, driver TEXT, round INTEGER, outcome TEXT, message TEXT, started_at TEXT, seconds REAL,
    memory_peak_bytes INTEGER, body TEXT NOT NULL, service TEXT);
CREATE INDEX run_of_trial ON run (trial);
CREATE TABLE slice (
    run INTEGER, position INTEGER, phase TEXT, start_ns INTEGER, duration_ns INTEGER, offered INTEGER, ok INTEGER,
    errors INTEGER, body TEXT NOT NULL, PRIMARY KEY (run, position)) WITHOUT ROWID;
CREATE TABLE reading (
    run INTEGER, position INTEGER, at_ns INTEGER, role TEXT, cpu_user_ns INTEGER, cpu_system_ns INTEGER,
    rss_bytes INTEGER, pss_bytes INTEGER, body TEXT NOT NULL, PRIMARY KEY (run, position)) WITHOUT ROWID;
CREATE VIEW rate AS
    SELECT number AS run, contender, workload, load, round, outcome, sum(ok) AS ok, sum(slice.errors) AS errors,
           {_RATE} AS ok_per_s
    FROM run JOIN slice ON slice.run = number WHERE phase NOT IN ('warmup', 'lead') GROUP BY number;
"""  # noqa: S608 - our own text

T = TypeVar("T")


class Store:
    """One results folder, open. ``create`` or ``open`` it, in a with-block."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, *, writable: bool) -> None:
        self.folder = folder
        self._file = folder / FILE
        self._connection = connection
        self._writable = writable
        self._whole: Plan | None = None  # with the secrets that the file does not hold

    @classmethod
    def create(cls, folder: Path, plan: Plan, fingerprint: Fingerprint) -> Store:
        """A new results folder with its plan and the machine it was made on."""
        file = folder / FILE
        if file.exists():
            raise UsageError(
                f"{folder} has results already: continue them with --resume {folder}, or name another folder"
            )
        try:
            (folder / LOGS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MachineError(f"{folder} cannot be made ({error.strerror}): give a folder you may write to") from None
        with _explained(file):
            store = cls(folder, _connect(file, "rwc"), writable=True)
            store._connection.executescript(
                f"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA application_id={_APPLICATION};"
                f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version={SCHEMA}; COMMIT;"
            )
            with store._transaction():
                store._insert("meta", "created_by", f"webdyno {fingerprint.webdyno}")
                store._insert("plan", plan.study, plan.title, str(plan.seed), plan.rounds, _json(hidden(plan)))
                for position, trial in enumerate(plan.trials):
                    store._insert("trial", position, trial.id, *_cell(trial))
        store._whole = plan
        store.add_fingerprint(fingerprint)
        fold(store._connection)  # people copy the file alone, also after a kill, when nobody closed it
        return store

    @classmethod
    def open(cls, path: Path, *, writable: bool = False) -> Store:
        """Results that exist: their folder, or the file itself."""
        file = path if path.is_file() else path / FILE
        if not file.is_file():
            raise UsageError(f"{path}: no results here (no {FILE}); `webdyno run STUDY` makes a folder with results")
        with _explained(file):
            connection = _connect(file, "rw" if writable else "ro")
            try:
                connection = _checked(connection, file, writable=writable)
            except BaseException:
                connection.close()
                raise
        return cls(file.parent, connection, writable=writable)

    @classmethod
    def peek(cls, folder: Path, *, checked: bool = True) -> Store:
        """As ``open`` to read, in one moment and without a trace (see wal.py); unchecked: not every page is read."""
        file = folder / FILE
        with _explained(file):
            connection = connect_without_trace(file)
            try:
                connection = _checked(connection, file, writable=False, every_page=checked)
                connection.execute("BEGIN")
            except BaseException:
                connection.close()
                raise
        return cls(folder, connection, writable=False)

    # What is in it

    def plan(self) -> Plan:
        """The plan as it was made, secrets apart (see ``recall``); UsageError where its maker ended before that."""
        rows = self._rows("SELECT body FROM plan")
        if not rows:
            raise UsageError(f"{self.folder / FILE} holds no plan: it is only just made, or was never finished")
        plan = self._read(rows[0][0], Plan, "the plan")
        return plan if self._whole is None else with_secrets(plan, self._whole)

    def recall(self, known: Catalogue | Plan) -> None:
        """Take the secrets of the plan's requests and commands from ``known``; UsageError for what is not as it was."""
        self._whole = recalled(self.plan(), known, self.folder)

    def fingerprint(self) -> Fingerprint:
        """The machine it began on."""
        return self.fingerprints()[0]

    def fingerprints(self) -> list[Fingerprint]:
        """The machine at the start and at every resumption, in order; see ``changes``."""
        rows = self._rows("SELECT number, body FROM fingerprint ORDER BY number")
        if not rows:
            raise UsageError(f"{self.folder / FILE} does not say which machine it is of: it was never finished")
        return [self._read(body, Fingerprint, f"fingerprint {number}") for number, body in rows]

    def runs(self) -> list[Run]:
        """Every Run that counts, in the order they happened."""
        return [run for _, run in self.numbered()]

    def numbered(self, *, replaced: bool = False) -> list[tuple[int, Run]]:
        """Runs with the number they bear for ever; ``replaced``: also the interrupted ones that were repeated since."""
        query = "SELECT number, body FROM run ORDER BY number"
        if not replaced:
            query = (
                "SELECT number, body FROM run AS this WHERE outcome <> 'interrupted' OR NOT EXISTS"
                " (SELECT 1 FROM run AS later WHERE later.trial = this.trial AND later.number > this.number)"
                " ORDER BY number"
            )
        return [(number, self._run(number, body)) for number, body in self._rows(query)]

    def heads(self, after: int = 0) -> list[tuple[int, Run]]:
        """Runs of higher numbers than ``after``, replaced ones too, without their Slices and Readings: cheap."""
        rows = self._rows("SELECT number, body FROM run WHERE number > ? ORDER BY number", after)
        return [(number, self._read(body, Run, f"run {number}")) for number, body in rows]

    def rates(self, after: int = 0) -> dict[int, float]:
        """Correct answers per second (of turns, if any) by number of the Run, for higher numbers than ``after``."""
        which = "run > ? AND phase <> 'warmup' GROUP BY run HAVING sum(duration_ns) > 0"
        return dict(self._rows(f"SELECT run, {_RATE} FROM slice WHERE {which}", after))  # noqa: S608 - our own text

    def done(self) -> set[str]:
        """Ids of the Trials that a resumed plan must not repeat; the rule stands at the top of this file."""
        return {trial for (trial,) in self._rows("SELECT DISTINCT trial FROM run WHERE outcome <> 'interrupted'")}

    # What goes into it

    def append(self, run: Run) -> int:
        """Write one Run, whole or not at all; it is on the disk when this returns. Its number."""
        return self.append_all([run])[0]

    def append_all(self, runs: Sequence[Run]) -> list[int]:
        """Write the Runs of a block, all of them or none: half a block would be compared with what it never met."""
        with _explained(self._file), self._transaction():
            [(fingerprint,)] = self._rows("SELECT max(number) FROM fingerprint")
            numbers = [self._write(run, fingerprint) for run in runs]
        fold(self._connection)
        return numbers

    def _write(self, run: Run, fingerprint: int) -> int:
        bare = hidden(msgspec.structs.replace(run, slices=[], readings=[]))
        service = f"{run.service.kind} {run.service.version}" if run.service else None
        cell = (run.trial.id, fingerprint, *_cell(run.trial), run.outcome, run.message)
        number = self._insert(
            "run", None, *cell, run.started_at, run.seconds, run.memory_peak_bytes, _json(bare), service
        )
        for position, one in enumerate(run.slices):
            errors = sum(one.errors.values())
            at = (one.phase, one.start_ns, one.duration_ns)
            self._insert("slice", number, position, *at, one.offered, one.ok, errors, _json(one))
        for position, look in enumerate(run.readings):
            cpu = (look.at_ns, look.role, look.cpu_user_ns, look.cpu_system_ns)
            self._insert("reading", number, position, *cpu, look.rss_bytes, look.pss_bytes, _json(look))
        return number

    def grow(self, trials: Sequence[Trial], of: Plan | None = None) -> None:
        """Add Trials at the plan's end, and who is new in ``of``: what is next is decided only after the Run before."""
        plan = self.plan()
        rounds = max(plan.rounds, *(trial.round for trial in trials)) if trials else plan.rounds
        known = {**plan.contenders, **(of.contenders if of else {})}
        longer = msgspec.structs.replace(plan, trials=[*plan.trials, *trials], rounds=rounds, contenders=known)
        self._whole = self._whole and msgspec.structs.replace(self._whole, contenders=known)
        with _explained(self._file), self._transaction():
            self._connection.execute("UPDATE plan SET rounds = ?, body = ?", (rounds, _json(hidden(longer))))
            for position, trial in enumerate(trials, len(plan.trials)):
                self._insert("trial", position, trial.id, *_cell(trial))

    def add_fingerprint(self, fingerprint: Fingerprint) -> list[str]:
        """Note the machine that goes on from here; the names of what differs from the machine it began on."""
        about = (fingerprint.hostname, fingerprint.cpu_model, fingerprint.kernel)
        with _explained(self._file), self._transaction():
            self._insert("fingerprint", None, *about, _json(fingerprint))
        return list(changes(self.fingerprint(), fingerprint))

    def contender_log(self, trial: Trial) -> Path:
        """What the contender writes while this Trial runs."""
        return self.folder / LOGS / f"{trial.id}.contender.log"

    def driver_log(self, trial: Trial) -> Path:
        """What the driver writes while this Trial runs, as it came."""
        return self.folder / LOGS / f"{trial.id}.driver.log"

    def service_log(self, service: str) -> Path:
        """What a service writes, over the whole plan."""
        return self.folder / LOGS / f"{service}.service.log"

    def close(self) -> None:
        """Fold the log into the file, so that it stands alone; while somebody reads, the log stays beside it."""
        if self._writable:
            take_away(self._connection)
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    # Rows

    def _rows(self, query: str, *values: object) -> list[Any]:
        with _explained(self._file):
            return self._connection.execute(query, values).fetchall()

    def _insert(self, table: str, *values: object) -> int:
        marks = ", ".join("?" * len(values))
        number = self._connection.execute(f"INSERT INTO {table} VALUES ({marks})", values).lastrowid  # noqa: S608
        return number or 0

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # a full disk has rolled back already
                self._connection.execute("ROLLBACK")
            raise

    def _run(self, number: int, body: str) -> Run:
        slices, readings = (
            self._rows(f"SELECT body FROM {table} WHERE run = ? ORDER BY position", number)  # noqa: S608
            for table in ("slice", "reading")
        )
        return msgspec.structs.replace(
            self._read(body, Run, f"run {number}"),
            slices=[self._read(text, Slice, f"a slice of run {number}") for (text,) in slices],
            readings=[self._read(text, Reading, f"a reading of run {number}") for (text,) in readings],
        )

    def _read(self, body: str, kind: type[T], what: str) -> T:
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.DecodeError as error:
            raise UsageError(
                f"{self._file}: {what} cannot be read ({error}): another version of webdyno wrote it, or it was changed"
            ) from None


def _cell(trial: Trial) -> Sequence[object]:
    return (trial.contender, trial.workload, trial.load.label, trial.driver, trial.round)


def _json(noun: msgspec.Struct) -> str:
    """As JSON; bytes that were no UTF-8 where they came from (a log, an environment) must not cost the whole Run."""
    try:
        return msgspec.json.encode(noun).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(_readable(msgspec.to_builtins(noun))).decode()


def _readable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {_readable(key): _readable(item) for key, item in value.items()}
        case list() | tuple():
            return [_readable(item) for item in value]
    return value


# The file


def _connect(file: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode={mode}", uri=True, timeout=5.0, isolation_level=None)


def _checked(
    connection: sqlite3.Connection, file: Path, *, writable: bool, every_page: bool = True
) -> sqlite3.Connection:
    """The connection, when this is a sound results file that we know how to read."""
    [(application,)] = connection.execute("PRAGMA application_id").fetchall()
    [(schema,)] = connection.execute("PRAGMA user_version").fetchall()
    if application != _APPLICATION:
        raise UsageError(f"{file} is not a results file of webdyno: name a folder that `webdyno run` made")
    if schema > SCHEMA:
        raise UsageError(f"{file} has schema {schema}, this webdyno reads up to {SCHEMA}: install a newer webdyno")
    if every_page and connection.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
        raise sqlite3.DatabaseError("it fails SQLite's own check")
    if writable:
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        connection.execute("PRAGMA synchronous=FULL")
    elif schema < SCHEMA:
        connection = _copy(connection)  # not ours, or only to be read: upgrade what we see, not what is
    for step in range(schema, SCHEMA):
        connection.executescript(f"BEGIN IMMEDIATE; {_UPGRADES[step]}; PRAGMA user_version={step + 1}; COMMIT;")
    return connection


def _copy(connection: sqlite3.Connection) -> sqlite3.Connection:
    memory = sqlite3.connect(":memory:", isolation_level=None)
    connection.backup(memory)
    connection.close()
    return memory


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """Every way SQLite can fail, as one sentence: what happened, what is kept, what to do."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # ours
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        said = _SENTENCES.get(code)
        if said is None:
            raise UsageError(
                f"{file} is damaged or not a results file ({error}): use another copy; "
                f"`sqlite3 {file} .recover` may save what is left"
            ) from None
        raise MachineError(said.format(file=file, folder=file.parent, error=error)) from None


_KEPT = "the Runs so far are kept"
_SENTENCES = {
    sqlite3.SQLITE_FULL: f"{{file}}: the disk is full; {_KEPT}: make room; a study can be resumed then",
    sqlite3.SQLITE_IOERR: f"{{file}}: the disk fails ({{error}}); {_KEPT}: copy {{folder}} elsewhere and resume there",
    sqlite3.SQLITE_READONLY: f"{{file}} cannot be written to; {_KEPT}: make it writable, or copy {{folder}} elsewhere",
    sqlite3.SQLITE_BUSY: "{file}: another webdyno is writing to it: wait until it has ended",
    sqlite3.SQLITE_CANTOPEN: "{file} cannot be opened ({error}): you need the right to read it and to write its folder",
}
