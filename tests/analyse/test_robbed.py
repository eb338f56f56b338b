"""What other programs take in some turns and not in others, told apart from what a server does."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from tests.analyse.turning import MS, block_run, turn
from webdyno.analyse.blocks import read_windows
from webdyno.analyse.robbed import MOST, SPARED_CORES, read_robbed
from webdyno.model.run import Run
from webdyno.model.sample import Slice


def turns(taken: Sequence[float | None], *, alone: float = 400, slope: float = 0.8) -> list[Slice]:
    """Of 100 ms, of a server that is slower for what others take above a tenth of a core."""
    return [
        turn(
            at,
            ok=round(alone * math.exp(-slope * max(0.0, (cores or 0.0) - SPARED_CORES))),
            others_cpu_ns=None if cores is None else round(cores * 100 * MS),
        )
        for at, cores in enumerate(taken)
    ]


def run_of(name: str, taken: Sequence[float | None], **changes: float) -> Run:
    """In a block."""
    made = turns(taken, **changes)
    run = block_run(name, [each.ok for each in made])
    others = [each for each in run.slices if each.turn is None]
    run.slices[:] = [*others, *made]
    return run


ROBBED = [0.0, 0.9, 0.0, 0.8, 0.7, 0.0, 0.9, 0.0]
LUCKY = [0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_who_was_robbed_by_chance_is_no_slower_for_it() -> None:
    robbed, lucky = (window.rate_per_s for window in read_windows([run_of("a", ROBBED), run_of("b", LUCKY)]))
    assert robbed == pytest.approx(lucky, rel=0.005)
    plain = [sum(each.ok for each in turns(taken)) for taken in (ROBBED, LUCKY)]
    assert plain[0] < 0.9 * plain[1], "by the answers alone"


def test_the_rates_stay_those_of_the_block_as_it_was() -> None:
    """Not of a machine at rest: the answers of all, in the time of all."""
    found = read_windows([run_of("a", ROBBED), run_of("b", LUCKY)])
    assert sum(window.rate_per_s for window in found) == pytest.approx(
        sum(each.ok for taken in (ROBBED, LUCKY) for each in turns(taken)) / 0.8, rel=0.005
    )


def test_the_variance_is_that_of_what_is_left() -> None:
    plain = read_windows([run_of("a", [None] * 8), run_of("b", [None] * 8)])
    noisy = [turned for window in read_windows([run_of("a", ROBBED), run_of("b", LUCKY)]) if (turned := window.turned)]
    assert all(turned.variance < 1e-5 for turned in noisy)
    assert all(window.turned is not None for window in plain)


def test_what_others_take_in_every_turn_of_one_server_is_not_held_in_its_favour() -> None:
    """The kernel's threads, say, that work for it alone: it is a third slower, and stays so."""
    slow, fast = read_windows([run_of("slow", [0.6] * 8, slope=0.0, alone=300), run_of("fast", LUCKY, alone=450)])
    assert slow.rate_per_s / fast.rate_per_s < 0.75


def test_what_others_take_from_everybody_alike_is_as_usual() -> None:
    found = read_robbed([("a", turns([0.6] * 8, slope=0.0)), ("b", turns([0.6] * 8, slope=0.0, alone=300))])
    assert found.usual_cores == {"a": 0.6, "b": 0.6}
    assert found.speed("a", turns([0.6])[0]) == 1.0


def test_where_others_are_busy_nine_turns_of_ten_it_is_usual_for_nobody_alone() -> None:
    """By quantiles of its own turns it would be for the second, which would then seem slower by a third."""
    first, second = ([0.6] * 36 + [0.0] * calm for calm in (4, 3))
    found = read_robbed([("a", turns(first)), ("b", turns(second))])
    assert len(set(found.usual_cores.values())) == 1


def test_a_tenth_of_a_core_is_within_the_error_of_the_figure() -> None:
    found = read_robbed([("a", turns([0.0, 0.09, 0.05, 0.1] * 4)), ("b", turns([0.1] * 16))])
    assert found.slope == 0.0
    assert found.speed("a", turns([0.1])[0]) == 1.0


def test_the_slope_is_that_of_the_turns_of_one_server() -> None:
    """Not of servers: the slower one is the one that is robbed more."""
    found = read_robbed([("a", turns(ROBBED, alone=100)), ("b", turns(LUCKY, alone=900))])
    assert found.slope == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(
    ("slope", "shown"), [pytest.param(-0.5, 0.0, id="others help nobody"), pytest.param(5.0, MOST, id="bounded")]
)
def test_a_slope_that_cannot_be_is_not_believed(slope: float, shown: float) -> None:
    assert read_robbed([("a", turns(ROBBED, slope=slope)), ("b", turns(LUCKY, slope=slope))]).slope == shown


def test_too_few_turns_say_nothing() -> None:
    assert read_robbed([("a", turns(ROBBED))]).slope == 0.0


def test_results_that_do_not_say_what_others_took_are_read_as_ever() -> None:
    unknown: list[float | None] = [None] * 8
    rng = np.random.default_rng(7)
    made = [run_of(name, unknown, alone=float(rng.uniform(200, 900))) for name in "abc"]
    for window in read_windows(made):
        assert window.rate_per_s == pytest.approx(window.run.slices[-1].ok / 0.1)


def test_a_turn_without_an_answer_is_no_logarithm() -> None:
    dead = [turn(at, ok=0, others_cpu_ns=0) for at in range(16)]
    assert read_robbed([("dead", dead), ("a", turns(ROBBED)), ("b", turns(LUCKY))]).slope == pytest.approx(
        0.8, abs=0.02
    )
