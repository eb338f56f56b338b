"""Pairs: base and head beside each other, again and again, until what they differ by is known.

Both in one block, where they can share one; else one after the other, in turned order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webdyno.analyse.blocks import read_windows
from webdyno.analyse.change import Change, looks
from webdyno.analyse.deciding import decide, judged
from webdyno.analyse.sitting import Pair, by_round, made_of, most_of, planned
from webdyno.analyse.versus import BASE, HEAD
from webdyno.analyse.window import read_window
from webdyno.design import Block, done_in
from webdyno.design.blocks import Room, drawn
from webdyno.model.block import Turns
from webdyno.model.paired import Paired
from webdyno.model.run import Run
from webdyno.model.trial import Plan, trial_of

TURNS = Turns(turn_s=0.02, lead_s=0.01, window_share=1 / 6)
"""Nearly all of a pair's load goes to the turns, which decide. They are short, for what the machine is like wanders off
within a tenth of a second (docs/measured.md); and so are their leads, for what a rest costs both sides is the same.
"""


def order_of(pair: int) -> tuple[str, str]:
    """Sides in pair ``pair`` (from 1): A B, B A, A B ..., so that a drift favours nobody and neighbours are twins."""
    return (BASE, HEAD) if pair % 2 else (HEAD, BASE)


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The design: pairs until a look decides, one side fails, enough are made or the time is up."""

    plan: Plan
    names: tuple[str, str]
    """The contenders that are base and head."""
    asked: Paired
    room: Room

    def __call__(self, runs: Sequence[Run]) -> Sequence[Block]:
        """The next pair, or what is left of it."""
        made = self.made(runs)
        if made and not self.is_open(made):
            return []
        number, done = self.next_round(runs), done_in(runs)
        called = dict(zip((BASE, HEAD), self.names, strict=True))
        trials = [trial_of(self.plan, called[side], self.asked.load, number) for side in order_of(number)]
        return drawn([trial for trial in trials if trial.id not in done], self.plan, self.room, runs)

    def made(self, runs: Sequence[Run]) -> list[Pair]:
        """Those of which both Runs are there, by side, in their order."""
        base, head = self.names
        return [{BASE: pair[base], HEAD: pair[head]} for pair in made_of(runs, self.names)]

    def next_round(self, runs: Sequence[Run]) -> int:
        """Of the pair that lacks a side, or else a new one.

        Where a block was stopped between its two Runs, the one that is there took its turns beside the other. What is
        measured alone cannot be compared with it, so both are measured anew.
        """
        found = by_round(runs)
        lacking = [
            number
            for number, pair in found.items()
            if len(pair) < len(self.names) and all(run.block is None for run in pair.values())
        ]
        return min(lacking, default=1 + max(found, default=0))

    def is_open(self, made: Sequence[Pair]) -> bool:
        """Whether another pair could tell more, and there is time for it."""
        return len(made) < self.most(made) and not self.is_decided(made)

    def is_decided(self, made: Sequence[Pair]) -> bool:
        """Whether the last pair tells: it is looked at and the look is clear, or one side failed."""
        if any(read_window(run) is None for run in made[-1].values()):
            return True
        most = planned(self.asked, made)
        return len(made) in looks(most) and decide(changes_of(made, self.asked.margin, most))[0] != "cannot tell"

    def most(self, made: Sequence[Pair]) -> int:
        """Pairs in all that may be made and that there is time for, as ``made`` take it."""
        return most_of(self.asked, made)


def changes_of(made: Sequence[Pair], margin: float, most: int | None = None) -> dict[str, Change]:
    """The change of each figure that may decide, over pairs (of ``most``) of which no side failed."""
    windows = [read_windows(pair[side] for side in (BASE, HEAD)) for pair in made]
    return judged([(base, head) for base, head in windows], margin, most)


def rates_of(pair: Pair) -> dict[str, float]:
    """Correct answers per second of each side, those of one block read together; 0 of a Run that failed."""
    served = {side: run for side, run in pair.items() if read_window(run) is not None}
    windows = zip(served, read_windows(served.values()), strict=True)
    return dict.fromkeys(pair, 0.0) | {side: window.rate_per_s for side, window in windows}
