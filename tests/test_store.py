"""What the store promises: nothing lost, nothing changed, readable by others, one sentence for each way to fail."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests import fakes
from webdyno import wal
from webdyno.model.load import Load
from webdyno.model.rig import Fingerprint, Rig, changes
from webdyno.model.run import Probe, Run
from webdyno.model.sample import Reading, Slice
from webdyno.model.service import Backing
from webdyno.model.trial import Plan, Trial
from webdyno.store import FILE, Store, schema
from webdyno.store.schema import SCHEMA

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden" / "store"

FINGERPRINT = Fingerprint(
    hostname="bench",
    cpu_model="A CPU",
    architecture="x86_64",
    cores=4,
    cores_usable=4,
    threads_per_core=2,
    governor=None,
    turbo=None,
    memory_bytes=2**34,
    swap_bytes=0,
    kernel="6.1",
    distribution="Debian 12",
    mitigations={"spectre_v2": "on"},
    virtualisation="kvm",
    cgroup="v2",
    clocksource="tsc",
    open_files_limit=1024,
    port_range=(32768, 60999),
    load_before=0.25,
    webdyno="0.1.0",
    python="3.11.7",
)
RIG = Rig(
    contender_cores=(0,), driver_cores=(1,), control_cores=(1,), service_cores=(), memory_bytes=None, cgroup="none"
)


def trial(number: int) -> Trial:
    load = Load(connections=8, duration_s=2.0)
    return Trial(id=f"{number:016x}", contender="a", workload="hello", load=load, driver="engine", round=number)


def plan(trials: int = 3) -> Plan:
    known = fakes.catalogue("a")
    return Plan(
        study="study",
        title="Study",
        question="Who?",
        seed=2**70,
        rounds=trials,
        trials=[trial(number) for number in range(1, trials + 1)],
        skipped=[],
        contenders=known.contenders,
        apps=known.apps,
        runtimes=known.runtimes,
        workloads=known.workloads,
        memory_bytes=None,
        estimate="mean",
        seconds=12.5,
    )


def run(number: int = 1, outcome: Any = "ok", **changes_: Any) -> Run:
    slices = [
        Slice(phase="warmup", index=0, start_ns=1, duration_ns=10**9, offered=5, ok=5, errors={}),
        Slice(phase="steady", index=1, start_ns=2, duration_ns=10**9, offered=100, ok=98, errors={"timeout": 2}),
        Slice(phase="steady", index=2, start_ns=3, duration_ns=10**9, offered=100, ok=100, errors={}),
    ]
    readings = [
        Reading(at_ns=1, role="contender", cpu_user_ns=5, cpu_by_process={"7": 5}),
        Reading(at_ns=1, role="host", run_queue=0.5),
    ]
    probe = Probe(
        http_version="1.1",
        keep_alive=True,
        announces_close=False,
        framing="chunked",
        header="HTTP/1.1 200 OK",
        backlog=128,
        ready_ns=10**8,
    )
    fields: dict[str, Any] = {
        "trial": trial(number),
        "outcome": outcome,
        "started_at": "2026-01-02T03:04:05.000+00:00",
        "seconds": 3.5,
        "rig": RIG,
        "command": ["serve"],
        "probe": probe,
        "summary": {"ended": "duration", "threads": [{"requests": 1}]},
        "slices": slices,
        "readings": readings,
        "notes": ["a note"],
    }
    return Run(**{**fields, **changes_})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "results" / "study-1"


def made(folder: Path, *runs: Run) -> Path:
    with Store.create(folder, plan(), FINGERPRINT) as store:
        for one in runs:
            store.append(one)
    return folder


# Nothing lost, nothing changed


def test_everything_comes_back_as_it_went_in(folder: Path) -> None:
    made(folder, run(1), run(2, "died", message="ended under load"))
    with Store.open(folder) as store:
        assert store.plan() == plan()
        assert store.fingerprint() == FINGERPRINT
        assert store.runs() == [run(1), run(2, "died", message="ended under load")]


def test_the_file_itself_opens_like_its_folder(folder: Path) -> None:
    made(folder, run())
    with Store.open(folder / FILE) as store:
        assert store.runs() == [run()]
        assert store.folder == folder


def test_after_closing_one_file_is_all(folder: Path) -> None:
    made(folder, run())
    assert sorted(path.name for path in folder.iterdir()) == ["logs", FILE]
    mailed = shutil.copy(folder / FILE, folder.parent / "mailed.sqlite")
    with Store.open(Path(mailed)) as store:
        assert store.runs() == [run()]


def test_the_file_alone_is_whole_also_while_it_is_written(folder: Path) -> None:
    with Store.create(folder, plan(), FINGERPRINT) as writer:
        writer.append(run())
        copied = Path(shutil.copy(folder / FILE, folder.parent / "copied.sqlite"))
        with Store.open(copied) as store:
            assert store.runs() == [run()]


def test_a_reader_sees_every_run_the_moment_it_is_appended(folder: Path) -> None:
    with Store.create(folder, plan(), FINGERPRINT) as writer, Store.open(folder) as reader:
        assert reader.runs() == []
        writer.append(run(1))
        assert reader.runs() == [run(1)]
        writer.append(run(2))
        assert len(reader.runs()) == 2


def test_a_reader_does_not_keep_the_writer_from_closing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Store.create(folder, plan(), FINGERPRINT)
    writer.append(run())
    with Store.open(folder) as reader:
        rows = reader._connection.execute("SELECT * FROM slice")
        rows.fetchone()
        writer._connection.execute("PRAGMA busy_timeout=10")
        monkeypatch.setattr(wal, "PAUSE_S", 0)
        writer.close()
        assert reader.runs() == [run()]
        rows.close()
    with Store.open(folder, writable=True):
        pass  # the next to close folds the log in
    assert sorted(path.name for path in folder.iterdir()) == ["logs", FILE]


def test_bytes_that_were_no_text_do_not_cost_the_run(folder: Path) -> None:
    odd = run(environment={"NAME": "caf\udce9"}, log_tail="\udcff", notes=["fine"])
    made(folder, odd)
    with Store.open(folder) as store:
        [found] = store.runs()
    assert (found.environment, found.log_tail, found.notes) == ({"NAME": "caf?"}, "?", ["fine"])
    assert found.slices == odd.slices


def test_a_run_that_cannot_be_written_leaves_nothing_of_itself(folder: Path) -> None:
    with Store.create(folder, plan(), FINGERPRINT) as store:
        broken = run(readings=[Reading(at_ns=2**80, role="host")])
        with pytest.raises(OverflowError):
            store.append(broken)
        assert store.append(run()) == 1
        assert store.runs() == [run()]
        assert store._rows("SELECT count(*) FROM slice") == [(3,)]


def test_the_runs_of_a_block_are_written_together_or_not_at_all(folder: Path) -> None:
    """Half of a block would be taken for a whole one, and the other half be measured in another."""
    with Store.create(folder, plan(), FINGERPRINT) as store:
        with pytest.raises(OverflowError):
            store.append_all([run(1), run(2, readings=[Reading(at_ns=2**80, role="host")])])
        assert store.runs() == []
        assert store.append_all([run(1), run(2)]) == [1, 2]
        assert store.runs() == [run(1), run(2)]


# Resuming


def test_done_is_every_trial_with_an_outcome_but_interrupted(folder: Path) -> None:
    made(folder, run(1), run(2, "build-failed"), run(3, "interrupted"))
    with Store.open(folder) as store:
        assert store.done() == {trial(1).id, trial(2).id}


def test_interrupted_run_is_replaced_by_its_repetition_and_numbers_stay(folder: Path) -> None:
    made(folder, run(1, "interrupted"), run(2))
    with Store.open(folder, writable=True) as store:
        assert [number for number, _ in store.numbered()] == [1, 2]  # stopped, not yet repeated: still to be seen
        assert store.append(run(1)) == 3
        assert [(number, one.outcome) for number, one in store.numbered()] == [(2, "ok"), (3, "ok")]
        assert [number for number, _ in store.numbered(replaced=True)] == [1, 2, 3]
        assert store.done() == {trial(1).id, trial(2).id}


def test_machine_that_differs_on_resume_is_named_and_both_are_kept(folder: Path) -> None:
    made(folder)
    other = msgspec.structs.replace(FINGERPRINT, kernel="6.2", load_before=9.0)
    with Store.open(folder, writable=True) as store:
        assert store.add_fingerprint(msgspec.structs.replace(FINGERPRINT, load_before=3.0)) == []
        assert store.add_fingerprint(other) == ["kernel"]
        assert store.fingerprint() == FINGERPRINT
        assert store.fingerprints()[-1] == other
    assert changes(FINGERPRINT, other) == {"kernel": ("6.1", "6.2")}


def test_logs_lie_beside_the_file_under_the_trial_s_id(folder: Path) -> None:
    with Store.create(folder, plan(), FINGERPRINT) as store:
        assert store.contender_log(trial(1)) == folder / "logs" / f"{trial(1).id}.contender.log"
        assert store.driver_log(trial(1)) == folder / "logs" / f"{trial(1).id}.driver.log"
        assert store.driver_log(trial(1)).parent.is_dir()


# For people with the sqlite3 program


def test_columns_say_what_the_bodies_say(folder: Path) -> None:
    made(folder, run(memory_peak_bytes=4096))
    with sqlite3.connect(folder / FILE) as people:
        assert people.execute(
            "SELECT trial, contender, load, outcome, seconds, memory_peak_bytes FROM run"
        ).fetchall() == [(trial(1).id, "a", "8 connections, keep-alive", "ok", 3.5, 4096)]
        assert people.execute("SELECT ok, errors, ok_per_s FROM rate").fetchall() == [(198, 2, 99.0)]
        assert people.execute("SELECT json_extract(body, '$.probe.backlog') FROM run").fetchall() == [(128,)]
    people.close()


def test_the_rate_of_a_run_is_that_of_its_turns_where_it_has_any(folder: Path) -> None:
    alone = run(1)
    turns = [
        Slice(phase="turn", index=at, start_ns=4, duration_ns=10**8, offered=ok, ok=ok, errors={}, turn=at)
        for at, ok in enumerate((30, 50))
    ]
    beside = msgspec.structs.replace(run(2), slices=[*run(2).slices, *turns])
    with Store.create(folder, plan(), FINGERPRINT) as store:
        for each in (alone, beside):
            store.append(each)
        assert store.rates() == {1: 99.0, 2: 400.0}
        assert store.rates(after=1) == {2: 400.0}
    with sqlite3.connect(folder / FILE) as connection:
        assert connection.execute("SELECT ok_per_s FROM rate ORDER BY run").fetchall() == [(99.0,), (400.0,)]


def test_what_a_load_was_called_when_it_was_written_is_not_read_back(folder: Path) -> None:
    made(folder, run())
    with sqlite3.connect(folder / FILE) as older:
        older.execute("UPDATE trial SET load = 'an older name'")
        older.execute("UPDATE run SET load = 'an older name'")
    older.close()
    with Store.open(folder) as store:
        assert {each.load.label for each in store.plan().trials} == {"8 connections, keep-alive"}
        assert [each.trial.load.label for each in store.runs()] == ["8 connections, keep-alive"]


# Killed


WRITER = """
import sys
from pathlib import Path
from tests.test_store import FINGERPRINT, plan, run
from webdyno.store import Store
store = Store.create(Path(sys.argv[1]), plan(), FINGERPRINT)
for _ in range(100_000):
    print(store.append(run()), flush=True)
