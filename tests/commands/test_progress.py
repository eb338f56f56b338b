"""Progress: what is done, what is left, and one line per Trial."""

from __future__ import annotations

import msgspec
import pytest

from tests.fakes import catalogue, study
from webdyno.commands.progress import line_of
from webdyno.design.length import expected_s
from webdyno.model.race import Race
from webdyno.model.rig import Rig
from webdyno.model.run import Run
from webdyno.model.sample import Slice
from webdyno.plan import make_plan
from webdyno.session.tally import Tally

PLAN = make_plan(study("a", "b", rounds=2), catalogue("a", "b"), {})
RIG = Rig(
    contender_cores=(0,), driver_cores=(1,), control_cores=(1,), service_cores=(1,), memory_bytes=None, cgroup="none"
)


def run(at: int, seconds: float = 3.0) -> Run:
    steady = Slice(
        phase="steady", index=1, start_ns=0, duration_ns=2 * 10**9, offered=2008, ok=2000,
        errors={"unfinished": 5, "timeout": 3},
    )  # fmt: skip
    warmup = msgspec.structs.replace(steady, phase="warmup", index=0)
    return Run(trial=PLAN.trials[at], outcome="ok", started_at="", seconds=seconds, rig=RIG, slices=[warmup, steady])


def test_what_is_left_is_judged_by_how_long_trials_really_take() -> None:
    tally = Tally(PLAN, set())
    expected = sum(expected_s(PLAN, trial) for trial in PLAN.trials)
    assert tally.left_s == pytest.approx(expected)
    tally.add(run(0, seconds=2 * expected_s(PLAN, PLAN.trials[0])))
    assert (tally.done, tally.total) == (1, 16)
    assert tally.left_s == pytest.approx(2 * (expected - expected_s(PLAN, PLAN.trials[0])))


def test_a_race_with_a_budget_is_over_when_that_is_spent() -> None:
    tally = Tally(msgspec.structs.replace(PLAN, race=Race(budget_s=10.0)), set())
    assert tally.left_s == 10.0
    tally.add(run(0, seconds=4.0))
    assert tally.left_s == 6.0
    tally.add(run(1, seconds=8.0))
    assert tally.left_s == 0.0


def test_runs_of_a_block_took_their_seconds_together() -> None:
    tally = Tally(msgspec.structs.replace(PLAN, race=Race(budget_s=10.0)), set())
    for at, block in ((0, 1), (1, 1), (2, 2)):
        tally.add(msgspec.structs.replace(run(at, seconds=3.0), block=block))
    assert tally.left_s == 4.0


def test_a_race_counts_as_many_runs_as_it_may_have() -> None:
    tally = Tally(msgspec.structs.replace(PLAN, race=Race(most_runs=12), seconds=30.0), set())
    assert (tally.total, tally.left_s) == (12, 30.0)


def test_a_resumed_plan_begins_with_what_it_has() -> None:
    tally = Tally(PLAN, {PLAN.trials[0].id, PLAN.trials[5].id})
    assert tally.done == 2


def test_a_line_shows_the_rate_of_the_steady_phase_and_only_real_errors() -> None:
    line = line_of(run(0))
    assert "1,000/s" in line
    assert line.endswith("3 errors")


def test_a_failed_trial_shows_its_outcome_and_why() -> None:
    failed = msgspec.structs.replace(run(0), outcome="died", message="ended under load with exit status 3")
    assert line_of(failed).endswith("died: ended under load with exit status 3")
