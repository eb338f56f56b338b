"""Rungs: how settings are measured on the way to the last comparison: in blocks of short turns.

What fails beside others is measured again, alone: the application may be what cannot run twice (a port of its own, a
lock, a database with few connections), and no server is dropped for that. Two such failures, and everybody is alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from webdyno.analyse.additive import Meeting
from webdyno.analyse.blocks import meetings, read_windows
from webdyno.analyse.window import Window, read_window
from webdyno.analyse.words import listing, time_ns
from webdyno.conduct.block import LEAST_PASSES, turn_s
from webdyno.design import Block
from webdyno.design.blocks import draw, members, restless
from webdyno.design.halving import Seen
from webdyno.model.block import Turns
from webdyno.model.run import Run
from webdyno.session.loop import Loop
from webdyno.session.saying import say
from webdyno.session.tryout.bench import TryBench
from webdyno.session.tryout.command import CURRENT
from webdyno.session.tryout.limit import FULL
from webdyno.session.tryout.settling import settle

SHORT = Turns(turn_s=0.05, lead_s=0.02, cycles=2.0, window_share=0.3, least_window_s=0.15)
"""A rung only says who is clearly behind: what so short a turn gives or takes, some percent, is not that."""
LONGEST_S = 2.0
"""Of the turns of one setting; where its answers need longer, a load of its own takes less of the budget."""
ALONE_S = 0.7
"""Steady seconds at least of a Run that was never going to share."""
MOST_CROWDED = 2
"""This many that failed beside others and served alone show that it is the application."""
IDLE = 0.5
"""Part of its cores below which a server waits, unless all that the clients ask is being served."""


def too_slow(connections: int, alone_s: float) -> str | None:
    """Why an application that takes so long for a request is measured one setting after the other; None: it is not."""
    if LEAST_PASSES * turn_s(SHORT, connections * alone_s) <= LONGEST_S:
        return None
    return f"an answer of this app takes {time_ns(alone_s * 1e9)}, which is long for short turns"


class Rungs:
    """``least_s``: the least steady seconds of a Run; ``settling_s``: those of a longer load for what compiles;
    ``with_current``: --current is measured once, beside the first. KeyboardInterrupt ends it at the user's wish.
    """

    def __init__(self, bench: TryBench, alone_s: float, least_s: float, settling_s: float, *, with_current: bool):
        self._bench, self._alone_s, self._least_s, self._settling_s = bench, alone_s, least_s, settling_s
        self._rounds = 0
        self._with_current = with_current
        self._crowded: list[str] = []
        self.own: Run | None = None
        """Of --current."""

    @property
    def own_s(self) -> float:
        """What --current took; 0 where it was not measured."""
        return 0.0 if self.own is None else self.own.seconds

    def members(self) -> int:
        """Settings that can be measured at a time."""
        bench = self._bench
        if bench.all_alone is not None:
            return 1
        most = members(SHORT, bench.load(1.0), None, bench.room)
        return max(1, most - (self._with_current and self.own is None))

    def measure(self, names: Sequence[str], duration_s: float) -> dict[str, Seen]:
        """Each of ``names`` once, for this many steady seconds."""
        joining = [CURRENT] if self._with_current and self.own is None else []
        duration_s = max(duration_s, self._least_s, ALONE_S if self._bench.all_alone is not None else 0.0)
        runs = self._round([*names, *joining], duration_s)
        if joining:
            self.own = runs.pop(CURRENT)
        compiling = [name for name, run in runs.items() if run.compilers and not self._is_warm(name)]
        for name in compiling:
            if not self._is_warm(name):
                say(settle(self._bench, name, runs[name].compilers, self._settling_s))
        seen = self._seen(runs)
        return seen | (self._seen(self._round(compiling, duration_s)) if compiling else {})

    def _is_warm(self, name: str) -> bool:
        return self._bench.settings[name].base in self._bench.warmups

    def _round(self, names: Sequence[str], duration_s: float) -> dict[str, Run]:
        """The Runs that count, by name; one that shared and should not have is alone from now on."""
        self._rounds += 1
        bench, load = self._bench, self._bench.load(duration_s)
        trials = [bench.trial(name, load, self._rounds) for name in names]
        plan = bench.plan(trials, turns=SHORT)
        loop = bench.loop(plan)
        drawn = draw(trials, plan, bench.room)
        runs = {run.trial.contender: run for block in drawn for run in _carried_out(loop, block)}
        bench.kept |= restless(runs.values())
        return {name: self._again(loop, runs[name]) for name in names}

    def _again(self, loop: Loop, run: Run) -> Run:
        """A second one, alone, for who failed beside others, or answered wrongly when it was verified: an app that
        fails now and then would take out a server by chance.
        """
        if run.outcome == "ok" or (run.block is None and run.outcome != "wrong-answer"):
            return run
        (second,) = _carried_out(loop, [run.trial])
        if second.outcome == "ok" and run.block is not None:
            name = run.trial.contender
            self._bench.kept[name] = f"it failed beside others ({run.message}), but served alone"
            self._crowded.append(name)
            if len(self._crowded) == MOST_CROWDED:
                crowded = listing(self._crowded)
                self._bench.all_alone = f"{crowded} failed beside others and served alone: it may be the app"
                say(f"from here on each setting is measured alone: {self._bench.all_alone}")
        return second

    def _seen(self, runs: dict[str, Run]) -> dict[str, Seen]:
        windows = read_windows(runs.values(), partial(read_window, latencies=False))
        read = {window.run.trial.contender: window for window in windows}
        met = meetings(windows)
        return {
            name: self._one(run, read.get(name), met.get((name, run.trial.round)) or Meeting(-run.trial.round, False))
            for name, run in runs.items()
        }

    def _one(self, run: Run, window: Window | None, met: Meeting) -> Seen:
        waits = window is not None and is_waiting(window, self._bench.connections, self._alone_s)
        return Seen(run, 0.0 if window is None else window.rate_per_s, waits, run.trial.round, met)


def is_waiting(window: Window, connections: int, alone_s: float) -> bool:
    """Its cores idle while requests queue for it; ``alone_s`` is what one takes while nothing else is asked."""
    used, cores = window.contender_cores, len(window.run.rig.contender_cores)
    idle = used is not None and used < IDLE * cores
    return idle and window.rate_per_s * alone_s < FULL * connections


def _carried_out(loop: Loop, block: Block) -> list[Run]:
    """Its Runs; KeyboardInterrupt before or while."""
    runs = [] if loop.is_interrupted else loop.carry_out(block)
    if loop.is_interrupted or any(run.outcome == "interrupted" for run in runs):
        raise KeyboardInterrupt
    return runs
