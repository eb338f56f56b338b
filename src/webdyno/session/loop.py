"""The loop: what is known says which blocks are next; they are carried out, written down and reported; and again.

Every measurement of webdyno goes through it: what differs is the design that is asked, how a block is carried out (on
contenders that are started here, or on a server that runs already), where Runs are kept, and who listens.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Protocol

import msgspec

from webdyno.analyse.words import length, listing
from webdyno.conduct import Bench, conduct, conduct_block
from webdyno.design import Block, Design
from webdyno.load.driver import DRIVERS, Event
from webdyno.model.block import Taken
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial
from webdyno.rig.far import FarHost
from webdyno.rig.sleep import LEAST_NS, slept_ns
from webdyno.rig.strap import Strapped
from webdyno.serve.in_place import InPlace
from webdyno.service import Services
from webdyno.session.ceilings import with_ceilings
from webdyno.session.folders import cache_folder
from webdyno.session.listeners import Beside, Kept, Listener, Listeners
from webdyno.session.lookup import driver_versions
from webdyno.session.ready import Ready
from webdyno.session.saying import note
from webdyno.session.scratch import Scratch
from webdyno.session.trust import remember_plan
from webdyno.store import Store

Book = Store | Scratch
"""Where Runs are kept, and the logs of what wrote them."""
Conduct = Callable[[Block], list[Run]]
"""Carries a block out: its Runs, in the order of its Trials."""


class Hosts(Protocol):
    """Those that loads come from, where they are others than this one."""

    @property
    def lost(self) -> str:
        """Why one of them is lost; empty where none is."""

    def replace_lost(self) -> Sequence[str]:
        """Another one for each that is; what is to be said of it. MachineError where there is none."""


class Loop:
    """Carries blocks out, one after the other, until it is interrupted."""

    def __init__(
        self,
        plan: Plan,
        book: Book,
        conduct: Conduct,
        listener: Listener,
        interrupted: threading.Event,
        hosts: Hosts | None = None,
    ) -> None:
        self._book, self._conduct, self._listener, self._interrupted = book, conduct, listener, interrupted
        self._hosts = hosts
        self._planned = {trial.id for trial in plan.trials}

    @property
    def is_interrupted(self) -> bool:
        """Whether the user wants it to end."""
        return self._interrupted.is_set()

    @property
    def runs(self) -> list[Run]:
        """Those so far."""
        return self._book.runs()

    def follow(self, design: Design) -> None:
        """Whatever ``design`` wants, until it wants nothing more."""
        while not self._interrupted.is_set() and (blocks := design(self.runs)):
            for block in blocks:
                if self._interrupted.is_set():
                    return
                self.carry_out(block)

    def carry_out(self, block: Block) -> list[Run]:
        """One block; its Runs are written down together before anybody looks at them.

        Where the machine slept meanwhile, or a host was lost that its load came from, they count as interrupted, and
        the block is carried out again. MachineError where no such host is left.
        """
        fresh = [trial for trial in block if trial.id not in self._planned]
        if fresh:
            self._book.grow(fresh)
            self._planned.update(trial.id for trial in fresh)
        self._replace_lost()
        while True:
            self._listener.begin(block)
            before_ns = slept_ns()
            runs = self._kept(block)
            if why := self._why_again(runs, slept_ns() - before_ns):
                runs = [_undone(run, why) for run in runs]
            self._book.append_all(runs)
            for run in runs:
                self._listener.end(run)
            if not why or self._interrupted.is_set():
                return runs
            self._replace_lost()
            names = listing(sorted({trial.contender for trial in block}))
            note([f"{why}, so once more: {names}"])

    def _why_again(self, runs: Sequence[Run], asleep_ns: int) -> str:
        """What came between; empty where nothing did."""
        if asleep_ns >= LEAST_NS:
            return f"the machine slept for {length(max(1.0, asleep_ns / 1e9))} while it was measured"
        is_undone = any(run.outcome == "interrupted" for run in runs)
        return self._hosts.lost if is_undone and self._hosts is not None else ""

    def _replace_lost(self) -> None:
        if self._hosts is None:
            return
        try:
            note(self._hosts.replace_lost())
        except MachineError as error:
            hint = f"; continue with --resume {self._book.folder}" if isinstance(self._book, Store) else ""
            raise MachineError(f"{error}{hint}") from None

    def _kept(self, block: Block) -> list[Run]:
        try:
            return self._conduct(block)
        except OSError:  # of a log, maybe
            self._book.refuse_moved()
            raise


def _undone(run: Run, why: str) -> Run:
    """Whatever came of it: connections broke, time-outs ended, and a clock stood still."""
    return msgspec.structs.replace(run, outcome="interrupted", message=why, log_tail="")


@dataclass(frozen=True, kw_only=True)
class OnContenders:
    """How blocks are carried out on contenders of this machine."""

    ready: Ready
    strapped: Strapped
    services: Services
    book: Book
    watch: Callable[[Event | Taken], None] = lambda _: None
    numbers: Iterator[int] | None = None
    """Of blocks; None: on from those in the book."""
    in_place: InPlace | None = None
    """Which keeps a server for the next round of its cell, where the plan is measured so."""

    @property
    def lost(self) -> str:
        """As of ``Hosts``."""
        return self.strapped.lost

    def replace_lost(self) -> Sequence[str]:
        """As of ``Hosts``."""
        return self.strapped.replace_lost(self._fit)

    def _fit(self, host: FarHost) -> None:
        """UsageError where its load tools have other versions than those that the plan has used so far."""
        used, there = dict(self.ready.drivers), driver_versions(self.ready.drivers, host)
        if there != used:
            raise UsageError(f"{host.name} has {_named(there)}, and the load came from {_named(used)}")

    def conduct(self) -> Conduct:
        """The way to carry out one after the other."""
        numbers = self.numbers or count(next_block(self.book.runs()))

        def carry_out(block: Block) -> list[Run]:
            turns = self.ready.plan.turns
            if len(block) > 1 and turns is not None:
                return conduct_block(next(numbers), block, self.bench(block[0]), self.ready.built, turns)
            return [conduct(trial, self.bench(trial), self.ready.built[trial.contender]) for trial in block]

        return carry_out

    def bench(self, trial: Trial) -> Bench:
        """What ``trial`` is conducted with."""
        plan = self.ready.plan
        bench = Bench(
            plan=plan,
            strapped=self.strapped,
            services=self.services,
            driver=DRIVERS[trial.driver](),
            driver_version=self.ready.drivers[trial.driver],
            contender_log=self.book.contender_log,
            driver_log=self.book.driver_log,
            watch=self.watch,
        )
        if self.in_place is None or not plan.in_place:
            return bench
        self.in_place.more = trial.round < plan.rounds
        return replace(bench, serve=self.in_place.serve)


def _named(versions: Mapping[str, str]) -> str:
    return listing([f"{name} {version}" for name, version in versions.items()])


def next_block(runs: Sequence[Run]) -> int:
    """The number of a block after ``runs``."""
    return 1 + max((run.block or 0 for run in runs), default=0)


@contextmanager
def at_work(
    ready: Ready,
    strapped: Strapped,
    book: Book,
    listeners: Sequence[Listener] = (),
    numbers: Iterator[int] | None = None,
) -> Iterator[Loop]:
    """The loop over contenders that are built; whatever happens, services and servers end with it."""
    told = Listeners([Kept(book.refuse_moved), *listeners])
    with Services(ready.found, ready.servers, strapped, book.service_log) as services, InPlace() as kept:
        way = OnContenders(
            ready=ready,
            strapped=strapped,
            services=services,
            book=book,
            watch=told.event,
            numbers=numbers,
            in_place=kept,
        )
        yield Loop(ready.plan, book, way.conduct(), told, strapped.interrupted, way)


@contextmanager
def in_folder(ready: Ready, strapped: Strapped, folder: Path, listeners: Sequence[Listener] = ()) -> Iterator[Loop]:
    """As ``at_work``, into a new results folder; its Trials are decided on one after the other."""
    fingerprint = with_ceilings(strapped.fingerprint, cache_folder())
    remember_plan(ready.plan, folder)
    with (
        Store.create(folder, ready.plan, fingerprint) as store,
        Beside(folder, None, set()) as beside,
        at_work(ready, strapped, store, [beside, *listeners]) as loop,
    ):
        yield loop
