"""How much faster a contender may be than it was measured."""

import math

import pytest

from webdyno.analyse.floors import is_open_upwards, room
from webdyno.model.doubt import Doubt


def doubt(kind: str, **numbers: float) -> Doubt:
    return Doubt(kind=kind, severity="shades", subject="go", sentence="", advice="", numbers=dict(numbers))


STOLEN, CLIMBS = doubt("stolen-time", steal=0.1), doubt("still-climbing", climb=1.2)


def test_what_held_it_back_says_how_much_faster_it_may_be() -> None:
    assert room([]) == room([doubt("http-1.0")]) == 1
    assert room([doubt("generator-bound")]) == room([STOLEN, doubt("cold-compiler")]) == math.inf
    assert room([STOLEN]) == pytest.approx(1 / 0.7)
    assert room([CLIMBS]) == pytest.approx(1.44)
    assert room([STOLEN, CLIMBS]) == pytest.approx(1.44 / 0.7)
    assert room([doubt("stolen-time", steal=0.8)]) == pytest.approx(10)


def test_a_compiler_without_time_has_as_much_room_as_such_a_compiler_ever_gained() -> None:
    cold = doubt("cold-compiler", gain=5.0)
    assert room([cold]) == 5.0
    assert room([cold, CLIMBS]) == 5.0  # what climbs is a part of it
    assert room([cold, doubt("still-climbing", climb=3.0)]) == pytest.approx(9.0)
    assert room([cold, STOLEN]) == pytest.approx(5 / 0.7)


def test_an_order_is_open_as_far_as_the_room_of_the_slower_one_reaches() -> None:
    assert is_open_upwards([], [STOLEN], 1.4)
    assert not is_open_upwards([], [STOLEN], 1.5)
    assert not is_open_upwards([STOLEN], [], 1.01)  # a faster one that lost time would be ahead all the more
    assert not is_open_upwards([], [], 1.0)
    assert is_open_upwards([], [doubt("generator-bound")], 50.0)


def test_behind_a_full_service_it_is_open_where_both_were_held_back() -> None:
    full = doubt("service-bound")
    assert is_open_upwards([full], [full], 3.0)
    assert is_open_upwards([STOLEN], [full], 3.0)
    assert not is_open_upwards([], [full], 1.01)
    assert not is_open_upwards([full], [STOLEN], 3.0)
