"""Telling: whoever wants to know what a plan is doing: the terminal, `webdyno view`, a file of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import msgspec

from webdyno import now
from webdyno.analyse.error_share import NOT_AN_ERROR
from webdyno.design import Block
from webdyno.load.driver import Event
from webdyno.model.now import Now
from webdyno.model.run import Run
from webdyno.model.sample import Slice
from webdyno.model.trial import Plan
from webdyno.session.tally import Tally

MOST_SECONDS = 600
"""Slices of the Trial in flight that are kept for whoever watches."""


class Listener(Protocol):
    """Told when a block begins, what its drivers say meanwhile, and each Run that it became."""

    def begin(self, block: Block) -> None:
        """Its Trials begin."""

    def event(self, event: Event) -> None:
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

    def event(self, event: Event) -> None:
        """Tell all of them."""
        for listener in self._each:
            listener.event(event)

    def end(self, run: Run) -> None:
        """Tell all of them."""
        for listener in self._each:
            listener.end(run)


class Beside:
    """Keeps the file beside the store that says what is in flight; in a with-block, at whose end it is gone.

    ``plan`` None: the Trials are decided one by one, so nobody knows how many there will be.
    """

    def __init__(self, folder: Path, plan: Plan | None, already: set[str]) -> None:
        self._folder = folder
        self._tally = None if plan is None else Tally(plan, already)
        self._done = len(already)
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
        )
        now.write(self._folder, self._now)

    def event(self, event: Event) -> None:
        """Say how the second went that just passed."""
        if self._now is None or not isinstance(event, Slice) or not event.duration_ns:
            return
        so_far = self._now.warmup if event.phase == "warmup" else self._now.steady
        so_far.append(event.ok * 1e9 / event.duration_ns)
        over = max(len(so_far) - MOST_SECONDS, 0)
        del so_far[:over]
        wrong = sum(number for kind, number in event.errors.items() if kind != NOT_AN_ERROR)
        before = self._now.errors if event.phase == self._now.phase else 0
        left_out = self._now.left_out + (over if event.phase == "steady" else 0)
        self._now = msgspec.structs.replace(self._now, phase=event.phase, errors=before + wrong, left_out=left_out)
        now.write(self._folder, self._now)

    def end(self, run: Run) -> None:
        """One more is done."""
        self._done += 1
        if self._tally is not None:
            self._tally.add(run)
