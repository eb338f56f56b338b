"""What limits a contender: each kind provoked, and nothing said where nothing stands out."""

from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, LOAD, PROBE, RIG, change_slices, plan, readings, run, workload
from webdyno.analyse import analyse
from webdyno.model.limit import Limit
from webdyno.model.run import Run
from webdyno.report import words

WIDE = msgspec.structs.replace(RIG, contender_cores=(0, 2, 3, 4))


def with_cpu(contender: float, driver: float = 0.5, **changes: Any) -> Run:
    made = run(readings=readings(3, contender=contender, driver=driver), **changes)
    return change_slices(made, cpu_user_ns=None, cpu_system_ns=None)


def found(made: Run, **changes: Any) -> list[Limit]:
    runs = [msgspec.structs.replace(made, trial=run(round_=r).trial) for r in (1, 2, 3)]
    [verdict] = analyse(plan(runs, **changes), FINGERPRINT, runs).verdicts
    return verdict.standings[0].limits


def closing(made: Run) -> Run:
    return change_slices(made, connections_opened=10_000, closes_announced=10_000)


CASES = {
    "cpu": (with_cpu(0.97), "is CPU-bound: its one core was 97 % busy"),
    "one-core": (with_cpu(1.0, rig=WIDE), "is bound by one core of 4: it uses 1.00 cores, one process does the work"),
    "generator": (with_cpu(0.75, driver=0.95), "got no more requests: the load generator was 95 % busy"),
    "closing": (closing(with_cpu(0.75)), "sets up a new connection for nearly every answer"),
    "memory": (with_cpu(0.75, memory_peak_bytes=512 << 20), "is at its memory limit (512 MiB of 512 MiB)"),
    "backlog": (
        closing(with_cpu(0.75, probe=msgspec.structs.replace(PROBE, backlog=5))),
        "lets at most 5 connections queue, and 64 connect again and again",
    ),
    "waiting": (with_cpu(0.2), "waits: its cores are 80 % idle"),
}


@pytest.mark.parametrize("kind", CASES)
def test_each_limit_is_seen(kind: str) -> None:
    made, says = CASES[kind]
    told = {limit.kind: limit.says for limit in found(made)}
    assert kind in told
    assert says in told[kind]  # type: ignore[index]


def test_a_wait_that_the_workload_asks_for_is_named() -> None:
    [waiting] = found(with_cpu(0.1), workloads={"hello": workload(service_floor_ms=1000.0)})
    assert "each answer takes 1000 ms by design" in waiting.says


@pytest.mark.parametrize("made", [with_cpu(0.75), run(readings=[]), run(slices=[]), run(outcome="died", message="x")])
def test_where_nothing_stands_out_nothing_is_said(made: Run) -> None:
    assert found(made) == []


def test_a_core_that_others_took_is_not_called_idle() -> None:
    made = run(readings=readings(3, contender=0.4, driver=0.3, host=1.8))
    assert found(made) == []
    assert [limit.kind for limit in found(run(readings=readings(3, contender=0.4, driver=0.3, host=0.72)))] == [
        "waiting"
    ]


def test_the_reports_group_them_by_what_limits_first() -> None:
    runs = [
        with_cpu(cpu, rate=rate, trial=run(name, round_=r, load=LOAD).trial)
        for name, cpu, rate in (("go", 0.97, 9e3), ("node", 0.96, 8e3), ("uvicorn", 0.2, 7e3))
        for r in (1, 2, 3)
    ]
    [verdict] = analyse(plan(runs), FINGERPRINT, runs).verdicts
    held = words.held_back(verdict)
    assert sorted(held) == ["CPU-bound on all their cores: go and node", "waiting, their cores idle: uvicorn"]