"""


@pytest.mark.live
def test_kill_loses_at_most_the_run_in_flight(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        promised = [int(writer.stdout.readline()) for _ in range(20)]
        with Store.open(folder) as reader:
            assert len(reader.runs()) >= 20  # while the other writes
        os.kill(writer.pid, signal.SIGKILL)
        promised += [int(line) for line in writer.stdout if line.endswith("\n")]
    with Store.open(folder) as store:  # as it was left, log and all
        kept = store.numbered()
    assert [number for number, _ in kept][: len(promised)] == promised
    assert len(kept) <= len(promised) + 1
    assert all(one == run() for _, one in kept)
    with Store.open(folder, writable=True) as store:
        assert store.append(run(2)) == len(kept) + 1
    assert not (folder / f"{FILE}-wal").exists()


# Schemas


def test_file_of_schema_1_reads_today(tmp_path: Path) -> None:
    """Written once by webdyno 0.1.0 and never again: what people keep in their drawers."""
    stored = GOLDEN / "schema-1.sqlite"
    if not stored.exists():
        shutil.copy(made(tmp_path / "new", run(1), run(2, "died")) / FILE, stored)
        pytest.fail(f"{stored.name} was missing and has been written: keep it as it is for ever")
    with Store.open(stored) as store:
        assert [(one.trial.round, one.outcome) for one in store.runs()] == [(1, "ok"), (2, "died")]
        assert store.runs()[0].slices == run().slices
        assert store.runs()[0].readings == run().readings
        assert store.plan().trials == plan().trials
        assert store.fingerprint().hostname == "bench"
    with Store.open(Path(shutil.copy(stored, tmp_path / FILE)), writable=True) as store:
        assert store.append(run(3)) == 3


def test_file_of_schema_1_gains_the_service_behind_a_run(tmp_path: Path) -> None:
    backing = Backing(service="redis", kind="redis-server", version="7.0.15", way="program", genuine="redis-server")
    look = Reading(at_ns=1, role="service", cpu_user_ns=2, cpu_system_ns=3)
    with Store.open(Path(shutil.copy(GOLDEN / "schema-1.sqlite", tmp_path / FILE)), writable=True) as store:
        store.append(msgspec.structs.replace(run(3), service=backing, readings=[look], outcome="service-failed"))
        assert store._rows("SELECT service FROM run ORDER BY number") == [(None,), (None,), ("redis-server 7.0.15",)]
        *old, new = store.runs()
        assert [each.service for each in old] == [None, None]
        assert (new.service, new.readings, new.outcome) == (backing, [look], "service-failed")
    with sqlite3.connect(":memory:") as fresh, sqlite3.connect(tmp_path / FILE) as upgraded:
        fresh.executescript(schema.TABLES)
        columns = "SELECT name, type FROM pragma_table_info('run')"
        assert fresh.execute(columns).fetchall() == upgraded.execute(columns).fetchall()
    fresh.close()
    upgraded.close()


@pytest.fixture
def next_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """A webdyno one schema further."""
    monkeypatch.setattr(schema, "SCHEMA", SCHEMA + 1)
    steps = schema.UPGRADES | {SCHEMA: "ALTER TABLE meta ADD COLUMN remark TEXT; UPDATE meta SET remark = 'new'"}
    monkeypatch.setattr(schema, "UPGRADES", steps)


def remarks(store: Store) -> set[str]:
    return {remark for (remark,) in store._rows("SELECT remark FROM meta")}


@pytest.mark.usefixtures("next_schema")
def test_older_file_is_upgraded_when_it_is_written_to(tmp_path: Path) -> None:
    file = Path(shutil.copy(GOLDEN / "schema-1.sqlite", tmp_path / FILE))
    with Store.open(file, writable=True) as store:
        assert remarks(store) == {"new"}
    with sqlite3.connect(file) as people:
        assert people.execute("PRAGMA user_version").fetchall() == [(SCHEMA + 1,)]
    people.close()


@pytest.mark.usefixtures("next_schema")
def test_older_file_that_is_only_read_stays_as_it_is(tmp_path: Path) -> None:
    file = Path(shutil.copy(GOLDEN / "schema-1.sqlite", tmp_path / FILE))
    before = file.read_bytes()
    with Store.open(file) as store:
        assert remarks(store) == {"new"}
        assert len(store.runs()) == 2
    assert file.read_bytes() == before
