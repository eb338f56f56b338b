"""Choice: by which design a study is measured.

A study is raced in as many Runs as its own rounds would take, unless its design is another one (``Study.is_raced``):
three rounds of everything, and then more of what is still open instead of more of everything.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from webdyno.analyse.words import count, length
from webdyno.design.length import longest_s, rounds_s
from webdyno.model.errors import UsageError
from webdyno.model.further import Further
from webdyno.model.race import Race
from webdyno.model.study import Study
from webdyno.model.trial import Plan


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What was asked for; nothing: as the study itself is done."""

    race: Race | None = None
    """With a budget or a precision: as many rounds as that takes."""
    top: int | None = Race().top
    """Places that a race settles, where the study is one; None: all."""
    only_race: bool = False
    """Those places were asked for, which only a race settles."""
    exhaustive: bool = False
    in_place: bool = False
    further_s: float | None = None
    """For further rounds of open claims; None: as the study says."""

    def of(self, study: Study) -> Race | None:
        """The race that ``study`` becomes, its most Runs apart; None: every round of everything. UsageError."""
        if self.exhaustive or self.in_place:
            return None
        if self.race is not None:  # who asks for more rounds may have them
            return msgspec.structs.replace(self.race, most_rounds=max(self.race.most_rounds, study.rounds))
        if study.is_raced and study.rounds > Race().least_rounds:
            return Race(top=self.top, most_rounds=max(Race().most_rounds, study.rounds))
        if self.only_race:
            raise UsageError(
                f"--top says what a race settles, and study {study.name} in {count(study.rounds, 'round')} is none; "
                "give --budget 10m or --precision 5% with it"
            )
        return None

    def rounds_of(self, study: Study) -> Study:
        """The study as it is planned: with as many rounds as the race may take, or in another design."""
        race, further = self.of(study), self._further(study)
        if race is not None:
            return msgspec.structs.replace(study, rounds=race.most_rounds, design="race")
        design = "in-place" if self.in_place else "exhaustive" if self.exhaustive else study.design
        return msgspec.structs.replace(study, design=design, further=None if self.exhaustive else further)

    def _further(self, study: Study) -> Further | None:
        if self.further_s is None:
            return study.further
        if study.further is None:
            raise UsageError(
                f"--further: study {study.name} has no [further] rounds for its claims; leave it out, or name their "
                "looks in its file"
            )
        return msgspec.structs.replace(study.further, budget_s=self.further_s)

    def on(self, plan: Plan, study: Study) -> Plan:
        """The plan of ``rounds_of`` the ``study`` as a race, with the most it may take.

        UsageError when the budget is too small to tell anything.
        """
        race = self.of(study)
        if race is None:
            return plan
        if self.race is None:
            race = msgspec.structs.replace(race, most_runs=study.rounds * plan.cells)
            return msgspec.structs.replace(plan, race=race, seconds=longest_s(plan, race))
        least = rounds_s(plan, race.least_rounds)
        if race.budget_s is not None and race.budget_s < least:
            raise UsageError(
                f"--budget {length(race.budget_s)}: {count(race.least_rounds, 'round')} of everything take "
                f"{length(least)}, and fewer rounds decide nothing; give a longer budget, fewer contenders "
                "(-k), or shorter runs (-d)"
            )
        most = rounds_s(plan, plan.rounds)
        return msgspec.structs.replace(plan, race=race, seconds=min(most, race.budget_s or most))
