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
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from webdyno.conduct.bench import Bench, Under
from webdyno.conduct.fence import LOOK_S
from webdyno.conduct.record import Record
from webdyno.conduct.seat import RESTS, Seat
from webdyno.conduct.trial import conduct
from webdyno.conduct.warming import warm_up
from webdyno.load.driver import Order
from webdyno.measure.sampler import Sampler
from webdyno.model.block import Turns
from webdyno.model.built import Built
from webdyno.model.errors import BuildError, ServiceError
from webdyno.model.run import Run
from webdyno.model.trial import Trial
from webdyno.serve.serving import Served
from webdyno.service import Running

LEAST_PASSES = 6
LONG_TURN_S, LONGEST_TURN_S = 0.5, 2.0
"""A turn gets no longer than the first for the sake of many cycles. What a server gains from being asked by all
connections at once is some tens of microseconds for each of them: where a cycle takes so long, that is nothing beside
its answers. A contender that needs more than the second for a cycle and a half is measured alone, for its rivals would
wait too long.
"""
WHOLE_CYCLES = 1.5
SURPLUS = 0.02
"""Part of its rate that a lead may give a contender at most. What waits for something else than CPU may wait with all
its connections in step, as for a timer; its turn then counts answers that were half done when the lead ended. Where
that could be more, turns have no lead, and hold whole cycles. Whether it waited, or others had its core, is not known,
so the limit is no lower.
"""
UNDRAINED = 2
"""Turns that may end with requests unanswered before a contender is measured alone instead. The warm-up counts as one:
each of them costs the whole time-out, so what hangs from the start on takes only one turn besides.
"""
UNANSWERED = "it left requests unanswered at the end of its turns"
TOO_SLOW = "one answer on each of its connections takes longer than a turn may"
SHORT_QUEUE = "its listen queue has too few places for all connections, which each turn reopens at the same moment"
"""Who finds no place asks again a second later: most of a turn would be waiting, of a longer window little."""
RESTLESS = "it continued to use CPU when it should have been at rest"
SETTLE_S, SETTLE_LOOK_S = 5.0, 0.1
"""How long the passes wait for everybody to rest, and how long each look at it is. On one core a compiler that had
more to do after 11 s of load went on for seconds, in which its rivals had half of the core and half of their rate.
"""
MOST_AT_REST = 0.05
"""Part of a core that may be used between turns; less is reported as a doubt."""
SERVICE_DIED = "the service died in a block that it shared"
STOWED = "a process of unknown origin was found in its block"


def conduct_block(
    number: int, trials: Sequence[Trial], bench: Bench, built: Mapping[str, Built | BuildError], turns: Turns
) -> list[Run]:
    """The Runs of ``trials``, in their order. Raises only MachineError and KeyboardInterrupt.

    A contender that leaves requests unanswered at the end of its turns is conducted alone once the others are done. So
    is everybody whose service died: it may have been a neighbour's doing.
    """
    begun = time.monotonic()
    block = _Block(trials, bench, turns, random.Random(f"{bench.plan.seed}/{number}"))  # noqa: S311 - to be repeated
    runs = block.conduct(built)
    share_s = (time.monotonic() - begun) / len(trials)
    names = [trial.contender for trial in trials]
    told: list[Run] = []
    for run in runs:
        name = run.trial.contender
        if (why := block.why_aside(run)) and not bench.interrupted.is_set():
            again = conduct(run.trial, bench, built[name])
            told.append(msgspec.structs.replace(again, set_aside=why, seconds=again.seconds + share_s))
        else:
            beside = [other for other in names if other != name]
            told.append(msgspec.structs.replace(run, block=number, beside=beside, seconds=share_s))
    return told


@dataclass(frozen=True)
class _Made:
    """A service that is ready, or why it is not, for each contender that asks."""

    made: Running | ServiceError

    def ready(self, name: str, delay_ms: int = 0) -> Running:  # noqa: ARG002 - all Trials of a block have one workload
        """It; ServiceError."""
        if isinstance(self.made, ServiceError):
            raise self.made
        return self.made


