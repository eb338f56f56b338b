"""The engine's instructions and system calls per request must not grow unseen."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.gates import GATES, Gate, UnavailableError, committed, per_request, strace_total, worse_by

STRACE = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 55.51    0.145881           7     20000           sendto
 44.49    0.116923           5     20016        16 recvfrom
------ ----------- ----------- --------- --------- ----------------
100.00    0.262804           6     40016        16 total
"""


def engine() -> Path:
    """The one that is installed beside this Python, or the one WEBDYNO_BENCH_ENGINE names."""
    named = os.environ.get("WEBDYNO_BENCH_ENGINE")
    return Path(named) if named else Path(sys.executable).with_name("webdyno-engine")


def test_the_total_of_strace_is_read() -> None:
    assert strace_total(STRACE) == 40016


def test_every_gate_has_a_committed_figure() -> None:
    assert {gate.name for gate in GATES} | {"margin"} == set(committed())


@pytest.mark.live
@pytest.mark.parametrize("gate", [gate for gate in GATES if gate.gated], ids=lambda gate: gate.name)
def test_a_request_costs_no_more_than_committed(gate: Gate) -> None:
    if not shutil.which(gate.tool):
        pytest.skip(f"{gate.tool} is not installed")
    if gate.tool == "valgrind" and not os.environ.get("CI"):
        pytest.skip("instructions depend on the compiler and the C library too: held where CI=true, against its own")
    if not engine().exists():
        pytest.skip(f"{engine()} is not installed")
    try:
        figures = list(until_within_margin(gate))
    except UnavailableError as reason:
        pytest.skip(str(reason))
    assert worse_by(min(figures), gate.name) <= committed()["margin"], f"{gate.name} is {figures}"


def until_within_margin(gate: Gate) -> Iterator[float]:
    """Up to three figures: a busy machine adds to one (waits that ran out and were begun anew), and takes from none."""
    for _ in range(3):
        figure = per_request(gate, engine())
        yield figure
        if worse_by(figure, gate.name) <= committed()["margin"]:
            return
