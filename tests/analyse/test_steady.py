"""The warm-up as it is found in the course of a Run: shapes whose truth is known, and what must not lead astray."""

import math
from itertools import combinations, pairwise

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import FINGERPRINT, LOAD, SECOND, change_slices, plan, run, slices
from webdyno.analyse import analyse
from webdyno.analyse.steady import PENALTY, Course, _changes, _noise, course, level_begin, mser, steady_slices
from webdyno.analyse.table import Evidence, tables
from webdyno.analyse.warmup import warm_ups
from webdyno.analyse.window import read_window
from webdyno.model.load import Load, Stage
from webdyno.model.run import Run
from webdyno.model.warmup import WarmUp

T = np.arange(60) + 0.5
NOISE = 0.02


def wandering(rng: np.random.Generator, number: int, sigma: float = NOISE, rho: float = 0.5) -> np.ndarray:
    """Seconds that hang together, as those of a server do: AR(1)."""
    steps = rng.normal(0, sigma * math.sqrt(1 - rho**2), number)
    made = np.zeros(number)
    for at in range(number):
        made[at] = rho * made[at - 1] * (at > 0) + steps[at]
    return made


def like(logs: np.ndarray, **changes: object) -> Run:
    rates = [float(rate) for rate in 10_000 * np.exp(logs)]
    made = run(slices=slices(rates), steady_end_ns=None)
    return msgspec.structs.replace(made, **changes)


