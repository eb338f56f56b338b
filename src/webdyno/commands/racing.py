"""What makes a race of a plan: its study, or a budget or a precision; and what is to be settled.

A study is raced in as many Runs as its own rounds would take, unless its design is another one (``Study.is_raced``):
three rounds of everything, and then more of what is still open instead of more of everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import msgspec
from cyclopts import Parameter

from webdyno.analyse.words import count, length
from webdyno.commands.options import flag
from webdyno.commands.studying import seconds
from webdyno.design.length import OVERHEAD_S, expected_s
from webdyno.model.errors import UsageError
from webdyno.model.race import Race
from webdyno.model.study import Study
from webdyno.model.trial import Plan
from webdyno.store import Store

CLASSIC_S = 30.0
CLASSIC_ROUNDS = 4
"""Study S1's design: four times 30 seconds of everything, whatever is known by then."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Racing:
    """How long and for what a study is raced; without flags, as the study itself is done."""

    budget: Annotated[
        str | None, flag("--budget", help="Race: spend at most this long (10m, 1h), only where it still decides.")
    ] = None
    precision: Annotated[
        str | None, flag("--precision", help="Race until rates are told apart, or surely within this (5%).")
    ] = None
    top: Annotated[
        int | None, flag("--top", help="Race: settle who the first so many are (3); 0: the whole order.")
    ] = None
    exhaustive: Annotated[
        bool, flag("--exhaustive", help="No race: every round of everything, whatever is known by then.")
    ] = False

    in_place: Annotated[
        bool, flag("--in-place", help="No race, and one start of each server: its rounds follow each other there.")
    ] = False

    @property
    def race(self) -> Race | None:
        """The race that the flags ask for by themselves; UsageError when they contradict each other."""
        wanted = self.budget is not None or self.precision is not None
        if self.in_place and (wanted or self.top is not None or self.exhaustive):
            raise UsageError(
                "--in-place measures every round of everything, each server's one after the other; it goes with none "
                "of --budget, --precision, --top and --exhaustive"
            )
        if self.exhaustive and (wanted or self.top is not None):
            raise UsageError("--exhaustive leaves nothing out; it goes with none of --budget, --precision and --top")
        if self.top is not None and self.top < 0:
            raise UsageError(f"--top {self.top}: give how many places are to be settled, or 0 for all")
        if not wanted:
            return None
        race = Race(top=self._top)
        if self.budget is not None:
            race = msgspec.structs.replace(race, budget_s=seconds(self.budget, "--budget"))
        if self.precision is not None:
            race = msgspec.structs.replace(race, margin=_share(self.precision))
        return race

    @property
    def _top(self) -> int | None:
        return Race().top if self.top is None else self.top or None

    def of(self, study: Study) -> Race | None:
        """The race that ``study`` becomes, its most Runs apart; None: every round of everything. UsageError."""
        race = self.race
        if self.exhaustive or self.in_place:
            return None
        if race is not None:  # who asks for more rounds may have them
            return msgspec.structs.replace(race, most_rounds=max(race.most_rounds, study.rounds))
        if study.is_raced and study.rounds > Race().least_rounds:
            return Race(top=self._top, most_rounds=max(Race().most_rounds, study.rounds))
        if self.top is not None:
            raise UsageError(
                f"--top says what a race settles, and study {study.name} in {count(study.rounds, 'round')} is none; "
                "give --budget 10m or --precision 5% with it"
            )
        return None

    def rounds_of(self, study: Study) -> Study:
        """The study as it is planned: with as many rounds as the race may take, or in another design."""
        race = self.of(study)
        if race is not None:
            return msgspec.structs.replace(study, rounds=race.most_rounds, design="race")
        design = "in-place" if self.in_place else "exhaustive" if self.exhaustive else study.design
        return msgspec.structs.replace(study, design=design)

    def on(self, plan: Plan, study: Study) -> Plan:
        """The plan of ``rounds_of`` the ``study`` as a race, with the most it may take.

        UsageError when the budget is too small to tell anything.
        """
        race = self.of(study)
        if race is None:
            return plan
        if race.budget_s is None and self.precision is None:
            race = msgspec.structs.replace(race, most_runs=study.rounds * plan.cells)
            return msgspec.structs.replace(plan, race=race, seconds=_longest(plan, race))
        least = _length(plan, race.least_rounds)
        if race.budget_s is not None and race.budget_s < least:
            raise UsageError(
                f"--budget {self.budget}: {count(race.least_rounds, 'round')} of everything take {length(least)}, and "
                "less tells nothing; give more, or fewer contenders (-k), or shorter runs (-d)"
            )
        most = _length(plan, plan.rounds)
        return msgspec.structs.replace(plan, race=race, seconds=min(most, race.budget_s or most))


