"""The simulated fleet: nothing is lost or done twice but what died, and no time is below what is possible."""

from __future__ import annotations

import math

import msgspec
import pytest

from bench.fleet import World, simulate
from bench.many_runs import Shape, plan_of
from webdyno.model.block import Turns
from webdyno.model.trial import Plan


def plan(rounds: int = 3) -> Plan:
    return msgspec.structs.replace(plan_of(Shape(contenders=20, cells=10, rounds=rounds), 15.0), turns=Turns())


def test_hosts_that_live_carry_all_of_it_out_and_once() -> None:
    told = simulate(plan(), World(hosts=5, mtbf_h=math.inf))
    assert (told.left, told.repeats, told.dead) == (0, 0, 0)
    assert told.bound_h <= told.hours < 1.1 * told.bound_h
    assert 0 <= told.idle < 0.1


@pytest.mark.slow
def test_what_died_with_its_host_is_done_again_by_others() -> None:
    told = simulate(plan(), World(hosts=10, mtbf_h=1.0, seed=2))
    assert told.dead > 0 and told.repeats > 0
    assert told.left == 0 and told.hours >= told.bound_h
    assert 0 < told.repeated < 0.2


def test_without_any_host_left_the_rest_is_left_undone() -> None:
    told = simulate(plan(rounds=1), World(hosts=2, mtbf_h=0.2))
    assert told.dead == 2 and told.left > 0
