"""Axes."""

from __future__ import annotations

from webdyno.report.axis import logarithmic


def test_a_tool_that_says_zero_does_not_break_a_logarithmic_axis() -> None:
    axis = logarithmic("ms", [0.0, 1.0, 10.0], str)
    assert axis.at(0.0) == 0.0
    assert 0 < axis.at(1.0) < axis.at(10.0) < 1
