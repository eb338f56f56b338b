"""Tally: how far a plan is, and when it will be done."""

from __future__ import annotations

from functools import partial

from webdyno.design.length import expected_s
from webdyno.model.run import Run
from webdyno.model.trial import Plan


class Tally:
    """How far a plan is, and when it will be done, judged by how long its Trials really take."""

    def __init__(self, plan: Plan, already: set[str], hosts: int = 1) -> None:
        self._hosts = hosts  # at work at the same time
        self.total = plan.most_trials
        self.done = sum(trial.id in already for trial in plan.trials)
        self._expected = partial(expected_s, plan)
        whole_s = sum(map(self._expected, plan.trials)) if self.total == len(plan.trials) else plan.seconds
        self._ahead_s = whole_s - sum(self._expected(trial) for trial in plan.trials if trial.id in already)
        self._expected_s = self._taken_s = 0.0
        self._blocks: set[int | None] = set()
        self._budget_s = plan.race.budget_s if plan.race else None

    def add(self, run: Run) -> None:
        """A Trial is done."""
        self.done += 1
        self.total = max(self.total, self.done)  # rounds for open claims come as they are asked for
        expected = self._expected(run.trial)
        self._ahead_s -= expected
        self._expected_s += expected
        if run.block is None or run.block not in self._blocks:  # those of a block took their seconds together
            self._taken_s += run.seconds
        self._blocks.add(run.block)

    @property
    def left_s(self) -> float:
        """Seconds to go; at most, in a race."""
        pace = self._taken_s / self._expected_s if self._expected_s else 1.0
        left_s = self._ahead_s * pace
        if self._budget_s is not None:
            left_s = min(left_s, self._budget_s - self._taken_s)
        return max(0.0, left_s / self._hosts)
