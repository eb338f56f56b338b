"""The machine as a whole, from fake and real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdyno.measure import machine
from webdyno.measure.machine import read_machine

STAT = """cpu  10 20 30 1000 500 4 6 7 8 9
cpu0 10 20 30 1000 500 4 6 7 8 9
ctxt 5
procs_running 3
"""


def test_busy_is_all_but_idle_and_waiting_and_what_was_stolen(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text(STAT)
    reading = read_machine(tmp_path)
    tick = 10_000_000
    assert (reading.role, reading.busy_ns, reading.steal_ns) == ("host", (10 + 20 + 30 + 4 + 6) * tick, 7 * tick)
    assert reading.run_queue == 2.0  # without the reader
    assert reading.steal_by_core == {"0": 7 * tick}


def test_what_each_core_lost_is_told_of_those_that_lost_any(tmp_path: Path) -> None:
    lines = [
        "cpu  1 0 1 9 0 0 0 12 0 0",
        "cpu0 1 0 0 9 0 0 0 0 0 0",
        "cpu1 0 0 1 0 0 0 0 5 0 0",
        "cpu12 0 0 0 0 0 0 0 7 0 0",
    ]
    (tmp_path / "stat").write_text("\n".join(lines))
    assert read_machine(tmp_path).steal_by_core == {"1": 50_000_000, "12": 70_000_000}


def test_kernels_without_steal_leave_it_unknown(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  10 20 30 1000 500 4 6\n")
    reading = read_machine(tmp_path)
    assert (reading.steal_ns, reading.steal_by_core) == (None, None)


def test_what_the_kernel_does_for_the_network_is_known_by_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_softirqd", lambda: {"0": 14, "1": 22, "2": 30})
    (tmp_path / "22").mkdir()
    (tmp_path / "22" / "schedstat").write_text("3640000 7 9\n")
    (tmp_path / "30").mkdir()
    (tmp_path / "30" / "schedstat").write_text("\n")
    assert read_machine(tmp_path).softirqd_by_core == {"1": 3_640_000}


def test_the_threads_for_it_are_the_kernels_own_and_not_whoever_has_their_name() -> None:
    machine._softirqd.cache_clear()
    for core, pid in machine._softirqd().items():
        assert Path(f"/proc/{pid}/comm").read_text().strip() == f"ksoftirqd/{core}"
        assert not Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_machine_that_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    reading = read_machine(tmp_path)
    assert (reading.busy_ns, reading.steal_ns, reading.run_queue) == (None, None, None)
    assert reading.at_ns > 0


def test_this_machine_is_busy() -> None:
    assert (read_machine().busy_ns or 0) > 0
