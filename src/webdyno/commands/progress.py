"""Progress of a plan: a live panel on a terminal, one plain line per finished Trial everywhere else."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from webdyno.analyse.error_share import failed
from webdyno.analyse.words import length, listing, rate
from webdyno.commands.printing import err, err_console, err_is_seen
from webdyno.design import Block
from webdyno.load.driver import Event
from webdyno.model.block import Taken
from webdyno.model.outward import clean
from webdyno.model.run import Run
from webdyno.model.sample import Slice
from webdyno.model.trial import Plan
from webdyno.report.sides import stage
from webdyno.session.tally import Tally

if TYPE_CHECKING:
    from rich.console import Group

MOST_NAMES = 12
RECENT = 6
"""Finished Trials kept in sight on a terminal."""


def line_of(run: Run) -> str:
    """A finished Trial in one line; of one that took turns, the rate is of these, and its errors are all."""
    trial = run.trial
    head = f"{trial.contender:<18} {trial.workload:<8} {trial.load.connections:>5} c"
    counted = [slice_ for slice_ in run.slices if slice_.phase != "warmup"]
    timed = [slice_ for slice_ in counted if slice_.phase == "turn"] or counted
    if run.outcome != "ok":
        return f"{head}  {run.outcome}: {run.message}"
    answered = sum(slice_.ok for slice_ in timed)
    seconds = sum(slice_.duration_ns for slice_ in timed) / 1e9
    errors = sum(failed(slice_.errors) for slice_ in counted)
    return f"{head}  {rate(answered / seconds) if seconds else '-':>10}" + (f"  {errors} errors" if errors else "")


class Lines:
    """Plain lines on standard error, for pipes and logs."""

    def __init__(self, plan: Plan, already: set[str], hosts: int = 1) -> None:
        self._tally = Tally(plan, already, hosts)
        self._of = "" if plan.race or plan.further else f"/{plan.rounds}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to take down."""

    def begin(self, block: Block) -> None:
        """A line appears when a Trial is done; before a block, who shares it."""
        if len(block) > 1:
            where = f"[{self._tally.done}/{self._tally.total}] round {block[0].round}{self._of}"
            names = listing([trial.contender for trial in block], MOST_NAMES)
            err(f"{where}  side by side: {names}")

    def event(self, event: Event | Taken) -> None:
        """Too much for a log."""

    def end(self, run: Run) -> None:
        """One line."""
        self._tally.add(run)
        where = f"[{self._tally.done}/{self._tally.total}] round {run.trial.round}{self._of}"
        err(f"{where}  {line_of(run)}  (left: {length(self._tally.left_s)})")


class Live:
    """A panel of the last few Trials, the one that runs, and the time left; redrawn twice a second.

    More often would cost the driver's core a share that can be measured (rich at 10 Hz takes 8 % of a core).
    """

    def __init__(self, plan: Plan, already: set[str], hosts: int = 1) -> None:
        from rich.live import Live as RichLive

        self._tally = Tally(plan, already, hosts)
        self._of = "" if plan.race or plan.further else f"/{plan.rounds}"
        self._recent: list[str] = []
        self._now = ""
        self._rate = ""
        self._started = time.monotonic()
        self._live = RichLive(
            console=err_console(),
            refresh_per_second=2,
            transient=True,
            get_renderable=self._panel,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def begin(self, block: Block) -> None:
        """Show what starts."""
        first, names = block[0], listing([trial.contender for trial in block], MOST_NAMES)
        together = " side by side" if len(block) > 1 else ""
        self._now = f"round {first.round}{self._of}  {names}{together} · {first.workload} · {first.load.label}"
        self._rate = "starting"

    def event(self, event: Event | Taken) -> None:
        """Show the second that just passed, or the turn."""
        if isinstance(event, Taken):
            slice_ = event.slice
            if slice_.duration_ns:
                at = stage(slice_.phase, slice_.turn, event.passes)
                self._rate = f"{at}: {event.contender} {rate(slice_.ok * 1e9 / slice_.duration_ns)}"
        elif isinstance(event, Slice) and event.duration_ns:
            errors = failed(event.errors)
            self._rate = f"{event.phase} {rate(event.ok * 1e9 / event.duration_ns)}, {errors} errors"

    def end(self, run: Run) -> None:
        """Add the finished Trial."""
        self._tally.add(run)
        self._recent = [*self._recent, line_of(run)][-RECENT:]

    def _panel(self) -> Group:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        done, total = self._tally.done, self._tally.total
        passed = length(time.monotonic() - self._started)
        return Group(
            *(Text(clean(f"  {line}"), style="dim", no_wrap=True, overflow="ellipsis") for line in self._recent),
            Text(clean(f"> {self._now}"), no_wrap=True, overflow="ellipsis"),
            Text(clean(f"  {self._rate}"), no_wrap=True, overflow="ellipsis"),
            ProgressBar(total=total, completed=done, width=60),
            Text(
                f"  {done} of {total} trials · {length(self._tally.left_s)} left · {passed} passed · Ctrl-C keeps all"
            ),
        )


def progress(plan: Plan, already: set[str], hosts: int = 1) -> Lines | Live:
    """The right one for where standard error goes; ``hosts`` of a fleet share the plan."""
    return Live(plan, already, hosts) if err_is_seen() else Lines(plan, already, hosts)
