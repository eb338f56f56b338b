"""Axes."""

from __future__ import annotations

from webdyno.report.axis import course, levels, logarithmic


def test_a_tool_that_says_zero_does_not_break_a_logarithmic_axis() -> None:
    axis = logarithmic("ms", [0.0, 1.0, 10.0], str)
    assert axis.at(0.0) == 0.0
    assert 0 < axis.at(1.0) < axis.at(10.0) < 1


def test_a_narrow_logarithmic_axis_has_a_few_ticks_at_round_numbers() -> None:
    assert [text for _, text in logarithmic("ms", [1000.0, 1050.0], lambda ms: f"{ms:g}").ticks] == [
        "900",
        "1000",
        "1100",
        "1200",
    ]
    assert [text for _, text in logarithmic("ms", [2.0, 5.0], lambda ms: f"{ms:g}").ticks] == ["2", "3", "4", "5"]


def test_seconds_may_begin_before_zero_and_have_round_ticks() -> None:
    axis = course("seconds", -0.5, 10.0)
    assert (axis.low, axis.high) == (-0.5, 10.0)
    assert [text for _, text in axis.ticks] == [str(second) for second in range(11)]
    assert [text for _, text in course("seconds", -10.0, 60.0, steps=7).ticks] == [
        "-10",
        "0",
        "10",
        "20",
        "30",
        "40",
        "50",
        "60",
    ]


def test_levels_too_near_to_each_other_are_not_written_over_each_other() -> None:
    assert [text for _, text in levels("connections", [1, 60, 64, 1000], lambda n: f"{n:g}").ticks] == [
        "1",
        "60",
        "1000",
    ]
