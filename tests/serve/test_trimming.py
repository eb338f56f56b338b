"""Logs that many trials append to stay small, and keep their end."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.analyse.fakes import run
from tests.fakes import contender, workload
from webdyno.model.built import Built
from webdyno.serve.trimming import KEPT_BYTES, MOST_BYTES, trim
from webdyno.session import loop
from webdyno.session.tryout.bench import TryBench
from webdyno.session.tryout.fitting import Setting

LINE = b"GET / 200\n"


def test_a_long_log_keeps_whole_lines_of_its_end(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(LINE * (MOST_BYTES // len(LINE)) + b"the last word\n")
    trim(log)
    kept = log.read_bytes()
    assert KEPT_BYTES - len(LINE) <= len(kept) <= KEPT_BYTES
    assert kept.startswith(LINE)
    assert kept.endswith(LINE + b"the last word\n")
    with log.open("ab") as file:
        file.write(b"more\n")
    assert log.read_bytes() == kept + b"more\n"


def test_a_log_without_lines_keeps_its_end_and_a_short_one_everything(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"x" * (MOST_BYTES + 1))
    (tmp_path / "b.log").write_bytes(b"x" * MOST_BYTES)
    for name in ("a.log", "b.log", "none.log"):
        trim(tmp_path / name)
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {"a.log": KEPT_BYTES, "b.log": MOST_BYTES}


def test_each_trial_leaves_a_short_log_of_its_load_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def conduct(trial: Any, bench: Any, built: Any) -> Any:
        with bench.driver_log(trial).open("ab") as file:
            file.write(b"x" * (MOST_BYTES + 1))
        return run("fast")

    monkeypatch.setattr(loop, "conduct", conduct)
    here: Any = SimpleNamespace(daemons=None, interrupted=threading.Event())
    bench = TryBench(
        strapped=here,
        workload=workload("app"),
        connections=1,
        driver_version="",
        logs=tmp_path,
    )
    built = Built(contender="fast", key="k", directory="", environment={}, versions={}, log="", seconds=0.0)
    bench.add(Setting(contender("fast"), "fast", None, None, True), built)
    bench.measure("fast", 1.0)
    assert [path.stat().st_size for path in tmp_path.iterdir()] == [KEPT_BYTES]
