"""Every way a results file can fail, each with the one sentence that says so."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from tests.test_store import FINGERPRINT, folder, made, plan, run
from webdyno import wal
from webdyno.model.errors import MachineError, UsageError
from webdyno.store import FILE, Store
from webdyno.store.schema import SCHEMA

__all__ = ["folder"]  # the fixture


def test_results_are_never_written_over(folder: Path) -> None:
    made(folder)
    with pytest.raises(UsageError, match=f"{folder} has results already: continue them with --resume {folder}"):
        Store.create(folder, plan(), FINGERPRINT)


def test_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match=r"cannot be made \(Not a directory\): give a folder you may write to"):
        Store.create(tmp_path / "file" / "results", plan(), FINGERPRINT)


@pytest.mark.parametrize("name", ["", "nowhere", "results.sqlite"])
def test_no_results_is_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"no results here \(no results.sqlite\); `webdyno run STUDY` makes a folder"):
        Store.open(tmp_path / name)


def test_other_sqlite_file_is_not_ours(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as other:
        other.execute("CREATE TABLE run (number INTEGER)")
    other.close()
    with pytest.raises(UsageError, match="is not a results file of webdyno: name a folder that `webdyno run` made"):
        Store.open(tmp_path)


def test_newer_schema_says_to_upgrade(folder: Path) -> None:
    made(folder)
    with sqlite3.connect(folder / FILE) as newer:
        newer.execute(f"PRAGMA user_version={SCHEMA + 1}")
    newer.close()
    with pytest.raises(
        UsageError, match=f"has schema {SCHEMA + 1}, this webdyno reads up to {SCHEMA}: install a newer"
    ):
        Store.open(folder)


def test_text_is_not_a_results_file(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("hello " * 1000)
    with pytest.raises(UsageError, match=r"is damaged or not a results file .* use another copy"):
        Store.open(tmp_path)


@pytest.mark.parametrize("writable", [False, True])
def test_damaged_file_is_noticed_when_opened(folder: Path, writable: bool) -> None:
    made(folder, *[run(number % 3 + 1) for number in range(40)])
    raw = bytearray((folder / FILE).read_bytes())
    raw[8192:20480] = b"\xff" * 12288
    (folder / FILE).write_bytes(raw)
    with pytest.raises(UsageError, match=r"is damaged or not a results file .* `sqlite3 .* .recover` may save"):
        Store.open(folder, writable=writable)


def test_cut_file_is_noticed_when_opened(folder: Path) -> None:
    made(folder, *[run(number % 3 + 1) for number in range(40)])
    raw = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(raw[: len(raw) // 2])
    with pytest.raises(UsageError, match="is damaged or not a results file"):
        Store.open(folder)


def test_body_that_is_no_run_says_which(folder: Path) -> None:
    made(folder, run())
    with sqlite3.connect(folder / FILE) as other:
        other.execute("UPDATE run SET body = '{}'")
    other.close()
    with Store.open(folder) as store:
        [found] = store.runs()
    assert found.outcome == "unreadable"
    assert re.search(r"run 1 cannot be read \(.*\): another version of webdyno wrote it", found.message)


def test_full_disk_is_a_sentence_and_keeps_what_is_there(folder: Path) -> None:
    with Store.create(folder, plan(), FINGERPRINT) as store:
        store.append(run(1))
        [(pages,)] = store._rows("PRAGMA page_count")
        store._rows(f"PRAGMA max_page_count={pages + 1}")  # SQLite's own full disk
        with pytest.raises(MachineError, match=r"the disk is full; the Runs so far are kept: make room; a study"):
            store.append(run(2, log_tail="x" * 100_000))
        assert store.runs() == [run(1)]
        store._rows("PRAGMA max_page_count=1000000")
        assert store.append(run(2)) == 2


def test_file_that_may_only_be_read_is_a_sentence(folder: Path) -> None:
    made(folder, run(1))
    with (
        Store.open(folder) as store,
        pytest.raises(MachineError, match="cannot be written to; the Runs so far are kept: make it writable, or copy"),
    ):
        store.append(run(2))


def test_second_writer_at_the_same_moment_is_told_to_wait(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wal, "PAUSE_S", 0)  # the first to close finds the other still there
    with Store.create(folder, plan(), FINGERPRINT) as one, Store.open(folder, writable=True) as two:
        two._connection.execute("PRAGMA busy_timeout=10")
        with (
            one._transaction(),
            pytest.raises(MachineError, match="another webdyno is writing to it: wait until it has"),
        ):
            two.append(run())
