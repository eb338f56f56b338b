"""The course of a fleet: hosts get batches, what they say is written down, and what a lost one left is done again.

The loop of a fleet, beside ``loop.py``: there one block is carried out at a time, and here one on each host.
"""

from __future__ import annotations

import datetime
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from webdyno.analyse.words import count
from webdyno.design import Block, done_in
from webdyno.design.blocks import Room
from webdyno.design.fleet import MOST_LOSSES, Batch, hand_out, sharing_of, worth_doing
from webdyno.model.errors import MachineError, WebdynoError
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial
from webdyno.session.designs import design_of
from webdyno.session.fleet import Member, at_once
from webdyno.session.listeners import Listener
from webdyno.session.saying import note
from webdyno.store import Store

_LOOK_S = 0.5
"""How often it is looked whether the user wants an end."""
Event = tuple[Member, str, tuple[Any, ...]]


@dataclass
class _Doing:
    """What a host is at."""

    batch: Batch
    block: Block | None = None
    """The one in flight; None: none was begun."""
    began_s: float = 0.0
    began_at: str = ""
    measured: int = 0
    """Blocks of it."""


def room_on(members: Sequence[Member]) -> Room:
    """Of the host that has least."""
    free = [member.about.free_bytes for member in members if member.about.free_bytes is not None]
    return Room(memory_bytes=min(free, default=None))


class FleetCourse:
    """Carries a plan out on ``members``, into ``store``."""

    def __init__(
        self, plan: Plan, store: Store, members: Sequence[Member], listener: Listener, interrupted: threading.Event
    ) -> None:
        self._store, self._listener, self._interrupted = store, listener, interrupted
        self._members = list(members)
        self._sharing = sharing_of(plan, room_on(members))
        self._design = design_of(plan, store.fingerprint(), self._sharing.room)
        self._planned = {trial.id for trial in plan.trials}
        self._doing: dict[Member, _Doing] = {}
        self._had: Counter[tuple[str, int]] = Counter()
        self._losses: Counter[str] = Counter()
        self._events: SimpleQueue[Event] = SimpleQueue()

    def run(self) -> None:
        """To the end, or as far as hosts and user allow. MachineError where no host is left."""
        with ThreadPoolExecutor(len(self._members), thread_name_prefix="webdyno-fleet") as pool:
            try:
                self._work(pool)
            except BaseException:  # those who follow hosts end when these do
                at_once([*self._doing], Member.stop)
                raise
        self._tell_what_is_left()

    def _work(self, pool: ThreadPoolExecutor) -> None:
        while self._give(pool) or self._doing:  # hosts are told of an interruption by who has manned them
            try:
                self._heed(*self._events.get(timeout=_LOOK_S))
            except Empty:
                continue

    def _give(self, pool: ThreadPoolExecutor) -> bool:
        """Whether any host was given something."""
        free = {member.name: member for member in self._members if member not in self._doing and not member.is_lost}
        if self._interrupted.is_set() or not free:
            return False
        runs = self._store.runs()
        in_flight = {trial.id for doing in self._doing.values() for block in doing.batch for trial in block}
        wanted = worth_doing(self._wanted(runs), in_flight, self._losses)
        given = hand_out(self._sharing, runs, wanted, [*free], self._had)
        for name, batch in given.items():
            self._had[name, self._sharing.table(batch[0][0])] += 1
            self._plan_also([trial for block in batch for trial in block])
            self._doing[free[name]] = _Doing(batch)
            pool.submit(self._follow, free[name], batch)
        return bool(given)

    def _wanted(self, runs: Sequence[Run]) -> list[Trial]:
        """The Trials that are worth doing by the Runs so far, in flight or not.

        Of a plan that is no race all its own at once, so that no host waits for the end of a round.
        """
        plan, done = self._sharing.plan, done_in(runs)
        if plan.race is None:
            own = [trial for trial in plan.trials if trial.round <= plan.rounds_of_all and trial.id not in done]
            if own or plan.further is None:
                return own
        return [trial for block in self._design(runs) for trial in block]

    def _plan_also(self, trials: Sequence[Trial]) -> None:
        if fresh := [trial for trial in trials if trial.id not in self._planned]:
            self._store.grow(fresh)
            self._planned.update(trial.id for trial in fresh)

    def _follow(self, member: Member, batch: Batch) -> None:
        """In a thread: all that a host says of a batch, as events."""
        try:
            member.do("carry_out", batch, heard=lambda kind, said: self._events.put((member, kind, said)))
            self._events.put((member, "over", ()))
        except WebdynoError as error:
            self._events.put((member, "lost", (str(error),)))

    def _heed(self, member: Member, kind: str, said: tuple[Any, ...]) -> None:
        doing = self._doing.get(member)
        if doing is None:  # of one that counts as lost already
            return
        if kind == "begun":
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
            doing.block, doing.began_s, doing.began_at = said[0], time.monotonic(), now
            self._listener.begin(said[0])
        elif kind == "runs" and [run.trial for run in said[0]] == [*(doing.block or ())]:
            self._write(*said)
            doing.block = None
            doing.measured += any(run.outcome != "interrupted" for run in said[0])
        elif kind == "runs":
            del self._doing[member]
            self._lose(member, doing, f"{member.name} sent runs of other trials than it was given")
            member.stop()
        else:
            del self._doing[member]
            if kind == "lost":
                self._lose(member, doing, said[0])
            elif doing.measured < len(doing.batch) and not self._interrupted.is_set():
                # It ended itself, having heard nothing of us for too long: it would do so with every other batch.
                self._lose(member, doing, f"{member.name} stopped before its blocks were measured")

    def _write(self, runs: Sequence[Run], logs: dict[str, bytes]) -> None:
        """Logs of these Trials alone, whatever a host sends."""
        try:
            for run in runs:
                for path in (self._store.contender_log(run.trial), self._store.driver_log(run.trial)):
                    if path.name in logs:
                        path.write_bytes(logs[path.name])
        except OSError:
            self._store.refuse_moved()
            raise
        self._store.append_all(runs)
        for run in runs:
            self._listener.end(run)

    def _lose(self, member: Member, doing: _Doing, reason: str) -> None:
        """A host is given nothing more; what it was at is written down as interrupted, and is done again elsewhere."""
        member.is_lost = True
        rig = member.about.rig
        block = doing.block or doing.batch[min(doing.measured, len(doing.batch) - 1)]
        self._losses.update(trial.id for trial in block)
        note([f"{reason}; the fleet goes on without it, and what it had begun is done again"])
        if doing.block is not None and rig is not None:
            seconds = (time.monotonic() - doing.began_s) / len(block)
            lost = [
                Run(
                    trial=trial,
                    outcome="interrupted",
                    started_at=doing.began_at,
                    seconds=seconds,
                    rig=rig,
                    message=f"its host was lost: {reason}",
                )
                for trial in block
            ]
            self._store.append_all(lost)

    def _tell_what_is_left(self) -> None:
        left = self._wanted(self._store.runs())
        if self._interrupted.is_set() or not left:
            return
        if all(member.is_lost for member in self._members):
            raise MachineError(
                f"no host of the fleet is left, and {count(len(left), 'trial')} are: start their nodes again, and "
                f"continue with --resume {self._store.folder}"
            )
        names = ", ".join(sorted({trial.contender for trial in left}))
        said = f"{MOST_LOSSES} hosts were lost with each of them in flight"
        note([f"{count(len(left), 'trial')} of {names} left undone: {said}"])
