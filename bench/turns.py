"""What a turn costs beside its requests, and what engines that rest cost.

One engine takes turns of several lengths against the instant server, in an order drawn anew each round. The cost of one
is the time from the command written to the line read, less the length that the line tells (from the first request to
the last answer): the wake-ups of the engine's two threads and of this program, looks at clocks and counters, and the
line. Then several engines rest for some seconds, all their connections open, and the kernel says what they used.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench import engine
from bench.build import PROFILES, build
from bench.table import table

_MS = 1_000_000
_SECOND = 1_000_000_000
_CONNECTIONS = 64
_LENGTHS_MS = (1, 2, 5, 10, 20, 50)
_GOAL_MS = 0.3
_GOAL_REST = 0.001
"""Of a core, all engines together."""


class Instant:
    """The instant server, from ``with`` to its end."""

    def __init__(self, program: Path, seconds: int) -> None:
        self._argv = [str(program), "--seconds", str(seconds)]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._argv, stdout=subprocess.PIPE, text=True)
        if self._process.stdout is None:
            raise RuntimeError("a process that was asked for a pipe has none")
        self.port = int(self._process.stdout.readline())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        self._process.wait()


class Resting:
    """An engine that has its connections open and waits for commands, from ``with`` to its end."""

    def __init__(self, program: Path, port: int, threads: int, backend: str) -> None:
        changes: dict[str, Any] = {"schema": 4, "turns": True, "threads": threads, "backend": backend}
        self._program = program
        self._order = engine.order(port, engine.closed(_CONNECTIONS), **changes)

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([self._program], stdin=pipe, stdout=pipe)
        self._write(self._order)
        self._until("ready")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        self._process.communicate()

    def turn(self, duration_ns: int, *, histograms: bool) -> int:
        """What a turn took from its command to its line, less what the line says it was long."""
        command = {"turn": {"duration_ns": duration_ns, "phase": "turn", "histograms": histograms}}
        began = self._write(command)
        line = self._until("slice")
        if line["ok"] != line["offered"] or not line["ok"]:
            raise RuntimeError(f"a turn went wrong: {json.dumps(line)[:300]}")
        return int(line["read_at_ns"] - began - line["duration_ns"])

    def used_ns(self) -> int:
        """CPU of all its threads so far, as the scheduler counts it."""
        tasks = Path(f"/proc/{self._process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)

    def _write(self, said: dict[str, Any]) -> int:
        if self._process.stdin is None:
            raise RuntimeError("a process that was asked for a pipe has none")
        line = json.dumps(said).encode() + b"\n"
        at = time.monotonic_ns()
        self._process.stdin.write(line)
        self._process.stdin.flush()
        return at

    def _until(self, event: str) -> dict[str, Any]:
        """The next line of this kind; ``read_at_ns`` is when it came."""
        if self._process.stdout is None:
            raise RuntimeError("a process that was asked for a pipe has none")
        while line := self._process.stdout.readline():
            at = time.monotonic_ns()
            said: dict[str, Any] = json.loads(line)
            if said["event"] == event:
                return said | {"read_at_ns": at}
            if said["event"] == "fault":
                raise RuntimeError(said["message"])
        raise RuntimeError(f"the engine ended without saying {event}")


def costs(program: Path, port: int, rounds: int, threads: int, backend: str, *, histograms: bool) -> list[list[str]]:
    """A row for each length of turn."""
    taken: dict[int, list[float]] = {length: [] for length in _LENGTHS_MS}
    draw = random.Random(1)
    with Resting(program, port, threads, backend) as resting:
        for _ in range(rounds):
            for length in draw.sample(_LENGTHS_MS, len(_LENGTHS_MS)):
                taken[length].append(resting.turn(length * _MS, histograms=histograms) / _MS)
    return [[f"{length} ms", *_figures(all_ms)] for length, all_ms in taken.items()]


def _figures(all_ms: list[float]) -> list[str]:
    low, middle, high = statistics.quantiles(all_ms, n=4)
    return [f"{low:.3f}", f"{middle:.3f}", f"{high:.3f}", "met" if middle <= _GOAL_MS else "missed"]


def rest(program: Path, port: int, engines: int, seconds: float, backend: str) -> float:
    """Share of one core that so many engines used while all of them rested."""
    resting = [Resting(program, port, 1, backend) for _ in range(engines)]
    begun: list[Resting] = []
    try:
        for one in resting:
            begun.append(one.__enter__())
            one.turn(20 * _MS, histograms=False)
        before = sum(one.used_ns() for one in begun)
        time.sleep(seconds)
        return (sum(one.used_ns() for one in begun) - before) / (seconds * _SECOND)
    finally:
        for one in begun:
            one.__exit__(None, None, None)


def main(arguments: list[str]) -> int:
    """The command; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.turns", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="turns of each length (default: 40)")
    parser.add_argument("--threads", type=int, default=1, help="threads of load (default: 1)")
    parser.add_argument("--backend", default="epoll", help="epoll (the default) or io_uring")
    parser.add_argument("--histograms", action="store_true", help="report times, too")
    parser.add_argument("--engines", type=int, default=8, help="how many rest (default: 8)")
    parser.add_argument("--seconds", type=float, default=5, help="for how long (default: 5)")
    parser.add_argument(
        "--profile", choices=PROFILES, default="dist", help="Cargo profile of the engine (default: dist)"
    )
    chosen = parser.parse_args(arguments)
    built = build(chosen.profile)
    with Instant(built.instant, 600) as server:
        rows = costs(
            built.engine, server.port, chosen.rounds, chosen.threads, chosen.backend, histograms=chosen.histograms
        )
        share = rest(built.engine, server.port, chosen.engines, chosen.seconds, chosen.backend)
    print("\n".join(table(["turn of", "cost, ms: quarter", "median", "three quarters", f"at most {_GOAL_MS}"], rows)))
    verdict = "met" if share < _GOAL_REST else "missed"
    print(
        f"\n{chosen.engines} engines at rest: {100 * share:.4f} % of a core (below {100 * _GOAL_REST:g} %: {verdict})"
    )
    return int(verdict == "missed" or any(row[-1] == "missed" for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
