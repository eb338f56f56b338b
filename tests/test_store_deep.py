"""JSON as deep as a results file has room for: one sentence, or a Run that cannot be read; soon, and never a crash."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from bench import hostile
from tests.test_store import folder, made, run
from webdyno.model.errors import UsageError
from webdyno.store import FILE, Store

__all__ = ["folder"]  # the fixture

FIRST = {
    "plan": "TRUE",
    "fingerprint": "number = 1",
    "run": "number = 1",
    "slice": "run = 1 AND position = 0",
    "reading": "run = 1 AND position = 0",
}
"""By table: where its first noun stands."""
NESTS = {
    "lists": "[" * 450_000 + "]" * 450_000,
    "objects": '{"a":' * 150_000 + "1" + "}" * 150_000,
    "never closed": "[" * 900_000,
    "not long": "[" * 5_000 + "]" * 5_000,
}


def deepen(folder: Path, table: str, nest: str, key: str = "odd") -> None:
    """Put it into the first noun of that table."""
    with closing(sqlite3.connect(folder / FILE)) as there, there:
        [(body,)] = there.execute(f"SELECT body FROM {table} WHERE {FIRST[table]}").fetchall()
        deep = json.dumps({**json.loads(body), key: "@@"}).replace('"@@"', nest)
        there.execute(f"UPDATE {table} SET body = ? WHERE {FIRST[table]}", (deep,))


def in_a_thread(reading: hostile.Reader) -> hostile.Reader:
    """As the view reads, whose threads may have smaller stacks."""

    def read(folder: Path) -> object:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(reading, folder).result()

    return read


@pytest.mark.slow
@pytest.mark.parametrize("table", FIRST)
def test_however_deep_it_is_a_value_or_a_sentence_comes_soon_and_in_little_memory(table: str, tmp_path: Path) -> None:
    quiet = hostile.in_child(hostile.base(tmp_path / "quiet"), hostile.STORE)
    for number, nest in enumerate(NESTS.values()):
        harmed = hostile.base(tmp_path / str(number))
        deepen(harmed, table, nest)
        came = hostile.in_child(harmed, [*map(in_a_thread, hostile.STORE), *hostile.STORE])
        assert hostile.verdict(came, quiet) in ("value", "error"), list(NESTS)[number]


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
@pytest.mark.parametrize(("table", "key"), [("run", "odd"), ("run", "summary"), ("slice", "odd"), ("reading", "odd")])
def test_a_run_that_is_too_deep_cannot_be_read_and_the_others_can(
    folder: Path, table: str, key: str, nest: str
) -> None:
    made(folder, run(1), run(2))
    deepen(folder, table, nest, key)
    with Store.open(folder) as store:
        one, two = store.runs()
    assert (one.outcome, two) == ("unreadable", run(2))
    assert "run 1 cannot be read (it is too deep): " in one.message


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
@pytest.mark.parametrize(("table", "what"), [("plan", "the plan"), ("fingerprint", "fingerprint 1")])
def test_a_file_whose_plan_or_machine_is_too_deep_is_refused_with_a_sentence(
    folder: Path, table: str, what: str, nest: str
) -> None:
    made(folder, run(1))
    deepen(folder, table, nest)
    with Store.open(folder) as store, pytest.raises(UsageError, match=f"{what} cannot be read \\(it is too deep\\): "):
        _ = store.plan(), store.fingerprint()
