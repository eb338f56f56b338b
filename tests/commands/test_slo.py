"""Objectives: what is missed is said with what it was, from due where there is a schedule."""

from __future__ import annotations

from typing import Any

import pytest

from webdyno.commands.slo import missed, objectives

CLOSED: dict[str, Any] = {
    "duration_ns": 2_000_000_000,
    "offered": 1010,
    "ok": 1000,
    "errors": {"timeout": 2, "unfinished": 8},
    "latency_ns": {"p50": 1_000_000, "p99": 40_000_000, "p99.9": 60_000_000},
}
OPEN = {**CLOSED, "response_ns": {"p50": 1_000_000, "p99": 900_000_000, "p99.9": 950_000_000}}


@pytest.mark.parametrize(
    ("expected", "slo", "summary"),
    [
        ([], "p99<50ms, errors<0.5%, rate>400", CLOSED),
        (["p99.9<50ms: missed, it was 60.0 ms"], "p99.9<50ms", CLOSED),
        (["p99<50ms: missed, it was 900 ms"], "p99<50ms", OPEN),  # from due: the stall is not hidden
        (["errors<0.1%: missed, it was 0.20 %"], "errors<0.1%", CLOSED),
        (["rate>1000: missed, it was 500/s"], "rate>1000", CLOSED),
        (["p50<1ms: missed, nothing was answered"], "p50<1ms", {**CLOSED, "latency_ns": None}),
        (
            ["p50 < 900us: missed, it was 1.00 ms", "rate > 600: missed, it was 500/s"],
            "p50 < 900us, rate > 600",
            CLOSED,
        ),
        ([], "", CLOSED),
    ],
)
def test_what_is_missed_is_said(expected: list[str], slo: str, summary: dict[str, Any]) -> None:
    assert missed(objectives(slo), summary) == expected
