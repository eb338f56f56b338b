"""The flags that say how a study is measured, and what is said of a race before and after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import msgspec
from cyclopts import Parameter

from webdyno.analyse.words import count, length
from webdyno.commands.options import flag
from webdyno.commands.units import seconds, share
from webdyno.design.choice import Choice
from webdyno.design.length import OVERHEAD_S, rounds_s, warming_s
from webdyno.model.errors import UsageError
from webdyno.model.race import Race
from webdyno.model.trial import Plan

CLASSIC_S = 30.0
CLASSIC_ROUNDS = 4
"""The design of study wsgi's original: four times 30 seconds of everything, whatever is known by then."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Racing:
    """How long and for what a study is raced; without flags, as the study itself is done."""

    budget: Annotated[
        str | None,
        flag("--budget", help="Race: take at most this long (10m, 1h), and only for pairs that are still open."),
    ] = None
    precision: Annotated[
        str | None,
        flag(
            "--precision",
            help="Race until any two rates are distinguished, or certainly equal within this margin (5%).",
        ),
    ] = None
    top: Annotated[
        int | None, flag("--top", help="Race: number of top places to settle; 0: the whole order. [default: 3]")
    ] = None
    exhaustive: Annotated[
        bool,
        flag(
            "--exhaustive",
            help="No race and no further rounds: every round of everything, even if everything is settled.",
        ),
    ] = False

    in_place: Annotated[
        bool, flag("--in-place", help="No race: each server is started once, and all its rounds follow each other.")
    ] = False

    further: Annotated[
        str | None,
        flag(
            "--further",
            help="Spend at most this long (15m) on further rounds for claims that are open, instead of what the study "
            "says; with --resume, that much more, even for a study that has ended.",
        ),
    ] = None

    @property
    def race(self) -> Race | None:
        """The race that the flags ask for by themselves; UsageError when they contradict each other."""
        wanted = self.budget is not None or self.precision is not None
        if self.in_place and (wanted or self.top is not None or self.exhaustive):
            raise UsageError(
                "--in-place measures every round of everything, one server after the other; it excludes "
                "--budget, --precision, --top and --exhaustive"
            )
        if self.exhaustive and (wanted or self.top is not None):
            raise UsageError("--exhaustive leaves nothing out; it excludes --budget, --precision and --top")
        if self.further is not None and (wanted or self.top is not None or self.exhaustive):
            raise UsageError("--further is for claims; it excludes --exhaustive, --budget, --precision and --top")
        if self.top is not None and self.top < 0:
            raise UsageError(f"--top {self.top}: give how many places are to be settled, or 0 for all")
        if not wanted:
            return None
        race = Race(top=self._top)
        if self.budget is not None:
            race = msgspec.structs.replace(race, budget_s=seconds(self.budget, "--budget"))
        if self.precision is not None:
            race = msgspec.structs.replace(race, margin=share(self.precision, "--precision", 0.001, 0.5))
        return race

    @property
    def _top(self) -> int | None:
        return Race().top if self.top is None else self.top or None

    @property
    def further_s(self) -> float | None:
        """UsageError for what is no time."""
        return None if self.further is None else seconds(self.further, "--further")

    @property
    def choice(self) -> Choice:
        """What they come to; UsageError."""
        return Choice(
            race=self.race,
            top=self._top,
            only_race=self.top is not None,
            exhaustive=self.exhaustive,
            in_place=self.in_place,
            further_s=self.further_s,
        )


def costs(plan: Plan) -> Iterator[str]:
    """What a race costs at least and at most, and what the grid and the classic design would; a sentence each."""
    race = plan.race
    if plan.in_place:
        yield "in place: each server is started once for all its rounds; variation from start to start is not measured"
    if more_s := warming_s(plan):
        yield (
            f"up to {length(more_s)} more where a slow machine gives the answers of a warm-up late, or a server is "
            "still getting faster"
        )
    if plan.further is not None:
        yield (
            f"then up to {length(plan.further.budget_s)} of further rounds in all, only for claims that are still open "
            "and that more rounds can decide (--exhaustive: none)"
        )
    if race is None:
        return
    rounds = plan.rounds if race.most_runs is None else race.most_runs // plan.cells
    bound = f"at most {length(plan.seconds)}" + (" (the budget)" if plan.seconds == race.budget_s else "")
    first = "the whole order is" if race.top is None else f"the first {race.top} are"
    yield (
        f"race: {length(rounds_s(plan, race.least_rounds))} for {race.least_rounds} rounds of everything, then only "
        f"what is open, until {first} settled, {bound}"
    )
    cells = [trial for trial in plan.trials if trial.round == 1]
    classic = CLASSIC_ROUNDS * sum(OVERHEAD_S + trial.asked.warmup_s + CLASSIC_S for trial in cells)
    whole, every = length(rounds_s(plan, rounds)), count(rounds, "round")
    if race.most_runs is not None:
        yield f"without a race (--exhaustive): {whole} for all {every}"
    else:  # the study's own rounds, which --exhaustive does, are others
        yield f"{every} of everything: {whole}"
    yield f"as the original study wsgi did it, {CLASSIC_ROUNDS} times {CLASSIC_S:g} s of everything: {length(classic)}"


def extent(plan: Plan) -> str:
    """How many Trials, as far as that is known before."""
    if plan.race is None:
        return f"{count(plan.rounds, 'round')}: {count(len(plan.trials), 'trial')}"
    least = plan.race.least_rounds * plan.cells
    return f"a race of {count(least)} to {count(plan.most_trials, 'trial')}"
