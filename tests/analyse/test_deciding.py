"""What decides a comparison in pairs: the rate where it can, else CPU per request."""

from __future__ import annotations

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, plan, run
from webdyno.analyse.change import Change, Judgement, judge_pairs
from webdyno.analyse.deciding import decide, judged, share
from webdyno.analyse.table import Evidence
from webdyno.analyse.versus import Versus, over_folders, over_pairs
from webdyno.analyse.window import read_window
from webdyno.model.run import Run
from webdyno.report.versus import sentence

MARGIN = 0.03
QUIET = (1.0, 1.004, 0.996, 1.002, 0.998, 1.001, 1.003, 0.997, 1.0)
BUSY = (1.0, 1.2, 0.8, 1.1, 0.9, 1.15, 0.85, 1.05, 0.95)


def costing(cpu: float, rate: float, name: str, noise: tuple[float, ...] = BUSY, shift: int = 0) -> list[Run]:
    """Rates with much noise, CPU per request with little."""
    made = []
    for at in range(len(QUIET)):
        place = (at + shift) % len(QUIET)
        served = rate * noise[place]
        made.append(run(name, rate=served, round_=at + 1, cpu=cpu * QUIET[place] * 4e-5 * served))
    return made


def compared(base: list[Run], head: list[Run]) -> Versus:
    runs = [*base, *head]
    return over_pairs(Evidence(plan(runs), FINGERPRINT, runs), "base", "head", MARGIN)


def test_what_costs_more_cpu_is_worse_where_rates_cannot_tell() -> None:
    found = compared(costing(1.0, 10_000, "base"), costing(1.05, 9_900, "head", shift=4))
    assert (found.outcome, found.why, found.by) == ("worse", "", "cpu_per_request")
    told = sentence(("base", "head"), found)
    assert told.startswith("head needs more CPU per request than base: +5.0 % (+4")
    assert ", after 9 pairs; its rate is undecided: " in told


def test_what_costs_less_is_better_and_what_costs_the_same_is_neither() -> None:
    less = compared(costing(1.0, 10_000, "base"), costing(0.9, 9_900, "head", shift=4))
    assert (less.outcome, less.by) == ("better", "cpu_per_request")
    same = compared(costing(1.0, 10_000, "base"), costing(1.0, 9_900, "head", shift=4))
    assert (same.outcome, same.by) == ("cannot tell", "rate")


def test_a_rate_that_tells_comes_first() -> None:
    found = compared(costing(1.0, 10_000, "base", QUIET), costing(1.2, 12_000, "head", QUIET))
    assert (found.outcome, found.by) == ("better", "rate")


def test_folders_of_different_times_are_judged_by_the_rate_alone() -> None:
    sides = (costing(1.0, 10_000, "go"), costing(1.2, 9_900, "go", shift=4))
    base, head = (Evidence(plan(runs), FINGERPRINT, runs) for runs in sides)
    (found,) = over_folders(base, head, MARGIN)
    assert (found.outcome, found.by) == ("cannot tell", "rate")


def test_a_driver_that_tells_no_cpu_leaves_all_of_the_five_per_cent_to_the_rate() -> None:
    windows = [read_window(msgspec.structs.replace(each, readings=[])) for each in costing(1.0, 10_000, "base")]
    known = [window for window in windows if window is not None]
    changes = judged([(window, window) for window in known], MARGIN)
    assert list(changes) == ["rate"]
    assert share("rate", ["rate"]) == 1.0
    assert share("rate", ["rate", "cpu_per_request"]) == share("cpu_per_request", ["rate", "cpu_per_request"]) == 0.5
    assert share("p99", ["rate", "cpu_per_request"]) == 1.0


def test_half_of_what_may_be_spent_makes_a_wider_interval() -> None:
    base, head = [100.0, 101, 99, 100, 102, 98], [97.0, 99, 96, 98, 98, 95]
    whole, half = (judge_pairs(base, head, MARGIN, share=part).ratio for part in (1.0, 0.5))
    assert whole is not None
    assert half is not None
    assert whole.low is not None
    assert half.low is not None
    assert half.low < whole.low


@pytest.mark.parametrize(
    ("rate", "cpu", "expected"),
    [
        ("same", "slower", ("same", "rate")),
        ("cannot tell", "same", ("cannot tell", "rate")),
        ("cannot tell", "slower", ("slower", "cpu_per_request")),
        ("faster", "slower", ("faster", "rate")),
    ],
)
def test_equality_is_the_rates_to_say(rate: Judgement, cpu: Judgement, expected: tuple[str, str]) -> None:
    told = {
        figure: Change(verdict=verdict, ratio=None, margin=MARGIN, noise_floor=None)
        for figure, verdict in (("rate", rate), ("cpu_per_request", cpu))
    }
    assert decide(told) == expected
