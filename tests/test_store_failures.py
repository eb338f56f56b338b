"""Every way a results file can fail, each with the one sentence that says so."""

from __future__ import annotations

import re
import resource
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
        with pytest.raises(
            MachineError, match=r"the disk at /.* MB\) is full; the Runs so far are kept: make room; --res"
        ):
            store.append(run(2, log_tail="x" * 100_000))
        assert store.runs() == [run(1)]
        store._rows("PRAGMA max_page_count=1000000")
        assert store.append(run(2)) == 2


@pytest.mark.parametrize("pages", [1, 2, 6, 10])
def test_a_disk_that_is_full_before_a_run_leaves_no_folder_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    begin = Store._begin

    def full(store: Store, *given: Any) -> None:
        store._rows(f"PRAGMA max_page_count={pages}")
        begin(store, *given)

    monkeypatch.setattr(Store, "_begin", full)
    with pytest.raises(MachineError, match=r"is full; nothing was measured yet: make room; or name a folder on anoth"):
        Store.create(folder, plan(), FINGERPRINT)
    assert not folder.exists()


def test_what_a_kill_leaves_before_the_first_run_is_told_to_begin_anew(folder: Path) -> None:
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / FILE) as cut:
        cut.execute("PRAGMA journal_mode=WAL")
    cut.close()
    for how in (Store.open, Store.peek):
        with pytest.raises(UsageError, match=r"is empty: webdyno ended, or had no space, before .*; start over"):
            how(folder)
    (folder / FILE).write_bytes(b"")
    with pytest.raises(UsageError, match="start over"):
        Store.open(folder, writable=True)


def test_a_limit_of_file_sizes_is_a_sentence_and_keeps_what_is_there(folder: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store.create(folder, plan(), FINGERPRINT) as store:
        store.append(run(1))
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))  # Python ignores SIGXFSZ
        try:
            with pytest.raises(
                MachineError, match=r"the disk at /.* fails, or lets no file grow .* `ulimit -f`, or copy"
            ):
                store.append_all([run(2, log_tail="x" * 4_000)] * 60)
            assert store.runs() == [run(1)]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert store.append(run(2)) == 2


def test_a_disk_that_is_full_is_not_waited_for_when_a_store_is_closed(folder: Path) -> None:
    waited: list[float] = []
    store = Store.create(folder, plan(), FINGERPRINT)
    store.append(run(1))
    store._connection.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)  # an error that no waiting ends
    wal.take_away(store._connection, waited.append)
    assert waited == []
    store._connection.close()


def gone(folder: Path) -> None:
    shutil.rmtree(folder)


def moved(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def replaced(folder: Path) -> None:
    moved(folder)
    other = Store.create(folder, plan(), FINGERPRINT)
    other.append(run(3))
    other._connection.execute("PRAGMA wal_autocheckpoint=0")
    (folder / f"{FILE}-wal").write_bytes(b"another one's")
    KEPT_OPEN.append(other)


KEPT_OPEN: list[Store] = []
"""As a webdyno that was killed leaves it: nobody closes it."""


@pytest.mark.parametrize("happens", [gone, moved, replaced])
@pytest.mark.parametrize("then", ["append", "grow", "look"])
def test_a_folder_that_is_no_more_where_it_was_is_written_to_no_more(
    folder: Path, happens: Callable[[Path], None], then: str
) -> None:
    with Store.create(folder, plan(), FINGERPRINT) as store:
        store.append(run(1))
        store.refuse_moved()
        happens(folder)
        with pytest.raises(
            MachineError, match=f"{folder} was removed, moved or replaced while webdyno wrote to it, so"
        ):
            {"append": lambda: store.append(run(2)), "grow": lambda: store.grow([]), "look": store.refuse_moved}[then]()
    assert folder.exists() == (happens is replaced), "nothing is made anew"
    if happens is replaced:
        assert (folder / f"{FILE}-wal").read_bytes() == b"another one's"
    if happens is moved:
        with Store.open(folder.with_name("elsewhere"), writable=True) as there:
            assert there.runs() == [run(1)]
            assert there.append(run(2)) == 2


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
