"""A leak is told from everything else that makes memory grow, on made-up servers of every shape."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, SECOND, contender, plan, run, slices
from webdyno.analyse import analyse
from webdyno.analyse.leak import growth, growths, is_leak, staying
from webdyno.analyse.table import Cell, Evidence, tables
from webdyno.model.doubt import Doubt
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.sample import Reading
from webdyno.model.verdict import Standing
from webdyno.report import words

MIB = 2**20
Memory = Callable[[float], float]
"""Bytes after so many requests."""
Shape = Callable[[float, random.Random], Memory]
"""Memory of one round with so many requests in all."""


def round_(shape: Shape, number: int, seconds: int = 4, rate: float = 500.0) -> Run:
    """A round whose memory goes that way, looked at each second and at both ends; every look is a little off."""
    chance = random.Random(number)
    load = Load(connections=64, duration_s=float(seconds))
    made = slices([rate] * seconds)
    begin = made[1].start_ns or 0
    memory = shape(rate * seconds, chance)
    served = [min(rate * at, rate * seconds) for at in (0.003, *(each + 0.4 for each in range(seconds)), seconds)]
    looks = [
        Reading(
            at_ns=begin + round(requests / rate * SECOND),
            role="contender",
            rss_bytes=round(memory(requests) + chance.uniform(0, 0.2) * MIB),
        )
        for requests in served
    ]
    made_of = run(round_=number, load=load, slices=made, readings=looks)
    return msgspec.structs.replace(made_of, steady_end_ns=begin + seconds * SECOND)


def cell(shape: Shape, rounds: int = 3, runtime: str = "cpython-3.11", seconds: int = 4) -> Cell:
    runs = [round_(shape, number, seconds) for number in range(1, rounds + 1)]
    made_by = plan(runs, contenders={"go": contender("go", runtime=runtime)})
    ((found,),) = [table.cells for table in tables(Evidence(made_by, FINGERPRINT, runs))]
    return found


def is_leaking(found: Cell) -> bool:
    return is_leak(growths(found), found.contender.runtime)


def leaking(per_request: float) -> Shape:
    return lambda whole, chance: lambda served: 40 * MIB + per_request * served


def warming(whole: float, chance: random.Random) -> Memory:
    """100 MiB that come ever more slowly."""
    return lambda served: 40 * MIB + 100 * MIB * (1 - math.exp(-5 * served / whole))


def cache(whole: float, chance: random.Random) -> Memory:
    """Full when three in five were answered."""
    return lambda served: 40 * MIB + 200 * MIB * min(1.0, served / (0.6 * whole))


def arenas(whole: float, chance: random.Random) -> Memory:
    """An allocator that takes 64 MiB at a time, whenever that is."""
    taken = [chance.uniform(0, 1.4) * whole for _ in range(2)]
    return lambda served: 40 * MIB + 64 * MIB * sum(served > at for at in taken)


def sawtooth(whole: float, chance: random.Random) -> Memory:
    """Garbage of 60 MiB that is dropped more than once in a round; where in a tooth a round begins is chance."""
    tooth, begin = whole / 2.3, chance.random()
    return lambda served: 40 * MIB + 60 * MIB * ((served / tooth + begin) % 1)


def level(whole: float, chance: random.Random) -> Memory:
    return lambda served: 40.0 * MIB


def given_back(whole: float, chance: random.Random) -> Memory:
    return lambda served: 240 * MIB - 100 * MIB * served / whole


def one_step(whole: float, chance: random.Random) -> Memory:
    """A table that is doubled at the same request in every round."""
    return lambda served: 40 * MIB + (128 * MIB if served > 0.7 * whole else 0)


@pytest.mark.parametrize("rounds", [2, 3, 8])
@pytest.mark.parametrize("per_request", [20_000.0, 500_000.0])
def test_what_stays_with_every_request_is_told_with_its_interval(per_request: float, rounds: int) -> None:
    found = cell(leaking(per_request), rounds)
    stays = staying(growths(found))
    assert stays is not None
    assert stays.value == pytest.approx(per_request, rel=0.05)
    assert stays.low is not None
    assert stays.high is not None
    assert stays.low <= per_request <= stays.high
    assert is_leaking(found)


@pytest.mark.parametrize("seconds", [2, 4, 12])
@pytest.mark.parametrize("shape", [warming, cache, arenas, sawtooth, level, given_back, one_step])
def test_other_growth_is_no_leak(shape: Shape, seconds: int) -> None:
    assert not is_leaking(cell(shape, seconds=seconds))
    assert not is_leaking(cell(shape, rounds=10, seconds=seconds))


def test_a_single_round_is_enough_when_it_is_long() -> None:
    assert not is_leaking(cell(leaking(500_000), rounds=1))
    assert is_leaking(cell(leaking(500_000), rounds=1, seconds=12))


def test_garbage_that_a_collector_lets_lie_must_be_much() -> None:
    """30 MiB in a round: of one that frees at once a leak, of a heap with a collector its ordinary way."""
    some = leaking(30 * MIB / 2000)
    assert is_leaking(cell(some, runtime="cpython-3.11"))
    assert not is_leaking(cell(some, runtime="jvm"))
    assert not is_leaking(cell(some, runtime="revision"))
    assert is_leaking(cell(leaking(120 * MIB / 2000), runtime="jvm"))


def test_nothing_is_said_without_looks_or_without_a_series() -> None:
    good = round_(leaking(500_000), 1)
    assert growth(good) is not None
    assert growth(msgspec.structs.replace(good, readings=good.readings[:2])) is None
    untimed = [msgspec.structs.replace(each, start_ns=None) for each in good.slices]
    assert growth(msgspec.structs.replace(good, slices=untimed)) is None
    assert growth(msgspec.structs.replace(good, slices=[])) is None


def standing(shape: Shape) -> Standing:
    runs = [msgspec.structs.replace(round_(shape, n), memory_peak_bytes=900 * MIB) for n in (1, 2, 3)]
    made_by = plan(runs, contenders={"go": contender("go", runtime="cpython-3.11")})
    [verdict] = analyse(made_by, FINGERPRINT, runs).verdicts
    [found] = verdict.standings
    return found


def test_it_is_said_beside_the_peak_and_as_a_doubt() -> None:
    found = standing(leaking(500 * 1024))
    [doubt] = [doubt for doubt in found.doubts if doubt.kind == "leaks"]
    assert isinstance(doubt, Doubt)
    assert doubt.severity == "shades"
    assert doubt.sentence.startswith("go keeps 500 KiB of memory with every request (")
    assert "was still growing at its end, so it leaks, or is still filling a cache" in doubt.sentence
    assert words.cells(found)["memory"] == "900 MiB, +500 KiB/request"


def test_of_one_that_does_not_leak_the_figure_is_there_and_not_shown() -> None:
    found = standing(level)
    assert words.cells(found)["memory"] == "900 MiB"
    assert found.memory_staying is not None
    assert abs(found.memory_staying.value) < 1024