SHAPES = {
    "flat": (np.zeros(60), 0, 4),
    "exponential, 3 s": (np.log(1 - 0.3 * np.exp(-T / 3)), 3, 16),
    "tiers of a JIT": (np.where(T < 3, -0.5, np.where(T < 7, -0.2, 0.0)), 7, 9),
    "slower after its cache was full": (np.where(T < 21, 0.1, 0.0), 20, 24),
    "saw-tooth of a collector": (-(T % 7) / 7 * 0.15, 0, 4),
    "a neighbour's burst near the end": (np.where((T > 50) & (T < 57), -0.25, 0.0), 0, 4),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_steady_state_begins_where_it_does(shape: str) -> None:
    truth, earliest, latest = SHAPES[shape]
    rng = np.random.default_rng(4)
    found = [course(like(truth + wandering(rng, 60))) for _ in range(20)]
    settled = [each.settled_ns / SECOND for each in found if each.settled_ns is not None]
    assert len(settled) >= 19
    # slices() puts half a second of warm-up before
    assert earliest <= np.median(settled) <= latest + 0.5


def test_what_climbs_all_the_time_never_settles() -> None:
    rng = np.random.default_rng(4)
    found = [course(like(-0.4 + T / 60 * 0.4 + wandering(rng, 60))) for _ in range(20)]
    assert sum(each.read and not each.settled for each in found) >= 19


def test_flat_runs_are_seldom_called_unsettled_however_their_seconds_hang_together() -> None:
    rng = np.random.default_rng(5)
    found = [course(like(wandering(rng, number, 0.03, 0.6))) for number in (8, 12, 20, 30) for _ in range(60)]
    assert all(each.read for each in found)
    assert np.mean([not each.settled for each in found]) <= 0.08


def test_what_remains_after_a_slow_warm_up_is_nearly_without_bias() -> None:
    rng = np.random.default_rng(6)
    shape = np.log(1 - 0.4 * np.exp(-T / 12))
    windows = [read_window(like(shape + wandering(rng, 60))) for _ in range(30)]
    rates = [window.rate_per_s for window in windows if window is not None]
    fixed = 10_000 * float(np.exp(shape).mean())
    assert fixed < 9_300
    assert np.mean(rates) > 9_600


def test_the_time_to_95_percent_is_told_of_the_first_slice_that_reaches_it() -> None:
    found = course(like(np.where(T < 4, -0.5, 0.0)))
    assert found.to_95_ns == 4.5 * SECOND
    assert course(like(np.zeros(60))).to_95_ns == 0


def test_cpu_and_rate_are_of_the_same_slices() -> None:
    made = like(np.where(T < 20, -0.5, 0.0))
    kept = steady_slices(made)
    window = read_window(made)
    assert len(kept) == 40
    assert window is not None
    assert window.seconds == 40
    assert window.rate_per_s == pytest.approx(10_000)


@pytest.mark.parametrize(
    "made",
    [
        like(np.zeros(3)),
        like(np.zeros(6)),
        run(slices=[]),
        run(slices=[msgspec.structs.replace(each, phase="warmup") for each in slices([10_000.0] * 12)]),
        change_slices(like(np.zeros(20)), ok=0),
        change_slices(like(np.zeros(20)), duration_ns=0),
        msgspec.structs.replace(
            like(np.where(T < 4, -0.5, 0.0)),
            trial=msgspec.structs.replace(
                run().trial,
                load=Load(connections=4, duration_s=60.0, connection_stages=(Stage(duration_s=60, first=1, last=4),)),
            ),
        ),
    ],
    ids=["3 s", "6 s", "nothing", "only warm-up", "no answers", "no time", "connections that change"],
)
def test_what_cannot_be_read_keeps_the_warm_up_of_the_study(made: Run) -> None:
    assert course(made) == Course(read=False)
    assert steady_slices(made) == [slice_ for slice_ in made.slices if slice_.phase == "steady"]


@pytest.mark.parametrize("seed", range(6))
def test_levels_are_cut_where_no_other_cut_costs_less(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logs = np.repeat(rng.normal(0, 0.2, 3), [2, 5, 3]) + rng.normal(0, NOISE, 10)

    def cost(ends: tuple[int, ...]) -> float:
        squares = [((logs[a:b] - logs[a:b].mean()) ** 2).sum() for a, b in pairwise([0, *ends])]
        return float(sum(squares) / _noise(logs) ** 2 + PENALTY * math.log(10) * len(ends))

    cuts = [(*within, 10) for number in range(5) for within in combinations(range(1, 10), number)]
    allowed = [ends for ends in cuts if min(np.diff([0, *ends])) >= 2]
    assert tuple(_changes(logs)) == min(allowed, key=cost)


def test_a_quiet_server_has_one_level() -> None:
    assert level_begin(np.zeros(20)) == 0
    assert mser(np.zeros(20)) == 0
    assert mser(np.zeros(1)) == 0


def test_never_settled_is_a_doubt_and_the_warm_up_is_told() -> None:
    rng = np.random.default_rng(1)
    load = msgspec.structs.replace(LOAD, duration_s=60.0)
    climbing = [like(-0.4 + T / 60 * 0.4 + wandering(rng, 60), trial=run(round_=r, load=load).trial) for r in (1, 2, 3)]
    calm = [like(wandering(rng, 60), trial=run("node", round_=r, load=load).trial) for r in (1, 2, 3)]
    runs = climbing + calm
    [verdict] = analyse(plan(runs), FINGERPRINT, runs).verdicts
    by_name = {standing.contender: standing for standing in verdict.standings}
    assert "never-settled" in {doubt.kind for doubt in by_name["go"].doubts}
    assert "never-settled" not in {doubt.kind for doubt in by_name["node"].doubts}
    told = by_name["node"].warm_up
    assert told is not None
    assert (told.read, told.unsettled) == (3, 0)
    assert told.cold_start is not None
    assert told.cold_start.value == pytest.approx(320e6)


@pytest.mark.parametrize(("step_s", "least_s"), [(35, 36), (44, 45)])
def test_the_warm_up_that_would_have_been_the_least_is_told(step_s: int, least_s: int) -> None:
    """The load begins half a second before the count of the seconds, and so late a level leaves too little to count."""
    load = msgspec.structs.replace(LOAD, duration_s=60.0)
    runs = [like(np.where(step_s > T, -0.3, 0.0), trial=run(round_=r, load=load).trial) for r in (1, 2, 3)]
    [verdict] = analyse(plan(runs), FINGERPRINT, runs).verdicts
    [doubt] = [each for each in verdict.standings[0].doubts if each.kind == "never-settled"]
    assert doubt.sentence.endswith(f"; give it a warm-up of {least_s} s or more")
    assert doubt.numbers == {"unsettled": 3, "read": 3, "warmup_s": least_s}


def test_a_round_that_never_settled_leaves_the_warm_up_without_an_interval() -> None:
    rng = np.random.default_rng(1)
    load = msgspec.structs.replace(LOAD, duration_s=60.0)
    calm = [like(wandering(rng, 60), trial=run(round_=r, load=load).trial) for r in range(1, 9)]
    climbing = like(-0.4 + T / 60 * 0.4 + wandering(rng, 60), trial=run(round_=9, load=load).trial)

    def told(runs: list[Run]) -> WarmUp:
        (table,) = tables(Evidence(plan(runs), FINGERPRINT, runs))
        return warm_ups(table)["go"]

    all_of_them, but_one = told(calm), told([*calm, climbing])
    assert (all_of_them.unsettled, but_one.unsettled) == (0, 1)
    for known, less in ((all_of_them.settled, but_one.settled), (all_of_them.to_95, but_one.to_95)):
        assert known is not None
        assert less is not None
        assert known.high is not None
        assert (less.low, less.high) == (None, None)


def counted(rates: list[float], own: list[float]) -> Run:
    """Warmed up in stretches of 3 s at these rates, then loaded for as many seconds as there are rates of its own."""
    made = run(slices=slices(own))
    warm = [
        msgspec.structs.replace(made.slices[0], duration_ns=4 * SECOND, drained_ns=SECOND, ok=round(3 * rate))
        for rate in rates
    ]
    return msgspec.structs.replace(made, slices=[*warm, *made.slices])


def test_stretches_of_a_warm_up_are_no_seconds_of_the_course_and_say_when_its_rate_was_reached() -> None:
    """Their time counts, the wait for last answers in it too; their rate is that under load."""
    found = course(counted([300.0, 980.0, 700.0, 990.0, 1_010.0], [1_000.0] * 10))
    assert (found.settled, found.settled_ns, found.to_95_ns) == (True, 12 * SECOND, 4 * SECOND)
    assert found.levels_ns == 20 * SECOND
    late = course(counted([300.0, 400.0], [500.0] * 4 + [1_000.0] * 16))
    assert (late.settled_ns, late.to_95_ns) == (12.5 * SECOND, 12.5 * SECOND)


def test_what_a_run_alone_settles_to_after_its_stretches_is_cut_as_ever() -> None:
    made = counted([300.0, 400.0], [500.0] * 4 + [1_000.0] * 16)
    assert [slice_.ok for slice_ in steady_slices(made)] == [1_000] * 16
    assert len(steady_slices(counted([300.0] * 8, [1_000.0] * 10))) == 10
