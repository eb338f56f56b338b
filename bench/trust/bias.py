"""Bias: does a contender have the rate in its turns that it has under load for longer?

Blocks as ever, but each pass has a long window of each contender among its turns, so that both see the same machine.
What all have less in turns than in windows is no bias of a comparison: each is compared with the mean of its block. The
interval is by the jackknife over passes (B. Efron, C. Stein 1981, The jackknife estimate of variance, Annals of
Statistics 9).
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import msgspec

from bench.table import table
from bench.trust.studies import Recorded, read
from webdyno import api
from webdyno.conduct import block
from webdyno.conduct.seat import Seat
from webdyno.model.run import Run
from webdyno.model.sample import Slice

SERVERS = (
    "aiohttp", "cheroot", "go", "granian-asgi", "granian-wsgi", "gunicorn-gevent", "gunicorn-sync", "node", "tornado",
    "twisted", "uvicorn", "waitress",
)  # fmt: skip
SECONDS = 240.0
"""Of each block."""
WARM_S, LEAD_S, WINDOW_S = 1.5, 0.1, 0.5
TURNS = 4
"""Of each contender to a window."""
GOAL = 0.02
SURE = 1.96
Sums = tuple[float, float, float]
"""Correct answers, seconds, seconds of CPU."""


@dataclass(frozen=True, slots=True)
class Bias:
    """Logarithm of a figure in turns divided by that in windows, against the mean of the block; nan: unknown."""

    log: float
    error: float

    def __str__(self) -> str:
        return "-" if math.isnan(self.log) else f"{math.expm1(self.log):+.1%} +-{SURE * self.error:.1%}"


def run(folder: Path, seconds: float, turn_s: float | None = None) -> list[str]:
    """The table, after so long for each block; turns at least so long, None: as ever."""

    def load(self: block._Block, seated: Sequence[Seat]) -> None:
        if turn_s is not None:
            self._turns = msgspec.structs.replace(self._turns, turn_s=turn_s)
        _interleaved(self, seated, seconds)

    with patch.object(block._Block, "_load", load):
        made = api.measure(
            "quickstart", contenders=SERVERS, workloads=["hello"], rounds=1, exhaustive=True, results=folder
        )
    return report(read(made.folder))


def _interleaved(self: block._Block, seated: Sequence[Seat], seconds: float) -> None:
    """Passes of turns and windows until the time is up."""
    for seat in self._able(seated):
        seat.turn(WARM_S, "warmup")
    lengths = {seat.trial.id: self._turn_s(seat) for seat in seated}
    ends = time.monotonic() + seconds
    number = 0
    while number == 0 or (time.monotonic() < ends and not self._bench.interrupted.is_set()):
        for _ in range(TURNS):
            self._pass(number, seated, lengths)
        for seat in self._able(self._shuffled(seated)):
            seat.turn(WINDOW_S, "steady", number=number, lead_s=LEAD_S)
        number += 1


def report(recorded: Recorded) -> list[str]:
    """Of every server, in its block."""
    blocks: dict[int | None, list[Run]] = {}
    for each in recorded.runs:
        blocks.setdefault(each.block, []).append(each)
    rows = [row for number, runs in blocks.items() if number is not None for row in _of_block(runs)]
    alone = [run.trial.contender for run in blocks.get(None, [])]
    columns = ["server", "passes", "requests/s in windows", "rate in turns", "CPU per request in turns", "within 2 %"]
    return [*table(columns, sorted(rows)), *([f"measured alone: {', '.join(alone)}"] if alone else [])]


def _of_block(runs: Sequence[Run]) -> Iterator[list[str]]:
    passes = {run.trial.contender: passes_of(run) for run in runs}
    rates, costs = (biases(passes, spent) for spent in (1, 2))
    for name, taken in passes.items():
        windows = [sum(window[at] for _, window in taken) for at in (0, 1)]
        found = rates[name]
        met = "yes" if abs(found.log) <= math.log1p(GOAL) else "no"
        sure = "" if SURE * found.error < GOAL else ", not known to 2 %"
        yield [name, str(len(taken)), f"{windows[0] / windows[1]:,.0f}", str(found), str(costs[name]), met + sure]


def passes_of(run: Run) -> list[tuple[Sums, Sums]]:
    """The turns and the window of each pass that had both."""
    turns, windows = (_by_pass(run.slices, phase) for phase in ("turn", "steady"))
    return [(turns[number], windows[number]) for number in sorted(turns.keys() & windows.keys())]


def _by_pass(slices: Sequence[Slice], phase: str) -> dict[int, Sums]:
    found: dict[int, Sums] = {}
    for each in slices:
        if each.phase == phase and each.turn is not None:
            ok, seconds, cpu_s = found.get(each.turn, (0.0, 0.0, 0.0))
            used_ns = each.contender_cpu_ns or math.nan
            found[each.turn] = ok + each.ok, seconds + each.duration_ns / 1e9, cpu_s + used_ns / 1e9
    return found


def biases(passes: Mapping[str, Sequence[tuple[Sums, Sums]]], spent: int) -> dict[str, Bias]:
    """Of answers per second (``spent`` 1), or of CPU per answer (2)."""
    sign = 1 if spent == 1 else -1
    logs = {name: sign * _log(taken, spent) for name, taken in passes.items()}
    mean = statistics.fmean(logs.values())
    return {name: Bias(logs[name] - mean, _error(taken, spent)) for name, taken in passes.items()}


def _error(taken: Sequence[tuple[Sums, Sums]], spent: int) -> float:
    """By leaving out one pass after the other."""
    number = len(taken)
    if number < 2:
        return math.inf
    left = [_log([*taken[:at], *taken[at + 1 :]], spent) for at in range(number)]
    return math.sqrt((number - 1) / number * sum((each - statistics.fmean(left)) ** 2 for each in left))


def _log(taken: Sequence[tuple[Sums, Sums]], spent: int) -> float:
    turns, windows = ([sum(each[part][at] for each in taken) for at in (0, spent)] for part in (0, 1))
    return math.log(turns[0] / turns[1] / (windows[0] / windows[1]))
