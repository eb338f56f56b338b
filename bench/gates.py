"""Figures that repeat on the busiest machine: the engine's instructions and system calls per request.

Instructions are those of the loops that load, in user space (valgrind's callgrind, told to count from a worker's begin
to its end): the difference between a longer and a shorter run, divided by the difference of their requests, so that
opening the connections does not count. What another thread does once for each slice does not either: joining histograms
and writing them is the same work for a thousand requests as for a million. They are a tenth of what a request costs,
the kernel is the rest: good to see that we got worse, never to be quoted as speed. System calls are what strace counts,
by the same difference. With one connection every turn of the engine's loop finds one answer, and instructions repeat to
0.5 %; with 64 it depends on the server how many it finds (3 % between runs), so that figure is shown and not gated.
The same holds for the system calls of io_uring, which are one for each turn: with one connection, one for each request.

``gates.toml`` holds what was committed; more than its margin above that is a failure.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench import engine
from bench.answering import Answering
from bench.build import PROFILES, build
from bench.table import table

COMMITTED = Path(__file__).with_name("gates.toml")
_FEW, _MANY = 5_000, 65_000
_LONGEST_S = 60
_LOOP = "*Worker<*>::run"
"""A worker from its start to its end, as callgrind spells it."""


class Run(NamedTuple):
    """What is counted: so many requests over so many connections."""

    connections: int
    requests: int
    backend: str


class UnavailableError(RuntimeError):
    """This machine has not the back end that a gate is about."""


class Gate(NamedTuple):
    """One counter: the tool it needs, and how the tool is asked."""

    name: str
    tool: str
    measure: Callable[[Path, Run], int]
    """Total over a run."""
    connections: int
    goal: float
    gated: bool = True
    backend: str = "epoll"


def instructions(program: Path, run: Run) -> int:
    """callgrind's own total of the workers' loops, ``refs:`` in what it says at the end."""
    with tempfile.TemporaryDirectory() as folder:
        tool = ["valgrind", "--tool=callgrind", f"--toggle-collect={_LOOP}", f"--callgrind-out-file={folder}/out"]
        said = _run([*tool, str(program)], run)
    found = re.search(r"Collected : (\d+)", said) or re.search(r"I\s+refs:\s+([\d,]+)", said)
    if not found:
        raise RuntimeError(f"callgrind did not say how many instructions it saw: {said[-300:]}")
    total = int(found[1].replace(",", ""))
    if not total:
        raise RuntimeError(f"callgrind saw no function like {_LOOP} in {program}: renamed, or without its symbols?")
    return total


def system_calls(program: Path, run: Run) -> int:
    """The total line of strace's table, all threads."""
    with tempfile.NamedTemporaryFile("r") as file:
        _run(["strace", "-f", "-c", "-o", file.name, str(program)], run)
        return strace_total(file.read())


def strace_total(text: str) -> int:
    """Calls in the line ``total``: its columns are share, seconds, microseconds per call, calls, errors."""
    line = next((line for line in text.splitlines() if line.split()[-1:] == ["total"]), "")
    numbers = [word for word in line.split()[:-1] if word.isdigit()]
    if not numbers:
        raise RuntimeError(f"strace printed no total: {text[-300:]}")
    # older straces leave out microseconds per call in this line; errors, when there are any, come last
    return max(map(int, numbers))


GATES: tuple[Gate, ...] = (
    Gate("instructions_per_request", "valgrind", instructions, 1, 400),
    Gate("instructions_per_request_of_64", "valgrind", instructions, 64, 400, gated=False),
    Gate("system_calls_per_request_of_64", "strace", system_calls, 64, 2.03),
    Gate("ring_instructions_per_request", "valgrind", instructions, 1, 800, backend="io_uring"),
    Gate("ring_system_calls_per_request", "strace", system_calls, 1, 1.0, backend="io_uring"),
    Gate("ring_system_calls_per_request_of_64", "strace", system_calls, 64, 0.03, gated=False, backend="io_uring"),
)


def per_request(gate: Gate, program: Path) -> float:
    """The slope between a short and a long run."""
    few, many = (gate.measure(program, Run(gate.connections, n, gate.backend)) for n in (_FEW, _MANY))
    return (many - few) / (_MANY - _FEW)


def committed() -> dict[str, float]:
    """Margin and figures of gates.toml."""
    read = tomllib.loads(COMMITTED.read_text("utf-8"))
    return {name: float(value) for name, value in read.items() if isinstance(value, int | float)}


def worse_by(figure: float, name: str) -> float:
    """Share above the committed figure; negative when it got better."""
    return figure / committed()[name] - 1


def _run(argv: list[str], run: Run) -> str:
    with Answering() as server:
        closed = engine.closed(run.connections)
        # one slice: writing one costs as much as a thousand requests, and slow runs would have more of them
        changes = {"body_length": 15, "slice_ns": 3_600_000_000_000} | engine.driven_by(run.backend)
        order = engine.order(server.port, closed, count=run.requests, **changes)
        done = subprocess.run(
            argv, input=json.dumps(order), capture_output=True, text=True, timeout=_LONGEST_S, check=False
        )
    said = engine.last_line(done.stdout)
    if said.get("ok") != run.requests:
        raise RuntimeError(f"the run for a gate went wrong: {json.dumps(said)[:500]}; {done.stderr[-300:]}")
    started = json.loads(done.stdout.splitlines()[0])
    if started["backend"] != run.backend:
        raise UnavailableError(started["backend_note"])
    return done.stderr


def measure(program: Path) -> tuple[dict[str, float], dict[str, str]]:
    """The figure of every gate, and for those that cannot be had here the reason."""
    figures: dict[str, float] = {}
    skipped: dict[str, str] = {}
    for gate in GATES:
        if not shutil.which(gate.tool):
            skipped[gate.name] = f"{gate.tool} is not installed"
            continue
        try:
            figures[gate.name] = per_request(gate, program)
        except UnavailableError as reason:
            skipped[gate.name] = str(reason)
    return figures, skipped


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.gates", description=__doc__)
    parser.add_argument("--engine", type=Path, help="a webdyno-engine that is built already")
    parser.add_argument("--profile", choices=PROFILES, default="dist", help="what to build otherwise (default dist)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    chosen = parser.parse_args(arguments)
    program = chosen.engine or build(chosen.profile).engine
    figures, skipped = measure(program)
    print(json.dumps(figures, indent=1) if chosen.json else "\n".join(_page(figures, skipped)))
    limit = 1 + committed()["margin"]
    return int(
        any(
            figures[gate.name] > limit * committed()[gate.name] for gate in GATES if gate.name in figures and gate.gated
        )
    )


def _page(figures: dict[str, float], skipped: dict[str, str]) -> list[str]:
    rows = []
    for gate in GATES:
        before = committed()[gate.name]
        if gate.name not in figures:
            rows.append([gate.name, "-", f"{before:g}", f"skipped: {skipped[gate.name]}", f"{gate.goal:g}", ""])
            continue
        now = figures[gate.name]
        change = f"{100 * worse_by(now, gate.name):+.1f} %" + ("" if gate.gated else " (not gated)")
        goal = "met" if now <= gate.goal else f"missed by {100 * (now / gate.goal - 1):.0f} %"
        rows.append([gate.name, f"{now:.3f}", f"{before:g}", change, f"{gate.goal:g}", goal])
    return table(["figure", "now", "committed", "change", "goal", "verdict"], rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
