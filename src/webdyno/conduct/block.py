"""Block: Trials conducted at the same time, whose contenders take turns. Several Trials in, as many Runs out, always.

Each Trial is conducted as ever (trial.py), in a thread of its own that lives as long as its server: start, answers
verified, end. Only its load is another: it takes a seat, and once everybody sits, or is known not to come, the thread
that was asked for the block gives them turns, pass after pass, in a random order each time. What goes wrong with one is
its own outcome, and the others go on.

Contenders are started one by one, or as many at a time as they have cores: how long a start takes is a figure too.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import msgspec

from webdyno.conduct.seat import Seat
from webdyno.conduct.trial import Bench, Record, Under, conduct
from webdyno.load.driver import Order
from webdyno.measure.sampler import Sampler
from webdyno.model.block import Turns
from webdyno.model.built import Built
from webdyno.model.errors import BuildError
from webdyno.model.run import Run
from webdyno.model.trial import Trial
from webdyno.serve.serving import Served

LEAST_PASSES = 6
LONG_TURN_S, LONGEST_TURN_S = 0.5, 2.0
"""A turn gets no longer than the first for the sake of many cycles. What a server gains from being asked by all
connections at once is some tens of microseconds for each of them: where a cycle takes so long, that is nothing beside
its answers. Whoever needs more than the second for a cycle and a half is measured alone, for its rivals would wait too
long.
"""
WHOLE_CYCLES = 1.5
LEAST_WARM_S = 0.2
"""Of load before anything counts; it also says how long a turn has to be."""
UNDRAINED = 2
"""Turns that may end with requests unanswered before a contender is measured alone instead."""


def conduct_block(
    number: int, trials: Sequence[Trial], bench: Bench, built: Mapping[str, Built | BuildError], turns: Turns
) -> list[Run]:
    """The Runs of ``trials``, in their order. Raises only MachineError and KeyboardInterrupt.

    Whoever leaves requests unanswered at the end of its turns is conducted alone once the others are done.
    """
    begun = time.monotonic()
    block = _Block(trials, bench, turns, random.Random(f"{bench.plan.seed}/{number}"))  # noqa: S311 - to be repeated
    runs = block.conduct(built)
    share_s = (time.monotonic() - begun) / len(trials)
    names = [trial.contender for trial in trials]
    beside = [[name for name in names if name != trial.contender] for trial in trials]
    return [
        msgspec.structs.replace(conduct(run.trial, bench, built[run.trial.contender]), set_aside=True)
        if run.trial.contender in block.set_aside and not bench.interrupted.is_set()
        else msgspec.structs.replace(run, block=number, beside=others, seconds=share_s)
        for run, others in zip(runs, beside, strict=True)
    ]


def turn_s(turns: Turns, cycle_s: float) -> float:
    """Length of a turn of whoever takes so long for an answer on each of its connections."""
    return max(turns.turn_s, min(turns.cycles * cycle_s, LONG_TURN_S), WHOLE_CYCLES * cycle_s)


class _Block:
    """Threads that conduct, seats they take, and turns that are given."""

    def __init__(self, trials: Sequence[Trial], bench: Bench, turns: Turns, chance: random.Random) -> None:
        self._trials, self._turns, self._chance = trials, turns, chance
        self._bench = replace(bench, serve=self._serve, drive=self._sit)
        self._serve_alone = bench.serve
        self._starting = threading.Semaphore(max(1, len(bench.strapped.rig.contender_cores)))
        self._changed = threading.Condition()
        self._seated: list[Seat] = []
        self._gone = 0
        self._over = threading.Event()
        self._runs: dict[str, Run] = {}
        self._failures: list[BaseException] = []
        self.set_aside: set[str] = set()
        """Contenders that were taken out of the passes."""

    def conduct(self, built: Mapping[str, Built | BuildError]) -> list[Run]:
        """All Trials from start to end, in their order."""
        threads = [
            threading.Thread(target=self._one, args=(trial, built[trial.contender]), name=f"webdyno-{trial.contender}")
            for trial in self._trials
        ]
        for thread in threads:
            thread.start()
        try:
            seated = self._gather()
            if seated and not self._bench.interrupted.is_set():
                self._load(seated)
        finally:
            self._over.set()
            for thread in threads:
                thread.join()
        if self._failures:
            raise self._failures[0]
        return [self._runs[trial.id] for trial in self._trials]

    # In the thread of each contender

    def _one(self, trial: Trial, built: Built | BuildError) -> None:
        try:
            self._runs[trial.id] = conduct(trial, self._bench, built)
        except BaseException as error:
            self._failures.append(error)
        finally:
            with self._changed:
                self._gone += 1
                self._changed.notify()

    @contextmanager
    def _serve(self, *given: Any) -> Iterator[Served]:
        """As ``serve``, but no more at a time than have cores to start on."""
        with ExitStack() as stack:
            with self._starting:
                served = stack.enter_context(self._serve_alone(*given))
            yield served

    def _sit(self, trial: Trial, bench: Bench, order: Order, under: Under, record: Record) -> None:
        """The load of a Trial: open its connections, and wait until the block is over."""
        with Seat.taken(trial, bench, order, under, record) as seat:
            if seat.is_out:
                return
            with self._changed:
                self._seated.append(seat)
                self._changed.notify()
            self._over.wait()

    # In the thread of the block

    def _gather(self) -> list[Seat]:
        """Everybody who came, in the order of the Trials, once there is nobody left to wait for."""
        with self._changed:
            # An interruption ends the starts that are under way, and these come here then.
            self._changed.wait_for(lambda: len(self._seated) + self._gone >= len(self._trials))
        place = {trial.id: at for at, trial in enumerate(self._trials)}
        return sorted(self._seated, key=lambda seat: place[seat.trial.id])

    def _load(self, seated: Sequence[Seat]) -> None:
        for seat in self._able(seated):
            seat.turn(max(seat.trial.asked.warmup_s, LEAST_WARM_S), "warmup")
        lengths = {seat.trial.id: self._turn_s(seat) for seat in seated}
        for seat in seated:
            seat.begin_resting()
        for number in range(self._passes(list(self._able(seated)), lengths)):
            self._pass(number, seated, lengths)
        for seat in seated:
            seat.end_resting()
        for seat in self._able(self._shuffled(seated)):
            self._window(seat)

    def _passes(self, able: Sequence[Seat], lengths: Mapping[str, float]) -> int:
        """So many that turns take as long as the block's loads would alone."""
        pass_s = sum(lengths[seat.trial.id] for seat in able)
        return (
            max(LEAST_PASSES, round(sum(self._turns.total_s(seat.trial.load) for seat in able) / pass_s)) if able else 0
        )

    def _pass(self, number: int, seated: Sequence[Seat], lengths: Mapping[str, float]) -> None:
        for seat in self._able(self._shuffled(seated)):
            seat.turn(lengths[seat.trial.id], "turn", number=number)
            if seat.undrained >= UNDRAINED:
                self.set_aside.add(seat.trial.contender)

    def _window(self, seat: Seat) -> None:
        """A stretch of its own: what it answers there is counted in latencies, and what it uses is looked at."""
        with Sampler({**seat.under.groups, "driver": seat.engine}) as sampler:
            seat.turn(self._turns.window_s(seat.trial.load), "steady", histograms=True)
        seat.record.readings += sampler.readings

    def _turn_s(self, seat: Seat) -> float:
        """How long its turns are, by what its warm-up says; it is set aside where that is too long for its rivals."""
        cycle_s = seat.cycle_s or 0.0
        if WHOLE_CYCLES * cycle_s > LONGEST_TURN_S:
            self.set_aside.add(seat.trial.contender)
        return turn_s(self._turns, cycle_s)

    def _shuffled(self, seated: Sequence[Seat]) -> list[Seat]:
        return self._chance.sample(list(seated), len(seated))

    def _able(self, seated: Sequence[Seat]) -> Iterator[Seat]:
        """Those that can take a turn, each asked when it comes to it."""
        for seat in seated:
            if self._bench.interrupted.is_set():
                return
            if not seat.is_out and seat.trial.contender not in self.set_aside:
                yield seat
