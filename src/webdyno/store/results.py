"""Results: a results folder, open. Its methods are all that is ever asked of the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

import msgspec

from webdyno.disk import refused
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.further import Further
from webdyno.model.rig import Fingerprint, changes
from webdyno.model.run import Run
from webdyno.model.sample import Reading, Slice
from webdyno.model.secret import hidden, recalled, with_secrets
from webdyno.model.trial import Plan, Trial
from webdyno.store import bodies, opening, schema
from webdyno.store.bodies import UnbelievableError, as_json
from webdyno.store.opening import connect, explained, tame
from webdyno.store.place import LOGS, identity, undo
from webdyno.wal import connect_without_trace, filled_bytes, fold, size_bytes, take_away

FILE = "results.sqlite"
_ROWS = 100_000
"""Fewer than a statement gives, where a row takes a byte at least; this many more, for what a disk packs."""
_AT_ONCE = 64
"""Runs that are asked for together."""
T = TypeVar("T")


class _Bodies(NamedTuple):
    """Of a Run, as they stand in the file."""

    run: bytes | None
    slices: list[bytes | None]
    readings: list[bytes | None]


class Store:
    """One results folder, open. ``create`` or ``open`` it, in a with-block."""

    def __init__(self, file: Path, connection: sqlite3.Connection, *, writable: bool) -> None:
        self.folder = file.parent
        self._file = file
        self._connection = connection
        self._writable = writable
        self._room = 0  # in bytes, for what is still to be read
        self._whole: Plan | None = None  # with the secrets that the file does not hold
        self._identity = identity(file)
        self._planned: dict[str, Trial] | None = None
        self._kept: list[tuple[int, Run]] = []  # of those that count, all up to the last one

    @classmethod
    def create(cls, folder: Path, plan: Plan, fingerprint: Fingerprint) -> Store:
        """A new results folder with its plan and the machine it was made on."""
        file = folder / FILE
        if file.exists():
            raise UsageError(
                f"{folder} has results already: continue them with --resume {folder}, or name another folder"
            )
        told = as_json(hidden(plan))
        if len(told) > opening.LARGEST_BODY_BYTES:
            raise UsageError(f"{len(plan.trials):,} trials are more than a results file may hold: ask for fewer rounds")
        try:
            (folder / LOGS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MachineError(
                f"{folder} cannot be made ({refused(error, folder) or error.strerror}): give a folder you may write to"
            ) from None
        try:
            with explained(file, fresh=True):
                connection = connect(file, "rwc")
                try:
                    connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;")
                    store = cls(file, connection, writable=True)
                    store._begin(plan, told, fingerprint)
                except BaseException:
                    connection.close()
                    raise
        except BaseException:
            undo(file)
            raise
        store._whole = plan
        fold(store._connection)  # people copy the file alone, also after a kill, when nobody closed it
        return store

    def _begin(self, plan: Plan, told: str, fingerprint: Fingerprint) -> None:
        """In one transaction: what a kill or a full disk leaves of it is nothing. ``told``: the body of the plan."""
        with self._transaction():
            for sql in schema.TABLES.split(";"):
                self._connection.execute(sql)
            self._connection.execute(f"PRAGMA application_id={schema.APPLICATION}")
            self._connection.execute(f"PRAGMA user_version={schema.SCHEMA}")
            self._insert("meta", "created_by", f"webdyno {fingerprint.webdyno}")
            self._insert("plan", plan.study, plan.title, str(plan.seed), plan.rounds, told)
            for position, trial in enumerate(plan.trials):
                self._insert("trial", position, trial.id, *_cell(trial))
            self._note(fingerprint)

    @classmethod
    def open(cls, path: Path, *, writable: bool = False) -> Store:
        """Results that exist: their folder, or the file itself."""
        file = path.resolve() if path.is_file() else path / FILE  # SQLite's log lies where a link leads
        if not file.is_file():
            raise UsageError(f"{path}: no results here (no {FILE}); `webdyno run STUDY` makes a folder with results")
        with explained(file):
            connection = connect(file, "rw" if writable else "ro")
            try:
                connection = opening.checked(connection, file, writable=writable)
            except BaseException:
                connection.close()
                raise
        return cls(file, connection, writable=writable)

    @classmethod
    def peek(cls, folder: Path, *, checked: bool = True) -> Store:
        """As ``open`` to read, in one moment and without a trace (see wal.py); unchecked: not every page is read."""
        file = folder / FILE
        with explained(file):
            connection = connect_without_trace(file)
            try:
                connection = opening.checked(connection, file, writable=False, every_page=checked)
                connection.execute("BEGIN")
            except BaseException:
                connection.close()
                raise
        return cls(file, connection, writable=False)

    # What is in it

    def plan(self) -> Plan:
        """The plan as it was made, secrets apart (see ``recall``); UsageError where its maker ended before that."""
        rows = self._rows("SELECT CAST(body AS BLOB) FROM plan LIMIT 1")
        if not rows:
            raise UsageError(f"{self._file} holds no plan: it is only just made, or was never finished; start over")
        with self._believed("the plan"):
            plan = bodies.read(rows[0][0], Plan)
            bodies.believe_plan(plan)
        return plan if self._whole is None else with_secrets(plan, self._whole)

    def recall(self, known: Catalogue | Plan) -> None:
        """Take the secrets of the plan's requests and commands from ``known``; UsageError for what is not as it was."""
        self._whole = recalled(self.plan(), known, self.folder)

    def fingerprint(self) -> Fingerprint:
        """The machine it began on."""
        return self.fingerprints()[0]

    def fingerprints(self) -> list[Fingerprint]:
        """The machine at the start and at every resumption, in order; see ``changes``."""
        rows = self._rows("SELECT number, CAST(body AS BLOB) FROM fingerprint ORDER BY number")
        if not rows:
            raise UsageError(f"{self._file} does not say which machine it is of: it was never finished; start over")
        return [self._read(body, Fingerprint, f"fingerprint {number}") for number, body in rows]

    def runs(self) -> list[Run]:
        """Every Run that counts, in the order they happened.

        Who writes asks again after every block: then only those are read that came since, for none is ever changed.
        """
        if not self._writable:
            return [run for _, run in self.numbered()]
        last = self._kept[-1][0] if self._kept else 0
        fresh = self._runs(self._rows("SELECT number FROM run WHERE number > ? ORDER BY number", last), whole=True)
        counts = {run.trial.id: number for number, run in fresh}
        self._kept = [
            (number, run)
            for number, run in (*self._kept, *fresh)
            if run.outcome != "interrupted" or counts.get(run.trial.id, number) <= number
        ]
        return [run for _, run in self._kept]

    def numbered(self, *, replaced: bool = False) -> list[tuple[int, Run]]:
        """Runs with the number they bear for ever; ``replaced``: also the interrupted ones that were repeated since."""
        query = "SELECT number FROM run ORDER BY number"
        if not replaced:
            query = (
                "SELECT number FROM run AS this WHERE outcome <> 'interrupted' OR NOT EXISTS"
                " (SELECT 1 FROM run AS later WHERE later.trial = this.trial AND later.number > this.number)"
                " ORDER BY number"
            )
        return self._runs(self._rows(query), whole=True)

    def heads(self, after: int = 0) -> list[tuple[int, Run]]:
        """Runs of higher numbers than ``after``, replaced ones too, without their Slices and Readings: cheap."""
        return self._runs(self._rows("SELECT number FROM run WHERE number > ? ORDER BY number", after), whole=False)

    def rates(self, after: int = 0) -> dict[int, float]:
        """Correct answers per second (of turns, if any) by number of the Run, for higher numbers than ``after``."""
        which = "run > ? AND phase <> 'warmup' GROUP BY run HAVING sum(duration_ns) > 0"
        return dict(self._rows(f"SELECT run, {schema.RATE} FROM slice WHERE {which}", after))  # noqa: S608 - our own text

    def done(self) -> set[str]:
        """Ids of the Trials that a resumed plan must not repeat; the rule stands at the top of this file."""
        return {trial for (trial,) in self._rows("SELECT DISTINCT trial FROM run WHERE outcome <> 'interrupted'")}

    # What goes into it

    def append(self, run: Run) -> int:
        """Write one Run, whole or not at all; it is on the disk when this returns. Its number."""
        return self.append_all([run])[0]

    def append_all(self, runs: Sequence[Run]) -> list[int]:
        """Write the Runs of a block, all of them or none: half a block would be compared with what it never met."""
        with explained(self._file), self._transaction():
            [(fingerprint,)] = self._rows("SELECT max(number) FROM fingerprint")
            numbers = [self._write(run, fingerprint) for run in runs]
        fold(self._connection)
        return numbers

    def _write(self, run: Run, fingerprint: int) -> int:
        bare = hidden(msgspec.structs.replace(run, slices=[], readings=[]))
        service = f"{run.service.kind} {run.service.version}" if run.service else None
        cell = (run.trial.id, fingerprint, *_cell(run.trial), run.outcome, bare.message)
        number = self._insert(
            "run", None, *cell, run.started_at, run.seconds, run.memory_peak_bytes, as_json(bare), service
        )
        for position, one in enumerate(run.slices):
            errors = sum(one.errors.values())
            at = (one.phase, one.start_ns, one.duration_ns)
            self._insert("slice", number, position, *at, one.offered, one.ok, errors, as_json(one))
        for position, look in enumerate(run.readings):
            cpu = (look.at_ns, look.role, look.cpu_user_ns, look.cpu_system_ns)
            self._insert("reading", number, position, *cpu, look.rss_bytes, look.pss_bytes, as_json(look))
        return number

    def grow(self, trials: Sequence[Trial], of: Plan | None = None, further: Further | None = None) -> None:
        """Add Trials at the plan's end, and who is new in ``of``; ``further``: what open claims get from now on."""
        plan = self.plan()
        rounds = max(plan.rounds, *(trial.round for trial in trials)) if trials else plan.rounds
        known = {**plan.contenders, **(of.contenders if of else {})}
        more = {"trials": [*plan.trials, *trials], "further": further or plan.further}
        longer = msgspec.structs.replace(plan, rounds=rounds, contenders=known, **more)
        self._planned, self._whole = None, self._whole and msgspec.structs.replace(self._whole, contenders=known)
        with explained(self._file), self._transaction():
            self._connection.execute("UPDATE plan SET rounds = ?, body = ?", (rounds, as_json(hidden(longer))))
            for position, trial in enumerate(trials, len(plan.trials)):
                self._insert("trial", position, trial.id, *_cell(trial))

    def add_fingerprint(self, fingerprint: Fingerprint) -> list[str]:
        """Note the machine that goes on from here; the names of what differs from the machine it began on."""
        with explained(self._file), self._transaction():
            self._note(fingerprint)
        return list(changes(self.fingerprint(), fingerprint))

    def _note(self, fingerprint: Fingerprint) -> None:
        about = (fingerprint.hostname, fingerprint.cpu_model, fingerprint.kernel)
        self._insert("fingerprint", None, *about, as_json(fingerprint))

    def refuse_moved(self) -> None:
        """MachineError when the file is no more where it was opened: what is written to it from here on is lost."""
        if identity(self._file) != self._identity:
            raise MachineError(
                f"{self.folder} was removed, moved or replaced while webdyno wrote to it, so it stopped: let it stay "
                "and start over; if it was moved, --resume continues from there"
            )

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
        if self._writable and identity(self._file) == self._identity:  # else SQLite would remove another one's log
            take_away(self._connection)
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    # Rows

    def _rows(self, query: str, *values: object) -> list[Any]:
        with explained(self._file):
            opening.bound(self._connection, self._file)
            most = min(_ROWS + filled_bytes(self._file), 1 << 30)
            rows = self._connection.execute(query, values).fetchmany(most)
            if len(rows) == most:  # where not every page was looked at, the same ones may come again and again
                raise sqlite3.DatabaseError("it has more rows than room for them")
            return rows

    def _insert(self, table: str, *values: object) -> int:
        marks = ", ".join("?" * len(values))
        number = self._connection.execute(f"INSERT INTO {table} VALUES ({marks})", values).lastrowid  # noqa: S608
        return number or 0

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        opening.bound(self._connection, self._file)
        self.refuse_moved()
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
            self.refuse_moved()
        except BaseException:
            with suppress(sqlite3.Error):  # a full disk has rolled back already
                self._connection.execute("ROLLBACK")
            raise

    def _runs(self, numbers: Sequence[tuple[int]], *, whole: bool) -> list[tuple[int, Run]]:
        """By number; ``whole``: with their Slices and Readings."""
        if any(later <= earlier for (earlier,), (later,) in pairwise(numbers)):
            raise UsageError(f"{self._file} is damaged (its runs are in no order): use another copy")
        if self._planned is None and numbers:
            self._planned = {trial.id: trial for trial in self.plan().trials}
        planned = self._planned or {}
        self._room = size_bytes(self._file)
        at_once = [[number for (number,) in numbers[at : at + _AT_ONCE]] for at in range(0, len(numbers), _AT_ONCE)]
        with bodies.uncollected():
            return [run for some in at_once for run in self._some(some, planned, whole=whole)]

    def _some(self, numbers: Sequence[int], planned: Mapping[str, Trial], *, whole: bool) -> list[tuple[int, Run]]:
        """Neighbours, asked for together; each alone where the file cannot give them together."""
        room = self._room
        try:
            found = self._bodies(numbers, whole=whole)
        except UsageError as error:
            if len(numbers) == 1:
                return [(numbers[0], self._unreadable(numbers[0], planned, error))]
            self._room = room
            return [run for number in numbers for run in self._some([number], planned, whole=whole)]
        return [(number, self._run(number, found.get(number), planned)) for number in numbers]

    def _run(self, number: int, found: _Bodies | None, planned: Mapping[str, Trial]) -> Run:
        """One Run; damage to it costs it and no other."""
        try:
            with self._believed(f"run {number}"):
                return self._believable(found, planned)
        except UsageError as error:
            return self._unreadable(number, planned, error)

    def _unreadable(self, number: int, planned: Mapping[str, Trial], error: UsageError) -> Run:
        for trial, began in self._rows("SELECT trial, started_at FROM run WHERE number = ?", number):
            if trial in planned:
                return bodies.unreadable(planned[trial], began, str(error))
        raise error

    def _believable(self, found: _Bodies | None, planned: Mapping[str, Trial]) -> Run:
        if found is None:
            raise UnbelievableError("it is not where it should be")
        self._room -= sum(len(body or b"") for body in (found.run, *found.slices, *found.readings))
        if self._room < 0:
            raise UnbelievableError("what it holds is longer than the file")
        run = bodies.read(found.run, Run)
        if found.slices or found.readings:
            slices = [bodies.read(body, Slice) for body in found.slices]
            readings = [bodies.read(body, Reading) for body in found.readings]
            run = msgspec.structs.replace(run, slices=slices, readings=readings)
        bodies.believe_run(run, planned.get(run.trial.id))
        return run

    def _bodies(self, numbers: Sequence[int], *, whole: bool) -> dict[int, _Bodies]:
        """What stands of each Run that is there."""
        asked = "SELECT {}, CAST(body AS BLOB) FROM {} WHERE {} BETWEEN ? AND ? ORDER BY {}"
        between = numbers[0], numbers[-1]
        found: dict[int, _Bodies] = {}
        for number, body in self._rows(asked.format("number", "run", "number", "number"), *between):
            found.setdefault(number, _Bodies(body, [], []))
        for kind in ("slice", "reading") if whole else ():
            for number, body in self._rows(asked.format("run", kind, "run", "run, position"), *between):
                if number in found:
                    (found[number].slices if kind == "slice" else found[number].readings).append(body)
        return found

    def _read(self, body: object, kind: type[T], what: str) -> T:
        with self._believed(what):
            return bodies.read(body, kind)

    @contextmanager
    def _believed(self, what: str) -> Iterator[None]:
        try:
            yield
        except UnbelievableError as error:
            raise UsageError(
                f"{self._file}: {what} cannot be read ({tame(error)}): another version of webdyno wrote it, "
                "or it was changed"
            ) from None


def _cell(trial: Trial) -> Sequence[object]:
    return (trial.contender, trial.workload, trial.load.label, trial.driver, trial.round)
