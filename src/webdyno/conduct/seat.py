"""Seat: one contender's place in a block, with an engine that has its connections open and waits for turns.

It is taken and left in the contender's own thread; the turns are given by another one, in between. One that is
measured alone has a seat for its warm-up (warming.py), all in one thread.
"""

from __future__ import annotations

import math
import os
import selectors
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from webdyno.conduct.bench import GRACE_S, Bench, Under, events_of
from webdyno.conduct.hearing import STOP_S, TICK_S, killed
from webdyno.conduct.record import Record
from webdyno.disk import naming
from webdyno.load.driver import DriverCommand, Event, Fault, Order, Rested, Summary
from webdyno.load.turning import END, turn, turning
from webdyno.measure.others import others_ns
from webdyno.measure.runtime import runtime_ns
from webdyno.model.block import Rest, Taken
from webdyno.model.errors import MachineError
from webdyno.model.sample import Phase, Slice, climb
from webdyno.model.trial import Trial
from webdyno.rig.group import Group
from webdyno.rig.host import PIPE, Command

ENOUGH_REST_NS = 100_000_000
"""Of resting, before it is said what was used in it."""


LOOK_S, MOST_LOOKS = 0.001, 20
RESTS = 0.1
"""Part of a core; who uses less in the time between two looks rests."""

LEVEL = math.log(1.05)
"""What gains no more within its warm-up gets no faster."""

Kind = TypeVar("Kind", bound=Event)


