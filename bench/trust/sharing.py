"""Sharing: contenders on a machine whose speed wanders, measured one after the other, or by turns in blocks.

The machine is the one of the experiments that turns were chosen by: its speed wanders with time constants of 0.3, 1 and
3 s, and is a little different in each twentieth of a second, so that windows of 1.5 s of two equals differ by a
logarithm of 0.19 (standard deviation) and thirty turns of 50 ms by 0.04. Starts have a luck of their own on top.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bench.trust.noise import Rng
from webdyno.analyse.additive import Key, Meeting
from webdyno.analyse.robbed import read_robbed
from webdyno.analyse.turns import turned
from webdyno.model.sample import Slice

SLOT_S = 0.05
"""Of the machine's course."""
WINDOW, WARMUP, STEADY = 30, 8, 10
"""Slots of a window of 1.5 s, of a warm-up, and of the steady phase that each has in a block."""
START_S = 0.6
"""Start, verification and end, of a server or of a block."""
LEAD, TURN, PASSES = 1, 2, 10
"""Slots of a lead and of a turn, and how many each has: as long together as a window."""
PER_SLOT = 500.0
"""Answers in a slot at the machine's usual speed."""
TICKS = 5
"""Of the kernel's clock, in a slot."""
TAUS_S = (0.3, 1.0, 3.0)
DRIFT_S = 60.0
Course = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a machine is like; parts of its speed, as logarithms."""

    wander: float = 0.175
    jitter: float = 0.15
    """In each slot by itself."""
    bursts: bool = False
    """A neighbour takes 5 to 30 % for 0.1 to 2 s, every 10 s. What it takes is told in ticks, as the kernel does."""
    hog: float = 0.0
    """Part of the time in which a neighbour takes half, for 0.05 to 0.5 s on end (``bursts`` for real: half of it)."""
    drift: float = 0.0
    """The same over a minute: rounds hang together."""
    theft: bool = False
    """The hypervisor takes 0 to 20 % of the time, another part every few seconds, at three times its share."""


BUSY, QUIET = Kind(), Kind(wander=0.02, jitter=0.02)
HOGGED = Kind(wander=0.05, jitter=0.05, hog=0.5)


@dataclass(slots=True)
class Machine:
    """One sitting; measuring moves its clock."""

    rng: Rng
    kind: Kind
    at: int = 0
    speed: Course = field(default_factory=lambda: np.zeros(0))
    stolen: Course = field(default_factory=lambda: np.zeros(0))
    others: Course = field(default_factory=lambda: np.zeros(0))
    """Cores' worth that others take, the hypervisor among them."""

    def take(self, slots: int) -> slice:
        """The next so many slots."""
        self.at += slots
        while self.at > len(self.speed):
            more, stolen, others = _course(self.rng, self.kind, 12_000)
            self.speed, self.stolen = np.concatenate([self.speed, more]), np.concatenate([self.stolen, stolen])
            self.others = np.concatenate([self.others, others])
        return slice(self.at - slots, self.at)

    def skip(self, seconds: float) -> None:
        """Nothing is measured meanwhile."""
        self.take(round(seconds / SLOT_S))


@dataclass(frozen=True, slots=True)
class Contender:
    """What is true of it."""

    log: float = 0.0
    own: float = 0.0
    """Noise of its own, in each slot."""
    stalls: float = 0.0
    """Share of the slots in which it stands still for half of the time, collecting its garbage."""
    kernel: float = 0.0
    """Cores' worth that the kernel's threads use for it alone, and that count as others'."""

    @property
    def truth(self) -> float:
        """Logarithm of what it does on average: half of the time of each stall is lost."""
        return self.log + math.log1p(-self.stalls / 2)

    def served(self, rng: Rng, speed: Course, luck: float) -> Course:
        """Answers in slots of such a speed."""
        own = rng.normal(0, self.own, len(speed)) - self.own**2 / 2 if self.own else 0.0
        stalled = 1 - 0.5 * (rng.random(len(speed)) < self.stalls) if self.stalls else 1.0
        made: Course = PER_SLOT * np.exp(speed + self.log + luck + own) * stalled
        return made


@dataclass(slots=True)
class Sheet:
    """What was measured, by contender and round."""

    cells: dict[Key, float] = field(default_factory=dict)
    met: dict[Key, Meeting] = field(default_factory=dict)
    least: dict[Key, float] = field(default_factory=dict)
    stolen: dict[Key, float] = field(default_factory=dict)
    turns: list[tuple[int, int, dict[str, list[Slice]]]] = field(default_factory=list)
    """Round and block, and what each had there."""

    def read_turns(self) -> None:
        """All blocks together, as ``analyse.blocks`` does."""
        robbed = read_robbed(each for _, _, block in self.turns for each in block.items())
        for round_, number, block in self.turns:
            for name, told in turned(block, robbed.speed).items():
                self.cells[name, round_] = told.rate_per_s * SLOT_S
                self.met[name, round_] = Meeting(number, True)
                self.least[name, round_] = told.variance


