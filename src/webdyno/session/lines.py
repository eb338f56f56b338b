"""Lines: what a search and a comparison say of each Run, as it comes."""

from __future__ import annotations

import time
from collections.abc import Sequence

from webdyno.analyse.objectives import Objective
from webdyno.analyse.versus import BASE, HEAD
from webdyno.analyse.window import read_window
from webdyno.analyse.words import per_cent, rate, time_ns
from webdyno.design import Block
from webdyno.design.pairs import Pairs, rates_of
from webdyno.design.rate_search import never_served, tried_of
from webdyno.load.driver import Event
from webdyno.model.block import Taken
from webdyno.model.run import Run
from webdyno.session.saying import say


class _Lines:
    """Of a session that begins now."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def begin(self, block: Block) -> None:
        """A line comes when it is done."""

    def event(self, event: Event | Taken) -> None:
        """Too much for a line."""

    @property
    def _passed(self) -> str:
        return f"[{time.monotonic() - self._begun:4.0f} s]"


class RateLines(_Lines):
    """One for each rate that was asked."""

    def __init__(self, wanted: Sequence[Objective]) -> None:
        super().__init__()
        self._wanted = wanted

    def end(self, run: Run) -> None:
        """What it says of the objectives."""
        if run.outcome == "interrupted" or never_served(run):
            return
        tried = tried_of(run, self._wanted)
        p99 = "-" if tried.p99_ns is None else time_ns(tried.p99_ns)
        why = f" ({'; '.join(tried.missed)})" if tried.missed else ""
        say(f"{self._passed} {rate(tried.rate_per_s):>10}  p99 {p99:>9}  {tried.result}{why}")


class PairLines(_Lines):
    """One for each pair, once both sides had their turn."""

    def __init__(self, pairs: Pairs, before: Sequence[Run] = ()) -> None:
        super().__init__()
        self._pairs, self._runs = pairs, list(before)

    def end(self, run: Run) -> None:
        """What they differ by; or which of them failed, and how."""
        told = len(self._pairs.made(self._runs))
        self._runs.append(run)
        made = self._pairs.made(self._runs)
        if len(made) == told:
            return
        last = made[-1]
        failed = [each for each in last.values() if read_window(each) is None]
        for each in failed:
            say(f"{each.trial.contender}: {each.outcome}: {each.message}")
        if not failed:
            rates = rates_of(last)
            base, head = rates[BASE], rates[HEAD]
            change = head / base - 1
            shown = f"{'-' if change < 0 else '+'}{per_cent(abs(change))}"
            say(
                f"{self._passed} pair {len(made)} of at most {self._pairs.most(made)}: base {rate(base)}, "
                f"head {rate(head)}, {shown}"
            )