def turn_s(turns: Turns, cycle_s: float) -> float:
    """Length of a turn of a contender that takes so long for an answer on each of its connections."""
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
        self._service_was_ready = False
        self._stowed = False
        """A process was found that nobody knows; alone it is clear whose it is."""
        self._set_aside: dict[str, str] = {}
        """Contenders that were taken out of the passes, and why."""

    def conduct(self, built: Mapping[str, Built | BuildError]) -> list[Run]:
        """All Trials from start to end, in their order."""
        self._make_services_ready()
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
            with self._changed:
                self._over.set()
                self._changed.notify_all()
            for thread in threads:
                thread.join()
        if self._failures:
            raise self._failures[0]
        return [self._runs[trial.id] for trial in self._trials]

    def _make_services_ready(self) -> None:
        """Here, once for all: a process ends with the thread that started it, and a contender's may end early."""
        work = self._bench.plan.workloads[self._trials[0].workload]
        if work.service is None:
            return
        made: Running | ServiceError
        try:
            made = self._bench.services.ready(work.service, work.delay_ms)
        except ServiceError as error:
            made = error
        self._bench = replace(self._bench, services=_Made(made))
        self._service_was_ready = not isinstance(made, ServiceError)

    def why_aside(self, run: Run) -> str:
        """Why its contender is to be measured alone after all; empty where it is not."""
        if self._stowed and run.outcome in ("ok", "escaped"):
            return STOWED
        if run.outcome == "service-failed" and self._service_was_ready and len(self._trials) > 1:
            return SERVICE_DIED
        return self._set_aside.get(run.trial.contender, "")

    # In the thread of each contender

    def _one(self, trial: Trial, built: Built | BuildError) -> None:
        try:
            self._runs[trial.id] = conduct(trial, self._bench, built)
        except BaseException as error:
            self._failures.append(error)
        finally:
            with self._changed:
                self._gone += 1
                self._changed.notify_all()

    @contextmanager
    def _serve(self, *given: Any) -> Iterator[Served]:
        """As ``serve``, but no more at a time than have cores to start on."""
        with ExitStack() as stack:
            with self._starting:
                served = stack.enter_context(self._serve_alone(*given))
            yield served

    def _sit(self, trial: Trial, bench: Bench, order: Order, under: Under, record: Record) -> None:
        """The load of a Trial: open its connections, and wait until the block is over, or has no place for it."""
        with Seat.taken(trial, bench, order, under, record) as seat:
            if seat.is_out:
                return
            with self._changed:
                self._seated.append(seat)
                self._changed.notify_all()
            while not self._is_over_for(seat):
                under.fence.look_again()  # from its own thread: at no moment of a turn that it could know of
            self._stowed |= bool(bench.strapped.stowaways())

    def _is_over_for(self, seat: Seat) -> bool:
        """Waited for until it is, or until it is time to look."""
        with self._changed:
            patience_s = LOOK_S * len(self._trials)
            return self._changed.wait_for(lambda: self._over.is_set() or self._is_to_leave(seat), patience_s)

    # In the thread of the block

    def _gather(self) -> list[Seat]:
        """Everybody who came, in the order of the Trials, once there is nobody left to wait for."""
        with self._changed:
            # An interruption ends the starts that are under way, and these come here then.
            self._changed.wait_for(lambda: len(self._seated) + self._gone >= len(self._trials))
        place = {trial.id: at for at, trial in enumerate(self._trials)}
        return sorted(self._seated, key=lambda seat: place[seat.trial.id])

    def _load(self, seated: Sequence[Seat]) -> None:
        # Who takes longest to warm up is first: V8, which forgets what it compiled, does not wait for it then.
        for seat in self._able(sorted(seated, key=lambda seat: -seat.trial.asked.warmup_s)):
            warm_up(seat, self._bench.interrupted)
        seated = self._without(self._busy_for_long(seated), seated)
        lengths = {seat.trial.id: self._turn_s(seat) for seat in seated}
        while restless := self._take_turns(seated, lengths):
            seated = self._without(restless, seated)
        for seat in self._able(self._shuffled(seated)):
            self._window(seat)

    def _take_turns(self, seated: Sequence[Seat], lengths: Mapping[str, float]) -> list[Seat]:
        """All passes. Those that do not rest between their turns, which end the passes early: they start over without.

        Told by no less than two passes, and no later than half of them: what comes later is reported as a doubt.
        """
        passes = self._passes(list(self._able(seated)), lengths)
        for seat in seated:
            seat.begin_resting(passes)
        for number in range(passes):
            self._pass(number, seated, lengths)
            if len(seated) > 1 and 1 <= number < passes // 2 and (restless := _restless(seated)):
                return restless
        for seat in seated:
            seat.record.rest = seat.resting()
        return []

    def _busy_for_long(self, seated: Sequence[Seat]) -> list[Seat]:
        """Those that do not rest, once there was time for it."""
        give_up, busy = time.monotonic() + SETTLE_S, self._busy(seated)
        while busy and time.monotonic() < give_up:
            busy = self._busy(seated)
        return busy

    def _without(self, restless: Sequence[Seat], seated: Sequence[Seat]) -> list[Seat]:
        """The others. Those leave, and end before anybody has a turn."""
        with self._changed:
            self._set_aside |= {seat.trial.contender: RESTLESS for seat in restless}
            self._changed.notify_all()
            staying = sum(not self._is_to_leave(seat) for seat in self._seated)
            self._changed.wait_for(lambda: self._gone >= len(self._trials) - staying)
        return [seat for seat in seated if seat not in restless]

    def _is_to_leave(self, seat: Seat) -> bool:
        """Who is set aside for another reason does no harm where it is."""
        return self._set_aside.get(seat.trial.contender) == RESTLESS

    def _busy(self, seated: Sequence[Seat]) -> list[Seat]:
        """Those that use CPU while nobody asks anything."""
        looks = [(seat, seat.used_ns()) for seat in self._able(seated)]
        time.sleep(SETTLE_LOOK_S)
        return [
            seat
            for seat, before_ns in looks
            if before_ns is not None and (seat.used_ns() or 0) - before_ns > RESTS * SETTLE_LOOK_S * 1e9
        ]

    def _passes(self, able: Sequence[Seat], lengths: Mapping[str, float]) -> int:
        """The number of passes whose turns take as long as the block's loads would alone."""
        pass_s = sum(self._lead_s(seat) + lengths[seat.trial.id] for seat in able)
        return (
            max(LEAST_PASSES, round(sum(self._turns.total_s(seat.trial.load) for seat in able) / pass_s)) if able else 0
        )

    def _pass(self, number: int, seated: Sequence[Seat], lengths: Mapping[str, float]) -> None:
        for seat in self._able(self._shuffled(seated)):
            seat.turn(lengths[seat.trial.id], "turn", number=number, lead_s=self._lead_s(seat))
            if seat.undrained >= UNDRAINED:
                self._set_aside[seat.trial.contender] = UNANSWERED

    def _window(self, seat: Seat) -> None:
        """A stretch of its own: what it answers there is counted in latencies, and what it uses is looked at."""
        with Sampler({**seat.under.groups, "driver": seat.engine, **self._bench.beside}) as sampler:
            length_s = self._turns.window_s(seat.trial.load)
            seat.turn(length_s, "steady", lead_s=self._lead_s(seat), histograms=True)
        seat.record.readings += sampler.readings

    def _turn_s(self, seat: Seat) -> float:
        """How long its turns are, by what its warm-up says; where turns would not do it, it is set aside."""
        cycle_s = seat.cycle_s or 0.0
        if seat.has_short_queue:
            self._set_aside[seat.trial.contender] = SHORT_QUEUE
        if WHOLE_CYCLES * cycle_s > LONGEST_TURN_S:
            self._set_aside[seat.trial.contender] = TOO_SLOW
        return turn_s(self._turns, cycle_s)

    def _lead_s(self, seat: Seat) -> float:
        """How long it is loaded before that counts; of a comparison both sides alike."""
        if self._bench.plan.paired is not None:
            return min(self._own_lead_s(each) for each in self._seated)
        return self._own_lead_s(seat)

    def _own_lead_s(self, seat: Seat) -> float:
        if seat.cores is None or seat.cycle_s is None:
            return 0.0
        half_done_s = max(0.0, 1.0 - seat.cores) * seat.cycle_s / 2
        return self._turns.lead_s if half_done_s <= SURPLUS * turn_s(self._turns, seat.cycle_s) else 0.0

    def _shuffled(self, seated: Sequence[Seat]) -> list[Seat]:
        return self._chance.sample(list(seated), len(seated))

    def _able(self, seated: Sequence[Seat]) -> Iterator[Seat]:
        """Those that can take a turn, each asked when it comes to it."""
        for seat in seated:
            if self._bench.interrupted.is_set():
                return
            if not seat.is_out and seat.trial.contender not in self._set_aside:
                yield seat


def _restless(seated: Sequence[Seat]) -> list[Seat]:
    """Those that used more than may be since the passes began, beside their turns."""
    return [seat for seat in seated if (rest := seat.resting()) is not None and rest.cores > MOST_AT_REST]
