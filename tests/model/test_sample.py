"""Sample: how a climb is read from stretches of load."""

from __future__ import annotations

import math

import pytest

from webdyno.model.sample import Slice, climb

S = 10**9


def stretch(ok: int, drained_s: float | None = 0.0, loaded_s: float = 3.0) -> Slice:
    drained_ns = None if drained_s is None else round(drained_s * S)
    return Slice(
        phase="warmup",
        index=0,
        start_ns=None,
        duration_ns=round(loaded_s * S) + (drained_ns or 0),
        offered=ok,
        ok=ok,
        errors={},
        drained_ns=drained_ns,
    )


def test_a_climb_is_of_the_last_four_stretches_against_the_four_before_or_of_thirds() -> None:
    assert climb([stretch(100)] * 5) is None
    assert climb([stretch(100), stretch(100), stretch(200), stretch(200), stretch(300), stretch(300)]) == pytest.approx(
        math.log(1.5)
    )
    assert climb([stretch(1)] * 9 + [stretch(100)] * 4 + [stretch(110)] * 4) == pytest.approx(math.log(1.1))
    assert climb([stretch(0)] * 6) is None


def test_the_wait_for_a_last_answer_is_no_time_under_load() -> None:
    """Who finds no place in a listen queue of five comes again after one second, or three."""
    level = [stretch(300), stretch(300, 3.0), stretch(300, 1.0), stretch(300, 3.0), stretch(300), stretch(300)]
    assert climb(level) == 0.0
    assert [each.loaded_ns for each in level] == [3 * S] * 6


def test_a_stretch_of_no_length_says_nothing() -> None:
    assert climb([stretch(0, 1.0, 0.0)] * 6) is None


def test_seconds_of_warm_up_that_a_driver_gave_by_itself_are_no_stretches() -> None:
    assert stretch(9).is_stretch
    assert not stretch(9, None).is_stretch
    assert stretch(9, None).loaded_ns == 3 * S
