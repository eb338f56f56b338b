"""Reading and analysing grow as the Runs do: counted in calls, for seconds say what else the machine did."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.many_runs import Shape, make
from webdyno.analyse import analyse, latency
from webdyno.analyse.table import Cell
from webdyno.store import Store

SMALL = Shape(contenders=6, cells=2, rounds=6)
TWICE = [SMALL._replace(rounds=12), SMALL._replace(cells=4)]


def calls(do: Callable[[], object]) -> int:
    """Functions of Python and of C that were called."""
    number = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    latency._merged.cache_clear()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        do()
    finally:
        sys.setprofile(before)
    return number


def spent(folder: Path) -> tuple[int, int, int]:
    """Statements of SQL for all Runs, calls to read them, and calls to analyse them."""
    said: list[str] = []
    with Store.open(folder) as store:
        store._connection.set_trace_callback(said.append)
        reading = calls(store.runs)
        store._connection.set_trace_callback(None)
        told = store.plan(), store.fingerprint(), store.runs()
    return len(said), reading, calls(lambda: analyse(*told))


@pytest.mark.parametrize("twice", TWICE, ids=["rounds", "cells"])
def test_twice_the_runs_are_at_most_twice_the_work(tmp_path: Path, twice: Shape) -> None:
    make(tmp_path / "warm", SMALL, variants=1)
    spent(tmp_path / "warm")  # what is imported by the first is no work of the Runs
    make(tmp_path / "twice", twice, variants=1)
    before, after = spent(tmp_path / "warm"), spent(tmp_path / "twice")
    assert twice.runs == 2 * SMALL.runs
    for less, more in zip(before, after, strict=True):
        assert more <= 2.1 * less


def test_no_rule_adds_up_all_rounds_for_each_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    ratio = Cell.error_ratio.fget
    assert ratio is not None
    monkeypatch.setattr(Cell, "error_ratio", property(lambda cell: asked.append(cell.planned) or ratio(cell)))
    for rounds in (6, 12):
        make(tmp_path / str(rounds), SMALL._replace(rounds=rounds), variants=1)
        with Store.open(tmp_path / str(rounds)) as store:
            analyse(store.plan(), store.fingerprint(), store.runs())
    assert asked.count(12) == asked.count(6) > 0


def test_a_run_costs_a_twentieth_of_a_statement(tmp_path: Path) -> None:
    make(tmp_path / "many", SMALL, variants=1)
    statements, _, _ = spent(tmp_path / "many")
    assert statements <= 2 + SMALL.runs / 20 + 3
