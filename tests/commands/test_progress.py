"""Progress: what is done, what is left, and one line per Trial."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.fakes import catalogue, study
from webdyno.analyse.words import rate
from webdyno.commands.progress import Lines, Live, line_of
from webdyno.design.length import expected_s
from webdyno.model.block import Taken
from webdyno.model.race import Race
from webdyno.model.rig import Rig
from webdyno.model.run import Run
from webdyno.model.sample import Slice
from webdyno.now import read
from webdyno.plan import make_plan
from webdyno.session.listeners import LEAST_S, Beside
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


def turn(number: int, ok: int, start_s: float = 10.0, **changes: object) -> Slice:
    made = Slice(
        phase="turn", index=number, start_ns=round(start_s * 1e9), duration_ns=10**8, offered=ok, ok=ok, errors={},
        turn=number,
    )  # fmt: skip
    return msgspec.structs.replace(made, **changes)


def taken(name: str, slice_: Slice, passes: int | None = 11) -> Taken:
    return Taken(contender=name, slice=slice_, passes=passes)


BLOCK = [trial for trial in PLAN.trials if trial.round == 1][:2]


def test_a_line_shows_the_rate_of_its_turns_where_it_had_turns() -> None:
    one = run(0)
    turns = [turn(0, 300), turn(1, 500, errors={"reset": 2})]
    line = line_of(msgspec.structs.replace(one, slices=[*one.slices, *turns]))
    assert rate(4000.0) in line
    assert line.endswith("5 errors")


def test_a_log_says_who_is_measured_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines(PLAN, set()) as lines:
        lines.begin(BLOCK)
        lines.begin(BLOCK[:1])
    names = " and ".join(trial.contender for trial in BLOCK)
    assert capsys.readouterr().err == f"[0/16] round 1/2  side by side: {names}\n"


def test_the_panel_says_whose_turn_it_was_and_how_far_the_passes_are() -> None:
    from rich.console import Console

    live = Live(PLAN, set())
    live.begin(BLOCK)

    def shown() -> str:
        console = Console(width=200)
        with console.capture() as captured:
            console.print(live._panel())
        return captured.get()

    assert "side by side · " in shown()
    live.event(taken("a", msgspec.structs.replace(turn(0, 90), phase="warmup", turn=None), passes=None))
    assert "warm-up: a 900/s" in shown()
    live.event(taken("b", turn(2, 400)))
    assert "pass 3 of 11: b 4,000/s" in shown()
    live.event(taken("b", turn(2, 100, phase="steady", turn=None)))
    assert "window for latency: b 1,000/s" in shown()


def test_what_is_in_flight_holds_the_turns_of_a_block_and_is_not_written_for_each(tmp_path: Path) -> None:
    at_s = [100.0]
    with Beside(tmp_path, PLAN, set(), clock=lambda: at_s[0]) as beside:
        beside.begin(BLOCK)
        beside.event(taken("a", msgspec.structs.replace(turn(0, 90, 5.0), phase="warmup", turn=None), passes=None))
        beside.event(taken("b", turn(0, 400, 10.0, errors={"reset": 3, "unfinished": 9})))
        now = read(tmp_path)
        assert now is not None
        assert now.beside == [trial.contender for trial in BLOCK]
        assert (now.contender, now.phase, now.turn, now.passes, now.errors) == ("b", "turn", 0, 11, 3)
        assert now.turns == {"b": [(0.0, 4000.0)]}
        beside.event(taken("a", turn(0, 100, 10.5)))
        assert read(tmp_path) == now
        at_s[0] += LEAST_S
        beside.event(taken("a", turn(1, 110, 11.0)))
        later = read(tmp_path)
        assert later is not None
        assert later.turns == {"b": [(0.0, 4000.0)], "a": [(0.5, 1000.0), (1.0, 1100.0)]}
        beside.begin(BLOCK[:1])
        alone = read(tmp_path)
        assert alone is not None
        assert (alone.beside, alone.turns) == ([], {})
    assert read(tmp_path) is None