class Seat:
    """See above. Made by ``taken``."""

    def __init__(
        self, trial: Trial, bench: Bench, command: DriverCommand, under: Under, record: Record, engine: Group
    ) -> None:
        self.trial, self.under, self.record, self.engine = trial, under, record, engine
        self._bench = bench
        self._look: Callable[[], object] = lambda: None
        self._deadline = 0.0
        self._said = self._lines()
        self._events = events_of(bench.driver, command, self._said, engine)
        self._begun_ns = self._turns_ns = self._turns_cpu_ns = 0
        self._used_before_ns: int | None = None
        self._passes: int | None = None
        self.is_out = False
        """It can take no turn any more: its record says why, or the end of its contender will."""
        self.undrained = 0
        """Turns that ended with requests unanswered; a warm-up counts as one."""
        self._warm: list[Slice] = []
        self.cycle_s: float | None = None
        """How long one answer on each connection took in the last warm-up; None: there was none."""
        self.cores: float | None = None
        """Cores' worth of CPU that it used in the last warm-up; None: unknown."""
        self.reconnects = False
        """Most answers of the last warm-up took a new connection: so the load asks, or the server closes them."""

    @classmethod
    @contextmanager
    def taken(
        cls,
        trial: Trial,
        bench: Bench,
        order: Order,
        under: Under,
        record: Record,
        look: Callable[[], object] = lambda: None,
    ) -> Iterator[Self]:
        """With its connections open, if they can be; the engine ends with the block.

        ``look``: some ten times a second, in the thread that gives the turns, at what could end them.
        """
        command = turning(order)
        record.driver_command = command.argv
        folder = bench.strapped.folder()
        try:
            engine = bench.strapped.start(_engine(command, folder, bench.driver_log(trial)))
            try:
                seat = cls(trial, bench, command, under, record, engine)
                seat._look = look
                seat._say(command.stdin or b"", trial.load.opening_s + trial.load.timeout_s)
                seat._next(Rested)
                yield seat
                seat._leave()
                seat._said.close()
            finally:
                record.notes += [f"driver: {note}" for note in engine.end(grace_s=2.0)]
        finally:
            bench.strapped.drop(folder)

    def turn(
        self, seconds: float, phase: Phase, *, number: int | None = None, lead_s: float = 0.0, histograms: bool = False
    ) -> None:
        """Load for so long after the lead, and until what is under way is answered; the record has the Slices then.

        ``number``: of the pass that this is its turn of.
        """
        before_ns = self.used_ns()
        asked = turn(seconds, phase, lead_s=lead_s, histograms=histograms)
        self._say(asked, lead_s + seconds + 2 * self.trial.load.timeout_s)
        if lead_s:
            before_ns = self._lead(number, before_ns)
        others_before_ns = self._others_ns()
        slice_ = self._next(Slice)
        if slice_ is None:
            return
        others_cpu_ns = _since(others_before_ns, self._others_ns())
        used_ns = _since(before_ns, self._settled_ns())
        slice_ = msgspec.structs.replace(slice_, turn=number, contender_cpu_ns=used_ns, others_cpu_ns=others_cpu_ns)
        self.record.slices.append(slice_)
        self._bench.watch(Taken(contender=self.trial.contender, slice=slice_, passes=self._passes))
        self._count(slice_, used_ns)

    def _lead(self, number: int | None, before_ns: int | None) -> int | None:
        """What it has used when load begins to count. The Slice of the lead is in the record afterwards."""
        lead = self._next(Slice)
        used_ns = self.used_ns()
        if lead is not None:
            lead_cpu_ns = _since(before_ns, used_ns)
            lead = msgspec.structs.replace(lead, turn=number, contender_cpu_ns=lead_cpu_ns)
            self.record.slices.append(lead)
            self._turns_ns += lead.duration_ns
            self._turns_cpu_ns += lead_cpu_ns or 0
        return used_ns

    def _settled_ns(self) -> int | None:
        """What it has used once it rests: many servers tidy up when the last answer is out, in rivals' time else."""
        used_ns = self.used_ns()
        for _ in range(MOST_LOOKS):
            time.sleep(LOOK_S)
            before_ns, used_ns = used_ns, self.used_ns()
            if used_ns is None or before_ns is None or used_ns - before_ns < RESTS * LOOK_S * 1e9:
                break
        return used_ns

    def _count(self, slice_: Slice, used_ns: int | None) -> None:
        hangs = bool(slice_.errors.get("timeout"))
        match slice_.phase:
            case "warmup":
                self.undrained = max(self.undrained, hangs)
                self._warm.append(slice_)
                self.cycle_s = self.trial.load.connections * slice_.duration_ns / 1e9 / slice_.ok if slice_.ok else None
                self.cores = None if used_ns is None else used_ns / slice_.duration_ns
                self.reconnects = 2 * (slice_.connections_opened or 0) > slice_.ok
            case "turn":
                self.undrained += hangs
                self._turns_ns += slice_.duration_ns
                self._turns_cpu_ns += used_ns or 0
            case "steady" if slice_.start_ns is not None:
                self.record.edges |= {"steady": slice_.start_ns, "ended": slice_.start_ns + slice_.duration_ns}

    def used_ns(self) -> int | None:
        """CPU of its contender since it started; None where the kernel does not tell."""
        return runtime_ns(self.under.served.group)

    def _others_ns(self) -> int | None:
        """What others took of the trial's cores, since some time; to be taken from a later one."""
        rig = self._bench.strapped.rig
        cores = {*rig.contender_cores, *rig.driver_cores, *rig.service_cores}
        return others_ns(cores, [*self.under.groups.values(), self.engine])

    @property
    def warmed_s(self) -> float:
        """How long its warm-up took so far."""
        return sum(each.duration_ns for each in self._warm) / 1e9

    def is_warm(self, enough: int) -> bool:
        """It gave that many answers in its warm-up, and gets no faster."""
        climbs = climb(self._warm)
        return sum(each.ok for each in self._warm) >= enough and climbs is not None and climbs <= LEVEL

    @property
    def has_short_queue(self) -> bool:
        """Its listen queue has no room for all connections at once, and most answers need a new one."""
        probe = self.under.served.probe
        places = None if probe is None else probe.backlog
        return self.reconnects and places is not None and places + 1 < self.trial.load.connections

    def begin_resting(self, passes: int) -> None:
        """From here on, its use outside its turns is counted; there will be this many. Earlier turns are forgotten."""
        self._passes = passes
        self.record.slices[:] = [slice_ for slice_ in self.record.slices if slice_.turn is None]
        self._begun_ns, self._used_before_ns = time.monotonic_ns(), self.used_ns()
        self._turns_ns = self._turns_cpu_ns = 0

    def resting(self) -> Rest | None:
        """What it used beside its turns up to here; None where it rested too shortly to tell."""
        used_ns = self.used_ns()
        time_ns = time.monotonic_ns() - self._begun_ns - self._turns_ns
        if used_ns is None or self._used_before_ns is None or time_ns < ENOUGH_REST_NS:
            return None
        beside_ns = used_ns - self._used_before_ns - self._turns_cpu_ns
        return Rest(time_ns=time_ns, cpu_ns=max(0, beside_ns))

    def _leave(self) -> None:
        if not self.is_out:
            self._say(END, 0.0)
            self._next(Summary)

    # What is said

    def _say(self, line: bytes, within_s: float) -> None:
        """And hear of it within so long, and the usual grace."""
        self._deadline = time.monotonic() + within_s + GRACE_S
        if self.engine.stdin is None:
            raise MachineError("the driver was started without a pipe to write to")
        try:
            self.engine.stdin.write(line)
            self.engine.stdin.flush()
        except BrokenPipeError:  # what it said before it ended will tell why
            return

    def _next(self, kind: type[Kind]) -> Kind | None:
        """The next event of that kind; None: there will be none, and the record says why."""
        for event in self._events:
            match event:
                case Fault(message=message):
                    self.record.fail("driver-failed", message + killed(self.engine))
                    break
                case Summary(fields=fields):
                    self.record.summary = fields
            if isinstance(event, kind):
                return event
            if isinstance(event, Summary):  # before its time: nobody was there to be loaded, or it was stopped
                break
        self.is_out = True
        return None

    def _lines(self) -> Generator[str, None, None]:
        """The engine's output line by line, until it ends, is late, is interrupted, or has nobody left to load."""
        if self.engine.stdout is None:
            raise MachineError("the driver was started without a pipe to read from")
        give_up, pending = float("inf"), b""
        path = self._bench.driver_log(self.trial)
        with selectors.DefaultSelector() as selector, naming(path), path.open("ab") as log:
            selector.register(self.engine.stdout, selectors.EVENT_READ)
            while time.monotonic() < give_up:
                if selector.select(TICK_S):
                    data = os.read(self.engine.stdout.fileno(), 65536)
                    if not data:
                        break
                    log.write(data)
                    *lines, pending = (pending + data).split(b"\n")
                    yield from (line.decode("utf-8", "replace") for line in lines)
                if give_up == float("inf") and self._must_stop():
                    give_up = time.monotonic() + STOP_S
                    self.engine.terminate()

    def _must_stop(self) -> bool:
        self._look()
        if time.monotonic() > self._deadline:
            self.record.fail("driver-failed", "the driver did not report a turn and was stopped")
        return self._bench.interrupted.is_set() or self.under.has_ended() or self.record.outcome != "ok"


def _since(before_ns: int | None, after_ns: int | None) -> int | None:
    return None if before_ns is None or after_ns is None else max(0, after_ns - before_ns)


def _engine(command: DriverCommand, folder: Path, log: Path) -> Command:
    return Command(
        argv=command.argv,
        cwd=folder,
        environment=command.environment,
        role="driver",
        stdin=PIPE,
        stdout=PIPE,
        stderr=log,
    )
