"""Listeners: those that want to know what a plan is doing: the terminal, `webdyno view`, a file of metrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import msgspec

from webdyno import now
from webdyno.analyse.error_share import failed
from webdyno.design import Block
from webdyno.load.driver import Event
from webdyno.model.block import Taken
from webdyno.model.now import Now
from webdyno.model.run import Run
from webdyno.model.sample import Slice
from webdyno.model.trial import Plan
from webdyno.session.tally import Tally

MOST_SECONDS = 600
"""Slices of the Trial in flight that are kept for those who watch."""
LEAST_S = 0.5
"""Between two turns that are told."""


class Listener(Protocol):
    """Told when a block begins, what its drivers say meanwhile, and each Run that it became."""

    def begin(self, block: Block) -> None:
        """Its Trials begin."""

    def event(self, event: Event | Taken) -> None:
        """A driver said something."""

    def end(self, run: Run) -> None:
        """One of its Runs is written down."""


class Listeners:
    """Several as one."""

    def __init__(self, each: Sequence[Listener]) -> None:
        self._each = each

    def begin(self, block: Block) -> None:
        """Tell all of them."""
        for listener in self._each:
            listener.begin(block)

    def event(self, event: Event | Taken) -> None:
        """Tell all of them."""
        for listener in self._each:
            listener.event(event)

    def end(self, run: Run) -> None:
        """Tell all of them."""
        for listener in self._each:
            listener.end(run)


class Kept:
    """Ends what is measured, by a MachineError, when that can no more be kept."""

    def __init__(self, refuse: Callable[[], object]) -> None:
        self._refuse = refuse

    def begin(self, _: Block) -> None:
        """Look before it."""
        self._refuse()

    def event(self, _: Event | Taken) -> None:
        """Look after each second and each turn."""
        self._refuse()

    def end(self, _: Run) -> None:
        """It was looked at when the Run was written."""


class Beside:
    """Keeps the file beside the store that says what is in flight; in a with-block, at whose end it is gone.

    ``plan`` None: the Trials are decided one by one, so nobody knows how many there will be.
    """

    def __init__(
        self, folder: Path, plan: Plan | None, already: set[str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder, self._clock, self._written_s = folder, clock, 0.0
        self._tally = None if plan is None else Tally(plan, already)
        self._done = len(already)
        self._zero_ns: int | None = None
        self._now: Now | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        now.clear(self._folder)

    def begin(self, block: Block) -> None:
        """Say what starts, by the first of those that start together."""
        tally = self._tally
        self._now = Now(
            trial=block[0],
            done=tally.done if tally else self._done,
            total=tally.total if tally else None,
            left_s=tally.left_s if tally else None,
            beside=[trial.contender for trial in block] if len(block) > 1 else [],
        )
        self._zero_ns = None
        now.write(self._folder, self._now)

    def event(self, event: Event | Taken) -> None:
        """Say how the second went that just passed, or the turn."""
        if isinstance(event, Taken):
            self._taken(event)
            return
        if self._now is None or not isinstance(event, Slice) or not event.duration_ns:
            return
        so_far = self._now.warmup if event.phase == "warmup" else self._now.steady
        seconds = max(round(event.loaded_ns / 1e9), 1) if event.is_stretch else 1
        so_far += [event.ok * 1e9 / event.duration_ns] * seconds
        over = max(len(so_far) - MOST_SECONDS, 0)
        del so_far[:over]
        left_out = self._now.left_out + (over if event.phase == "steady" else 0)
        errors = _errors(self._now, event)
        self._now = msgspec.structs.replace(self._now, phase=event.phase, errors=errors, left_out=left_out)
        now.write(self._folder, self._now)

    def _taken(self, taken: Taken) -> None:
        """Turns come ten or twenty in a second, and the next waits until this one is told: not each is written."""
        before, slice_ = self._now, taken.slice
        if before is None or not slice_.duration_ns:
            return
        rate_per_s = slice_.ok * 1e9 / slice_.duration_ns
        if slice_.phase == "turn" and slice_.start_ns is not None:
            self._zero_ns = slice_.start_ns if self._zero_ns is None else self._zero_ns
            points = before.turns.setdefault(taken.contender, [])
            points.append((round((slice_.start_ns - self._zero_ns) / 1e9, 3), round(rate_per_s, 1)))
            del points[:-MOST_SECONDS]
        self._now = msgspec.structs.replace(
            before,
            phase=slice_.phase,
            errors=_errors(before, slice_),
            contender=taken.contender,
            rate_per_s=rate_per_s,
            turn=slice_.turn,
            passes=taken.passes,
        )
        if slice_.phase != before.phase or self._clock() - self._written_s >= LEAST_S:
            self._written_s = self._clock()
            now.write(self._folder, self._now)

    def end(self, run: Run) -> None:
        """One more is done."""
        self._done += 1
        if self._tally is not None:
            self._tally.add(run)


def _errors(before: Now, slice_: Slice) -> int:
    """Of this phase so far, without those still in flight when time was up."""
    return failed(slice_.errors) + (before.errors if slice_.phase == before.phase else 0)
