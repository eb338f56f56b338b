"""Across tables: a contender's ratio under two loads, and whose ratios tell something of its noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import FINGERPRINT, LOAD, plan, run, trial
from tests.analyse.turning import block_of
from webdyno.analyse.across import are_comparable, fit_ratios
from webdyno.analyse.additive import Meeting
from webdyno.analyse.estimate import Fit, fit
from webdyno.analyse.measures import Figures, ratio
from webdyno.analyse.table import Evidence, Table, tables
from webdyno.model.load import Load
from webdyno.model.run import Run

MANY = Load(connections=256, duration_s=2, warmup_s=0)
Logs = Mapping[str, Sequence[float]]
"""By contender the logarithm of its rate in each round, above 8."""


def alone(logs: Logs, load: Load) -> list[Run]:
    return [
        run(n, rate=math.exp(8 + log), round_=r, load=load) for n, of in logs.items() for r, log in enumerate(of, 1)
    ]


def two(*runs: Run) -> tuple[Table, Table]:
    """That of many connections, and that of few."""
    few, many = tables(Evidence(plan(runs), FINGERPRINT, runs))
    assert (few.load.connections, many.load.connections) == (LOAD.connections, 256)
    return many, few


def ratios(sides: tuple[Table, Table], name: str, *, own: bool = False) -> Fit:
    made = fit_ratios(sides, name, lambda window: window.rate_per_s, trimmed=False, rate=True, own=own)
    assert made is not None
    return made


def turned(logs: Logs, first: int, parts: Sequence[Sequence[str]]) -> list[Run]:
    """In each round a block of each part, numbered from ``first`` on."""
    made: list[Run] = []
    for round_ in range(1, 1 + len(next(iter(logs.values())))):
        for part in parts:
            answers = {name: [round(math.exp(8 + logs[name][round_ - 1]) / 10)] * 6 for name in part}
            made += block_of(answers, block=first, round_=round_)
            first += 1
    return made


FEW: Logs = {"a": [0.0, 0.1, -0.1], "b": [0.2, 0.1, 0.0], "c": [0.1, 0.1, 0.2], "d": [0.0, 0.2, 0.1]}
OTHERS: Logs = {"a": [-0.2, 0.0, -0.2], "b": [0.0, 0.1, -0.1], "c": [0.1, 0.0, 0.0], "d": [-0.1, 0.1, 0.2]}


def test_by_itself_it_is_the_paired_t_of_its_rounds() -> None:
    apart = np.subtract(OTHERS["a"], FEW["a"])
    level = ratios(two(*alone({"a": FEW["a"]}, LOAD), *alone({"a": OTHERS["a"]}, MANY)), "a").level("a")
    assert level is not None
    assert level.log == pytest.approx(apart.mean(), abs=1e-3)
    assert level.error == pytest.approx(apart.std(ddof=1) / 3**0.5, rel=0.01)
    assert level.freedom == pytest.approx(2)


def test_the_ratios_of_others_steady_it_and_their_rounds_are_in_its_error() -> None:
    sides = two(*alone(FEW, LOAD), *alone(OTHERS, MANY))
    made, mine = ratios(sides, "a"), ratios(sides, "a", own=True)
    assert set(made.names) == set(FEW)
    assert mine.names == ("a",)
    level, by_itself = made.level("a"), mine.level("a")
    assert level is not None
    assert by_itself is not None
    assert level.log == pytest.approx(by_itself.log)
    assert level.freedom > 2 * by_itself.freedom
    found = ratio((Figures(sides[0], trimmed=False), "a"), (Figures(sides[1], trimmed=False), "a"), "rate")
    assert found is not None
    assert found.value == pytest.approx(math.exp(level.log))
    assert found.low == pytest.approx(math.exp(level.log - level.reach(0.975)))
    later = found.after(9)
    assert later.low is not None
    assert found.low < later.low < found.value


def test_a_round_that_slows_one_load_for_all_is_no_draw_of_each() -> None:
    """Every contender loses a fifth in the second round, and nothing else happens: that is one draw, not four."""
    same = dict.fromkeys("abcd", (0.0, 0.0, 0.0))
    slowed = {name: [0.0, -0.2, 0.001 * at] for at, name in enumerate("abcd")}
    level = ratios(two(*alone(same, LOAD), *alone(slowed, MANY)), "a").level("a")
    assert level is not None
    assert level.error == pytest.approx(np.std([0, -0.2, 0], ddof=1) / 3**0.5, rel=0.05)
    assert level.freedom < 2.2


def test_who_took_turns_tells_nothing_of_who_was_alone() -> None:
    both = turned({n: FEW[n] for n in "ab"}, 1, ["ab"]) + alone({n: FEW[n] for n in "cd"}, LOAD)
    sides = two(*both, *alone(OTHERS, MANY))
    assert set(ratios(sides, "a").names) == {"a", "b"}
    assert set(ratios(sides, "c").names) == {"c", "d"}


def test_a_block_takes_the_place_of_the_round() -> None:
    """Two blocks in each round: what either did to its own is no draw of each of them."""
    shift = {"a": (0.1, -0.1, 0.0), "c": (-0.1, 0.0, 0.1)}
    few = {name: shift["a" if name in "ab" else "c"] for name in "abcd"}
    sides = two(*turned(few, 1, ["ab", "cd"]), *alone(dict.fromkeys("abcd", (0.0, 0.01, -0.01)), MANY))
    made = ratios(sides, "a")
    assert set(made.names) == set("abcd")
    assert made.blocks == 6
    level = made.level("a")
    assert level is not None
    assert level.error > 0.9 * np.std([0.1, -0.09, -0.01], ddof=1) / 3**0.5
    assert level.freedom < 5


def test_in_turns_under_both_loads_only_those_of_the_same_two_blocks_are_alike() -> None:
    sides = two(
        *turned(FEW, 1, ["ab", "cd"]),
        *with_load(turned(OTHERS, 21, ["abc", "d"]), MANY),
    )
    assert set(ratios(sides, "a").names) == {"a", "b"}
    assert set(ratios(sides, "c").names) == {"c"}


def with_load(runs: Sequence[Run], load: Load) -> list[Run]:
    return [
        msgspec.structs.replace(each, trial=trial(each.trial.contender, round_=each.trial.round, load=load))
        for each in runs
    ]


def test_two_contenders_are_not_compared_by_ratios_of_one() -> None:
    sides = two(*alone(FEW, LOAD), *alone(OTHERS, MANY))
    assert are_comparable((sides[0], "a"), (sides[1], "a"))
    assert not are_comparable((sides[0], "a"), (sides[1], "b"))
    found = ratio((Figures(sides[0], trimmed=False), "a"), (Figures(sides[1], trimmed=False), "b"), "rate")
    assert found is not None
    assert found.value == pytest.approx(math.exp(np.mean(OTHERS["a"]) - np.mean(FEW["b"])), rel=1e-3)


def test_what_is_in_no_round_of_both_has_no_ratio() -> None:
    sides = two(*alone({"a": [0.0]}, LOAD), *alone({"b": [0.0]}, MANY))
    assert ratio((Figures(sides[0], trimmed=False), "a"), (Figures(sides[1], trimmed=False), "a"), "rate") is None


def test_a_level_that_nothing_connects_with_others_has_the_blocks_of_its_own_group() -> None:
    """Two groups of two blocks each, 100 and 121: a mean of two of them, and not of four."""
    cells = {(name, r): 100.0 * 1.21 ** (r - 1) for name in "abcd" for r in (1, 2)}
    made = fit(
        cells, met={(n, r): Meeting(10 * r + (n in "cd"), True) for n, r in cells}, least=dict.fromkeys(cells, 1e-9)
    )
    assert made is not None
    level = made.level("a")
    assert level is not None
    assert level.error == pytest.approx(math.log(1.21) / 2, rel=1e-3)