def costs(plan: Plan) -> Iterator[str]:
    """What a race costs at least and at most, and what the grid and the classic design would; a sentence each."""
    race = plan.race
    if plan.in_place:
        yield "in place: each server is started once for all its rounds; what differs from start to start is not seen"
    if race is None:
        return
    rounds = plan.rounds if race.most_runs is None else race.most_runs // plan.cells
    bound = f"at most {length(plan.seconds)}" + (" (the budget)" if plan.seconds == race.budget_s else "")
    first = "the whole order is" if race.top is None else f"the first {race.top} are"
    yield (
        f"race: {length(_length(plan, race.least_rounds))} for {race.least_rounds} rounds of everything, then only "
        f"what is open, until {first} settled, {bound}"
    )
    cells = [trial for trial in plan.trials if trial.round == 1]
    classic = CLASSIC_ROUNDS * sum(OVERHEAD_S + trial.asked.warmup_s + CLASSIC_S for trial in cells)
    whole, every = length(_length(plan, rounds)), count(rounds, "round")
    if race.most_runs is not None:
        yield f"without a race (--exhaustive): {whole} for all {every}"
    else:  # the study's own rounds, which --exhaustive does, are others
        yield f"{every} of everything: {whole}"
    yield f"as study S1 did it, {CLASSIC_ROUNDS} times {CLASSIC_S:g} s of everything: {length(classic)}"


def extent(plan: Plan) -> str:
    """How many Trials, as far as that is known before."""
    if plan.race is None:
        return f"{count(plan.rounds, 'round')}: {count(len(plan.trials), 'trial')}"
    least = plan.race.least_rounds * plan.cells
    return f"a race of {count(least)} to {count(plan.most_trials, 'trial')}"


def ending(plan: Plan, store: Store) -> str:
    """How a race ended, in words; empty for a plan that is none, and for a race that goes on."""
    if plan.race is None:
        return ""
    from webdyno.analyse.replay import replay

    at = replay(plan, store.runs(), store.fingerprint().ceilings)
    ends: Mapping[str | None, str] = {
        "settled": "settled: nothing is open that more rounds would decide",
        "rounds": f"the most rounds a race may have are done ({plan.rounds}); what is open stays open",
        "budget": "the budget is spent; what is open stays open",
        "runs": "its runs are spent, as many as its rounds of everything would be; what is open stays open",
    }
    return f"race over after {count(at.rounds, 'round')}: {ends[at.end]}" if at.end else ""


def _longest(plan: Plan, race: Race) -> float:
    """Seconds of the race if the Runs left to it after its first rounds go to those that take longest."""
    extra = (race.most_runs or 0) - race.least_rounds * plan.cells
    later = [trial for trial in plan.trials if trial.round > race.least_rounds]
    each = sorted((expected_s(plan, trial) for trial in later), reverse=True)
    return _length(plan, race.least_rounds) + sum(each[:extra])


def _length(plan: Plan, rounds: int) -> float:
    """Seconds of so many rounds of everything."""
    return sum(expected_s(plan, trial) for trial in plan.trials if trial.round <= rounds)


def _share(text: str) -> float:
    """``5%`` or ``0.05``."""
    number = text.removesuffix("%").strip()
    try:
        value = float(number) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0.001 <= value <= 0.5:
        raise UsageError(f"--precision {text}: give a share from 0.1% to 50%, such as 5%")
    return value
