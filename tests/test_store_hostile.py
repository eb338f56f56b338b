"""A results file may come by mail, made to harm: what comes of it is a value or a sentence, soon and in little room."""

from __future__ import annotations

import base64
import os
import shutil
import sqlite3
import struct
import zlib
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from bench import harming, hostile
from tests.analyse import fakes
from tests.test_store import FINGERPRINT, GOLDEN, folder, made, plan, run, trial
from webdyno import now
from webdyno.model.errors import UsageError
from webdyno.model.run import Run
from webdyno.report.failed import failures
from webdyno.session.reports import rendered
from webdyno.store import FILE, Store, opening, results, schema

__all__ = ["folder"]  # the fixture


def change(folder: Path, script: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as there:
        if values:
            there.execute(script, values)
        else:
            there.executescript(script)


def runs_of(folder: Path) -> list[Run]:
    with Store.open(folder) as store:
        return store.runs()


# Any file


def test_whatever_is_done_to_a_file_a_value_or_a_sentence_comes_of_it(tmp_path: Path) -> None:
    """The same files each time; ``python -m bench.hostile`` makes as many as it is given time for."""
    origin = hostile.base(tmp_path / "origin")
    ways = {hostile.harmed(origin, tmp_path / str(number), number) for number in range(45)}
    assert ways == set(harming.WAYS)
    came = [hostile.read_all(tmp_path / str(number), hostile.STORE) for number in range(45)]
    assert {each.partition(" ")[0] for each in came} == {"value", "error"}


# Its schema


FOREVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x"
FOREIGN = {
    "a view in place of a table": f"ALTER TABLE run RENAME TO was; CREATE VIEW run AS {FOREVER} AS number FROM n;",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON slice BEGIN DELETE FROM run; END;",
    "another view": f"DROP VIEW rate; CREATE VIEW rate AS {FOREVER} AS run FROM n;",
    "a column that is computed": "ALTER TABLE run ADD COLUMN odd AS (hex(zeroblob(1 << 29)));",
    "an index over an expression": "CREATE INDEX odd ON run (length(body) + 1);",
    "a table of its own": "CREATE TABLE odd (a);",
    "a constraint": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = replace(sql, 'seconds REAL', "
    "'seconds REAL CHECK (randomblob(1 << 29) IS NULL)');",
    "a virtual table": "CREATE VIRTUAL TABLE odd USING fts5(a);",
}


@pytest.mark.parametrize("script", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("how", ["read", "written", "peeked at"])
def test_sql_of_somebody_else_s_is_never_run(folder: Path, script: str, how: str) -> None:
    made(folder, run())
    change(folder, script)
    with pytest.raises(
        UsageError, match=r"results.sqlite is not as webdyno makes its files \(its .*'.*' is not webdyn"
    ):
        (Store.peek(folder) if how == "peeked at" else Store.open(folder, writable=how == "written")).close()


def test_a_trigger_costs_no_run(folder: Path) -> None:
    made(folder, run())
    change(folder, FOREIGN["a trigger"])
    with (
        pytest.raises(UsageError, match="its trigger 't' is not webdyno's"),
        Store.open(folder, writable=True) as store,
    ):
        store.append(run(2))
    change(folder, "DROP TRIGGER t")
    assert runs_of(folder) == [run()]


def test_what_a_file_says_is_quoted_short_and_tame(folder: Path) -> None:
    made(folder, run())
    body = msgspec.json.encode(run(1)).decode().replace('"ok"', '"\\u001b]0;' + "x" * 10_000 + '\\n"', 1)
    change(folder, "UPDATE run SET body = ? WHERE number = 1", body)
    [found] = runs_of(folder)
    assert found.message.isprintable()
    assert len(found.message) < 600
    change(folder, f'CREATE TABLE "{"x" * 10_000}" (a)')
    with pytest.raises(UsageError, match=r"its table 'x{60}' is not webdyno's"):
        Store.open(folder)


def test_a_file_longer_than_any_disk_is_read_as_far_as_it_is_filled(folder: Path) -> None:
    made(folder, run())
    os.truncate(folder / FILE, 1 << 36)
    assert runs_of(folder) == [run()]


def test_holes_are_not_copied_into_memory(folder: Path, tmp_path: Path) -> None:
    """An older file is upgraded in a copy, and a log that has lost its index is read in one."""
    made(folder, run())
    (folder / f"{FILE}-wal").write_bytes(b"")
    old = Path(shutil.copy(GOLDEN / "schema-1.sqlite", tmp_path / FILE))
    for file, opened in ((folder / FILE, Store.peek), (old, Store.open)):
        os.truncate(file, 1 << 36)
        with pytest.raises(UsageError, match="it is nearly all holes"):
            opened(file.parent)


def test_a_table_that_is_missing_is_named(folder: Path) -> None:
    made(folder)
    change(folder, "DROP TABLE reading")
    with pytest.raises(UsageError, match=r"not as webdyno makes its files \(it has no reading\): it was changed; use"):
        Store.open(folder)


def test_every_schema_there_was_is_known(folder: Path) -> None:
    """Views and a column that changed without a step; files of schema 1 are in test_store.py."""
    made(folder, run())
    older = schema.RATE + " AS ok_per_s", "sum(ok) * 1e9 / sum(duration_ns) AS ok_per_s"
    views = schema.TABLES[schema.TABLES.index("CREATE VIEW") :]
    for rate, which in ((older[0], "<> 'warmup'"), (older[1], "= 'steady'")):
        view = views.replace(older[0], rate).replace("NOT IN ('warmup', 'lead')", which)
        change(folder, f"DROP VIEW rate; {view}")
        assert runs_of(folder) == [run()]
    (folder / FILE).unlink()
    old = schema.TABLES.replace("PRIMARY KEY, hostname", "PRIMARY KEY, at TEXT, hostname")
    change(folder, f"{old} PRAGMA application_id={schema.APPLICATION}; PRAGMA user_version=2")
    with Store.open(folder) as store:
        assert store.runs() == []


def test_only_what_a_store_asks_for_is_allowed(folder: Path) -> None:
    made(folder, run())
    with Store.open(folder, writable=True) as store:
        for sql in ("DELETE FROM run", "DROP TABLE run", "ATTACH 'x' AS y", "SELECT * FROM rate", "CREATE TABLE x (y)"):
            with pytest.raises(UsageError):
                store._rows(sql)
        assert store.runs() == [run()]


@pytest.mark.parametrize("number", [-1, 0])
def test_a_schema_that_never_was_is_refused(folder: Path, number: int) -> None:
    made(folder)
    change(folder, f"PRAGMA user_version={number}")
    with pytest.raises(UsageError, match="has no schema of webdyno's: it was never finished, or was changed"):
        Store.open(folder)


# Its pages, its log, and what lies beside it


@pytest.mark.parametrize("pages", [100_000, 0xFFFFFFFE])
def test_a_log_that_speaks_of_pages_there_are_not_takes_no_room(folder: Path, pages: int) -> None:
    made(folder, run())
    log = folder / f"{FILE}-wal"
    with closing(sqlite3.connect(folder / FILE)) as there:
        there.executescript("PRAGMA journal_mode=WAL; PRAGMA user_version=2")
        raw = bytearray(log.read_bytes())
    harming.grow(raw, pages)
    log.write_bytes(raw)
    with pytest.raises(UsageError, match=r"results.sqlite-wal speaks of pages that are not there"):
        Store.peek(folder)
    with pytest.raises(UsageError, match="it lacks pages"):
        Store.open(folder)


def test_pages_in_circles_are_not_followed_for_ever(folder: Path) -> None:
    made(folder, run())
    raw = bytearray((folder / FILE).read_bytes())
    page, cells = bytearray(4096), 300
    here = len(raw) // 4096 + 1
    struct.pack_into(">BHHHBI", page, 0, 5, 0, cells, 4096 - 8 * cells, 0, here)
    for cell in range(cells):  # each of its children is itself
        at = 4096 - 8 * (cell + 1)
        struct.pack_into(">H", page, 12 + 2 * cell, at)
        struct.pack_into(">IB", page, at, here, cell % 127)
    raw[100:112] = struct.pack(">BHHHBI", 5, 0, 0, 4096, 0, here)
    (folder / FILE).write_bytes(raw + page)
    with pytest.raises(UsageError, match="is damaged or not a results file"):
        Store.open(folder)


def test_more_work_than_its_size_can_need_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(folder, run())
    with Store.open(folder) as store:
        monkeypatch.setattr(opening, "_STEPS", 10)
        with pytest.raises(UsageError, match=r"is damaged or not a results file \(interrupted"):
            store._rows(f"SELECT count(*) FROM {', '.join(f'slice AS s{number}' for number in range(15))}")


@pytest.mark.parametrize("how", ["read", "written", "peeked at"])
@pytest.mark.parametrize("name", [FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal"])
def test_a_pipe_is_not_waited_for(folder: Path, name: str, how: str) -> None:
    made(folder, run())
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(UsageError):
        (Store.peek(folder) if how == "peeked at" else Store.open(folder, writable=how == "written")).close()


def test_a_link_inside_a_folder_is_not_followed_and_one_to_the_file_is(folder: Path, tmp_path: Path) -> None:
    made(folder, run())
    (tmp_path / "linked").mkdir()
    link = tmp_path / "linked" / FILE
    link.symlink_to(folder / FILE)
    with pytest.raises(UsageError, match=r"results.sqlite is no ordinary file"):
        Store.open(tmp_path / "linked")
    with Store.open(link) as store:
        assert (store.runs(), store.folder) == ([run()], folder)


def test_a_journal_cannot_have_another_file_removed(folder: Path, tmp_path: Path) -> None:
    """SQLite removes the super-journal that a journal names, once nothing needs it."""
    made(folder, run())
    (tmp_path / "dear").write_text("")
    name = str(tmp_path / "dear").encode()
    record = struct.pack(">I", 1) + name + struct.pack(">II", len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7")
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 0, 0, 1, 512, 4096)
    (folder / f"{FILE}-journal").write_bytes(head.ljust(512, b"\0") + record)
    with pytest.raises(UsageError, match=r"results.sqlite-journal names another file"):
        Store.open(folder, writable=True)
    assert (tmp_path / "dear").exists()


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "deep"])
def test_what_is_in_flight_is_read_from_an_ordinary_file_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / now.FILE
    if kind == "pipe":
        os.mkfifo(path)
        writer = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # one that never writes
        assert now.read(tmp_path) is None
        os.close(writer)
        return
    if kind == "link":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text("[" * 900_000)
    assert now.read(tmp_path) is None


# Its nouns


def histogram(counts: bytes, digits: int = 3, highest: int = 3_600_000_000_000, length: int | None = None) -> str:
    head = struct.pack(">IIIIQQd", 0x1C849313, len(counts) if length is None else length, 0, digits, 1, highest, 1.0)
    packed = zlib.compress(head + counts)
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()


def with_histogram(text: str, of: Run) -> Run:
    first, *rest = of.slices
    return msgspec.structs.replace(of, slices=[msgspec.structs.replace(first, latency_hdr=text), *rest])


BAD = {
    "five digits": histogram(b"\x02", digits=5),
    "a highest value for centuries": histogram(b"\x02", highest=1 << 62),
    "the same count everywhere": histogram(b"\x02" * 30_000),
    "a million equal counts": histogram(b"\x02" * 1_000_000),
    "counts beyond counting": histogram(b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f"),
    "another length": histogram(b"\x02", length=1 << 30),
    "no text of one": "HISTF",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_a_bad_histogram_costs_its_run_and_not_the_report(folder: Path, text: str) -> None:
    made(folder, run(1), with_histogram(text, run(2)), run(3))
    one, two, three = runs_of(folder)
    assert (one, three) == (run(1), run(3))
    assert (two.trial, two.outcome, two.slices, two.started_at) == (trial(2), "unreadable", [], run(2).started_at)
    said = f"{folder / FILE}: run 2 cannot be read (its histogram {text[:24]!r}... is damaged): another version of"
    assert two.message.startswith(said)
    [failure] = failures([one, two, three])
    assert (failure.says, failure.where) == ("has a record that cannot be read", "hello, 1 round")
    with Store.open(folder) as store:
        assert said in rendered(store, "json")


def test_no_more_is_read_than_the_file_has_room_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not every page was looked at, many Runs may lie in the same one."""
    made(folder, run(1), run(2))
    length = len(msgspec.json.encode(msgspec.structs.replace(run(1), slices=[], readings=[])))
    with Store.peek(folder, checked=False) as store:
        monkeypatch.setattr(results, "size_bytes", lambda _: 2 * length - 1)
        assert [each.outcome for _, each in store.heads()] == ["ok", "unreadable"]


def test_histograms_of_a_run_that_cannot_be_added_cost_it(folder: Path) -> None:
    other = msgspec.structs.replace(run(2).slices[1], latency_hdr=histogram(b"\x02", digits=2))
    mixed = with_histogram(histogram(b"\x02"), run(2))
    made(folder, run(1), msgspec.structs.replace(mixed, slices=[mixed.slices[0], other]))
    assert [each.outcome for each in runs_of(folder)] == ["ok", "unreadable"]


def deep(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


DAMAGE: dict[str, tuple[str, Any]] = {
    "no text": ("UPDATE run SET body = ? WHERE number = 1", b"\xff\xfe"),
    "a number": ("UPDATE run SET body = ? WHERE number = 1", 5),
    "too long": ("UPDATE run SET notes = ? WHERE number = 1", ["x" * 2_000_000]),
    "a summary that is deep": ("summary", deep(40)),
    "a summary as deep as the stack": ("summary", deep(100_000)),
    "a summary of another kind": ("summary", '{"threads":5}'),
    "a number that is no time": ("seconds", "1e300"),
    "a number of a thousand digits": ("memory_peak_bytes", "9" * 1000),
    "a time that is none": ("started_at", '"soon"'),
    "a time without a zone": ("started_at", '"2026-01-02T03:04:05"'),
    "an outcome that is none": ("outcome", '"won"'),
}


@pytest.mark.parametrize(("where", "value"), DAMAGE.values(), ids=DAMAGE)
def test_what_no_run_can_say_costs_it(folder: Path, where: str, value: Any) -> None:
    made(folder, run(1), run(2))
    if where.startswith("UPDATE run SET body"):
        change(folder, where, value)
    else:
        key = where.replace("UPDATE run SET notes = ? WHERE number = 1", "notes")
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        body = msgspec.json.encode({**msgspec.to_builtins(run(1)), key: msgspec.Raw(text.encode())}).decode()
        change(folder, "UPDATE run SET body = ? WHERE number = 1", body)
    one, two = runs_of(folder)
    assert (one.trial, one.outcome, two) == (trial(1), "unreadable", run(2))
    assert "run 1 cannot be read (" in one.message
    with Store.open(folder) as store:
        assert [each.outcome for _, each in store.heads()] == ["unreadable", "ok"]


@pytest.mark.parametrize("changed", [{"ok": -1}, {"duration_ns": 1 << 70}, {"errors": {"timeout": -5}}])
def test_a_second_of_numbers_that_cannot_be_costs_its_run(folder: Path, changed: dict[str, Any]) -> None:
    made(folder, run(1), run(2))
    body = msgspec.json.encode(msgspec.structs.replace(run(1).slices[1], **changed)).decode()
    change(folder, "UPDATE slice SET body = ? WHERE run = 1 AND position = 1", body)
    assert [each.outcome for each in runs_of(folder)] == ["unreadable", "ok"]


def test_a_run_that_is_not_of_its_trial_costs_it(folder: Path) -> None:
    other = msgspec.structs.replace(trial(1), contender="nobody")
    made(folder, run(1, trial=other))
    [found] = runs_of(folder)
    assert (found.outcome, found.trial) == ("unreadable", trial(1))


def test_damage_to_a_run_of_no_trial_of_the_plan_is_a_sentence(folder: Path) -> None:
    made(folder, run(1))
    change(folder, "UPDATE run SET body = '{}', trial = 'x'")
    with pytest.raises(UsageError, match=r"run 1 cannot be read \(.*\): another version of webdyno wrote it"):
        runs_of(folder)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"contenders": {}}, "it lacks the contender or the workload of trial"),
        ({"apps": {}}, "it lacks the app or the runtime of a"),
        ({"workloads": {"hello": fakes.workload("other")}}, "of its workloads, 'hello' calls itself 'other'"),
        ({"trials": [msgspec.structs.replace(trial(1), id="../../x")]}, "a trial cannot be called"),
        ({"seconds": 1e200}, "a number is too high"),
    ],
)
def test_a_plan_whose_parts_do_not_belong_together_is_a_sentence(
    folder: Path, changed: dict[str, Any], why: str
) -> None:
    Store.create(folder, msgspec.structs.replace(plan(), **changed), FINGERPRINT).close()
    with (
        Store.open(folder) as store,
        pytest.raises(UsageError, match=f"the plan cannot be read \\({why}.*: another ver"),
    ):
        store.plan()


def test_the_ways_to_harm_are_the_same_for_the_same_number(tmp_path: Path) -> None:
    file = hostile.base(tmp_path / "origin") / FILE
    raw = file.read_bytes()
    found = []
    for _ in range(2):
        file.write_bytes(raw)
        harming.flip_bits(file, Random(5))
        found.append(file.read_bytes())
    assert found[0] == found[1] != raw


LAST_WORDS = sorted((Path(__file__).parent / "golden").glob("*/*.order.json"))


@pytest.mark.parametrize("order", LAST_WORDS, ids=lambda path: f"{path.parent.name}-{path.name.split('.')[0]}")
def test_what_any_load_tool_says_at_its_end_is_believed(order: Path, folder: Path) -> None:
    events = msgspec.json.decode((order.parent / order.name.replace(".order.json", ".json")).read_bytes())
    said = [event["Summary"]["fields"] for event in events if "Summary" in event]
    made(folder, *(run(at, summary=fields) for at, fields in enumerate(said, start=1)))
    assert [each.outcome for each in runs_of(folder)] == ["ok"] * len(said)
