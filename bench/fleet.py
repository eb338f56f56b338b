"""How a fleet grows: a plan of many cells on many hosts, some of which die, by the scheduling code that ``run`` uses.

Which host gets what, and what is done again, is decided by ``webdyno.design.fleet``; hosts, their deaths and their
speeds are made up from a seed. A block takes as long as a plan foretells, times the speed of its host and some noise. A
host dies after an exponential time and does not come back; the fleet notices it as late as a session does. What a host
had finished is kept, block by block. ``bound`` is when the hosts that live have had as many seconds as the finished
blocks took: as if blocks could be divided, and all deaths were known.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from bench.many_runs import Shape, plan_of
from bench.table import table
from webdyno.design import Block
from webdyno.design.blocks import Room
from webdyno.design.fleet import Batch, hand_out, sharing_of, worth_doing
from webdyno.design.length import expected_s
from webdyno.model.block import Turns
from webdyno.model.trial import Plan
from webdyno.rig.far import LOST_S

SPEEDS, NOISE = 0.03, 0.02
"""Standard deviations of logarithms: of hosts, and of blocks on one host."""


class World(NamedTuple):
    """Hosts, and how long they last."""

    hosts: int
    mtbf_h: float
    """Mean time until one dies; infinite: none does."""
    seed: int = 1


class Course(NamedTuple):
    """What came of a plan."""

    hours: float
    bound_h: float
    idle: float
    """Of the time that hosts lived until the end, the part in which they had nothing to do."""
    repeats: int
    """Trials that were begun on a host that died."""
    repeated: float
    """Seconds spent on them, as a part of the work."""
    dead: int
    left: int
    """Trials that nobody was left to do, or that were given up."""


class _Step(NamedTuple):
    """A block that a host carries out."""

    block: Block
    begins_s: float
    ends_s: float


@dataclass
class _Host:
    dies_s: float
    pace: float
    busy_s: float = 0.0
    steps: Sequence[_Step] = ()
    """Of its batch; none: it is free."""


def simulate(plan: Plan, world: World) -> Course:
    """``plan`` on a fleet, event by event."""
    return _Simulation(plan, world).run()


class _Simulation:
    def __init__(self, plan: Plan, world: World) -> None:
        self._chance = random.Random(world.seed)
        self._plan, self._now_s, self._last_s = plan, 0.0, 0.0
        self._sharing = sharing_of(plan, Room(memory_bytes=None))
        self._hosts = {f"host-{at:04d}": self._host(world) for at in range(world.hosts)}
        self._left = {trial.id: trial for trial in plan.trials}
        self._in_flight: set[str] = set()
        self._had: Counter[tuple[str, int]] = Counter()
        self._losses: Counter[str] = Counter()
        self._events: list[tuple[float, str]] = []
        self._work_s = self._repeated_s = 0.0

    def _host(self, world: World) -> _Host:
        dies_s = math.inf if math.isinf(world.mtbf_h) else self._chance.expovariate(1 / (3600 * world.mtbf_h))
        return _Host(dies_s, self._chance.lognormvariate(0, SPEEDS))

    def run(self) -> Course:
        self._give()
        while self._events:
            self._now_s, name = heapq.heappop(self._events)
            self._end(self._hosts[name])
            self._give()
        dies_s = [host.dies_s for host in self._hosts.values()]
        return Course(
            hours=self._last_s / 3600,
            bound_h=_bound_s(self._work_s, dies_s) / 3600,
            idle=1 - sum(host.busy_s for host in self._hosts.values()) / sum(min(at, self._last_s) for at in dies_s),
            repeats=sum(self._losses.values()),
            repeated=self._repeated_s / max(self._work_s, 1.0),
            dead=sum(at <= self._last_s for at in dies_s),
            left=len(self._left),
        )

    def _give(self) -> None:
        """What the fleet decides for the hosts that wait."""
        free = [name for name, host in self._hosts.items() if not host.steps and host.dies_s > self._now_s]
        wanted = worth_doing(self._left.values(), self._in_flight, self._losses)
        for name, batch in hand_out(self._sharing, [], wanted, free, self._had).items():
            self._had[name, self._sharing.table(batch[0][0])] += 1
            self._in_flight.update(trial.id for block in batch for trial in block)
            host = self._hosts[name]
            host.steps = list(self._steps(host, batch))
            ends_s = host.steps[-1].ends_s
            heapq.heappush(self._events, (ends_s if ends_s <= host.dies_s else host.dies_s + LOST_S, name))

    def _steps(self, host: _Host, batch: Batch) -> Iterator[_Step]:
        at_s = self._now_s
        for block in batch:
            length_s = sum(expected_s(self._plan, trial) for trial in block)
            begins_s, at_s = at_s, at_s + length_s * host.pace * self._chance.lognormvariate(0, NOISE)
            yield _Step(block, begins_s, at_s)

    def _end(self, host: _Host) -> None:
        """Write down what it finished."""
        for block, begins_s, ends_s in host.steps:
            took_s = max(min(ends_s, host.dies_s) - begins_s, 0.0)
            host.busy_s += took_s
            self._last_s = max(self._last_s, begins_s + took_s)
            self._in_flight.difference_update(trial.id for trial in block)
            if ends_s <= host.dies_s:
                self._work_s += took_s
                for trial in block:
                    del self._left[trial.id]
            elif took_s:
                self._repeated_s += took_s
                self._losses.update(trial.id for trial in block)
        host.steps = ()


def _bound_s(work_s: float, dies_s: Sequence[float]) -> float:
    """When hosts that die then have lived for so long, all together."""
    lived_s, at_s, alive = 0.0, 0.0, len(dies_s)
    for death_s in sorted(dies_s):
        if lived_s + alive * (death_s - at_s) >= work_s:
            break
        lived_s, at_s, alive = lived_s + alive * (death_s - at_s), death_s, alive - 1
    return at_s + (work_s - lived_s) / alive if alive else math.inf


def rows(plan: Plan, worlds: Sequence[World], seeds: int) -> Iterator[list[str]]:
    """Medians over ``seeds`` of each."""
    for world in worlds:
        told = [simulate(plan, world._replace(seed=seed)) for seed in range(1, seeds + 1)]
        hours, bound, idle, repeats, repeated, dead, left = (
            statistics.median(each) for each in zip(*told, strict=True)
        )
        mtbf = "-" if math.isinf(world.mtbf_h) else f"{world.mtbf_h:g} h"
        times = [f"{hours:.2f} h", f"{bound:.2f} h", f"{100 * (hours / bound - 1):.1f} %", f"{100 * idle:.1f} %"]
        lost = [f"{dead:g}", f"{repeats:g}", f"{100 * repeated:.2f} %", f"{left:g}"]
        yield [f"{world.hosts}", mtbf, *times, *lost]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=__doc__)
    parser.add_argument("--cells", type=int, default=10_000, help="trials of a round (default 10000)")
    parser.add_argument("--contenders", type=int, default=50, help="of each table (default 50)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=15.0, help="of load, each trial (default 15)")
    parser.add_argument("--hosts", type=int, nargs="+", default=[1, 10, 100, 1000])
    parser.add_argument("--mtbf", type=float, nargs="+", default=[math.inf, 10.0], help="hours; inf: no host dies")
    parser.add_argument("--seeds", type=int, default=3, help="worlds of each kind (default 3)")
    chosen = parser.parse_args(arguments)
    shape = Shape(contenders=chosen.contenders, cells=chosen.cells // chosen.contenders, rounds=chosen.rounds)
    plan = msgspec.structs.replace(plan_of(shape, chosen.seconds), turns=Turns())
    work_h = sum(expected_s(plan, trial) for trial in plan.trials) / 3600
    print(f"{shape.runs:,} trials, {work_h:,.0f} hours of one host\n")
    heads = ["hosts", "MTBF", "time", "bound", "over it", "idle", "hosts lost", "trials again", "their time", "left"]
    worlds = [World(hosts, mtbf) for mtbf in chosen.mtbf for hosts in chosen.hosts]
    for line in table(heads, list(rows(plan, worlds, chosen.seeds))):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
