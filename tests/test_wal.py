"""The log beside a results file: read without a trace, and taken away once nobody reads."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tests.test_store import made, run, trial
from webdyno.model.errors import UsageError
from webdyno.store import FILE, Store
from webdyno.wal import PAUSE_S, TRIES, connect_without_trace, fold, is_written, signature, take_away


def test_the_log_is_taken_away_as_soon_as_the_last_reader_has_gone(tmp_path: Path) -> None:
    made(tmp_path, run(1))
    writer = Store.open(tmp_path, writable=True)
    writer.append(run(2))
    reader = Store.peek(tmp_path)
    assert len(reader.runs()) == 2
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            reader.close()

    writer._connection.execute("PRAGMA busy_timeout=10")
    take_away(writer._connection, wait)
    assert waits == [PAUSE_S] * 3
    writer._connection.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", FILE]


def test_a_reader_that_stays_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    made(tmp_path, run(1))
    writer = Store.open(tmp_path, writable=True)
    writer.append(run(2))
    waits: list[float] = []
    with Store.peek(tmp_path) as reader:
        assert len(reader.runs()) == 2
        writer._connection.execute("PRAGMA busy_timeout=10")
        take_away(writer._connection, waits.append)
        assert len(waits) == TRIES
    writer.close()


def test_a_peek_is_one_moment_and_cheap_looks_agree_with_whole_runs(tmp_path: Path) -> None:
    made(tmp_path, run(1), run(2, "interrupted"))
    with Store.open(tmp_path, writable=True) as writer:
        with Store.peek(tmp_path, checked=False) as reader:
            heads = reader.heads()
            writer.append(run(2))
            assert reader.heads() == heads
        with Store.peek(tmp_path) as reader:
            later = reader.heads(after=2)
            assert [(number, head.trial, head.outcome) for number, head in later] == [(3, trial(2), "ok")]
            assert [(head.slices, head.readings) for _, head in later] == [([], [])]
            assert reader.rates(after=2) == {3: 99.0}
            assert set(reader.rates()) == {1, 2, 3}


def test_a_signature_changes_with_every_run_and_is_empty_without_a_file(tmp_path: Path) -> None:
    assert signature(tmp_path / FILE) == ()
    made(tmp_path, run(1))
    seen = {signature(tmp_path / FILE)}
    with Store.open(tmp_path, writable=True) as writer:
        for number in (2, 3):
            writer.append(run(number))
            seen.add(signature(tmp_path / FILE))
        fold(writer._connection)
    assert len(seen) == 3


def test_what_is_no_file_of_ours_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("nothing of ours")
    with pytest.raises(UsageError, match="damaged or not a results file"):
        Store.peek(tmp_path)
    assert not is_written(tmp_path / FILE)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_what_is_no_ordinary_file_is_neither_waited_for_nor_followed(tmp_path: Path, end: str, kind: str) -> None:
    made(tmp_path, run(1))
    file = tmp_path / FILE
    beside = file.with_name(file.name + end)
    if kind == "pipe":
        os.mkfifo(beside)
    elif kind == "link":
        beside.symlink_to(tmp_path / "elsewhere")
    else:
        beside.mkdir()
    assert not is_written(file)
    with pytest.raises(sqlite3.DatabaseError, match=f"results.sqlite{end} is no ordinary file"):
        connect_without_trace(file)
    with pytest.raises(UsageError):
        Store.peek(tmp_path).close()