def name_of(at: int) -> str:
    """Of contender ``at``."""
    return f"c{at:02}"


def one_by_one(
    machine: Machine,
    field_: Sequence[Contender],
    luck: Course,
    round_: int,
    sheet: Sheet,
    who: Sequence[int] | None = None,
    window: int = WINDOW,
) -> None:
    """A window each of so many slots, in random order, each on a fresh start."""
    rng = machine.rng
    for at in rng.permutation(range(len(field_)) if who is None else who):
        machine.skip(START_S)
        machine.take(WARMUP)
        here = machine.take(window)
        key = name_of(int(at)), round_
        sheet.cells[key] = float(field_[at].served(rng, machine.speed[here], luck[at]).sum()) / window
        sheet.stolen[key] = float(machine.stolen[here].mean())


def by_turns(
    machine: Machine,
    field_: Sequence[Contender],
    luck: Course,
    round_: int,
    block: int,
    who: Sequence[int],
    sheet: Sheet,
    passes: int = PASSES,
    lead: int = LEAD,
    turn: int = TURN,
) -> None:
    """One block of ``who``: warm-ups, passes in random order, and a steady window of each at the end."""
    rng = machine.rng
    machine.skip(START_S)
    machine.take(WARMUP * len(who))
    at = machine.take(passes * len(who) * (lead + turn))
    order = np.array([rng.permutation(len(who)) for _ in range(passes)])
    speed, others = (
        course[at].reshape(passes, len(who), lead + turn)[:, :, lead:] for course in (machine.speed, machine.others)
    )
    turns: dict[str, list[Slice]] = {}
    for place, one in enumerate(who):
        mine = speed[order == place].ravel()
        done = field_[one].served(rng, mine, luck[one]).reshape(passes, turn).sum(axis=1)
        robbed = others[order == place].mean(axis=1) + field_[one].kernel
        seen = np.floor(robbed * turn * TICKS + rng.random(passes)) / turn / TICKS
        turns[name_of(one)] = [_turn(number, done[number], turn, seen[number]) for number in range(passes)]
    machine.take(STEADY * len(who))
    sheet.turns.append((round_, block, turns))
    sheet.read_turns()


def seconds_of_block(members: int) -> float:
    """Machine time of a block."""
    return START_S + members * (WARMUP + PASSES * (LEAD + TURN) + STEADY) * SLOT_S


def seconds_of_round(contenders: int) -> float:
    """Machine time of a round of windows."""
    return contenders * (START_S + (WARMUP + WINDOW) * SLOT_S)


def _turn(number: int, answers: float, slots: int, others: float) -> Slice:
    ok = round(answers)
    length = round(slots * SLOT_S * 1e9)
    return Slice(
        phase="turn",
        index=number,
        start_ns=None,
        duration_ns=length,
        offered=ok,
        ok=ok,
        errors={},
        turn=number,
        others_cpu_ns=round(others * length),
    )


def _course(rng: Rng, kind: Kind, slots: int) -> tuple[Course, Course, Course]:
    """Logarithm of the machine's speed, slot by slot, the part of the time that was stolen, and what others took."""
    from scipy.signal import lfilter

    speed = rng.normal(0, kind.jitter, slots)
    for tau_s, sd in [*((tau_s, kind.wander / math.sqrt(len(TAUS_S))) for tau_s in TAUS_S), (DRIFT_S, kind.drift)]:
        keep = math.exp(-SLOT_S / tau_s)
        pushes = rng.normal(0, sd * math.sqrt(1 - keep**2), slots)
        pushes[0] = rng.normal(0, sd)
        speed += lfilter([1.0], [1.0, -keep], pushes)
    others = np.zeros(slots)
    if kind.bursts:
        for at in np.flatnonzero(rng.random(slots) < SLOT_S / 10):
            length, part = rng.integers(2, 41), rng.uniform(0.05, 0.30)
            speed[at : at + length] += math.log1p(-part)
            others[at : at + length] += part
    if kind.hog:
        others += 0.5 * _on_and_off(rng, slots, kind.hog)
        speed += np.log1p(-others)
    stolen = np.zeros(slots)
    if kind.theft:
        stretches = rng.integers(20, 120, slots // 20)
        stolen = np.repeat(rng.uniform(0, 0.2, len(stretches)), stretches)[:slots]
        speed += np.log1p(-3 * stolen)
    return speed, stolen, others + stolen


def _on_and_off(rng: Rng, slots: int, share: float) -> Course:
    """1 and 0 in turn; 1 for 1 to 10 slots, and for such a share of the time."""
    lengths = rng.integers(1, 11, slots).astype(float)
    lengths[::2] *= (1 - share) / share
    whole = np.diff(np.round(np.cumsum(lengths)).astype(int), prepend=0)
    return np.repeat(np.arange(slots) % 2, whole)[:slots].astype(float)
