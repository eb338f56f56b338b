"""What a load is too short for, said before it runs."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import LOAD, plan, run
from webdyno.analyse.patience import too_short
from webdyno.model.claim import Claim
from webdyno.model.load import Load
from webdyno.model.trial import Plan

FAILS = Claim(text="go fails", contenders=["go"], measure="errors", relation="at least", value=0.1)
AHEAD = Claim(text="go is ahead", contenders=["go"], relation="highest")


def made(*loads: Load, **changes: Any) -> Plan:
    return plan([run(load=load) for load in loads], **changes)


def of(**changes: Any) -> Load:
    return msgspec.structs.replace(LOAD, **changes)


@pytest.mark.parametrize("changes", [{"claims": [FAILS]}, {"shows": ["errors"]}])
def test_a_window_shorter_than_its_time_out_is_named_where_errors_are_the_question(changes: dict[str, Any]) -> None:
    (said,) = too_short(made(of(duration_s=3.0), of(duration_s=3.0, connections=128), **changes))
    assert said == (
        "a window of 3 s is shorter than the time-out of 5 s: a request that hangs in one is not counted as an error"
    )
    longer = of(duration_s=8.2, timeout_s=120.0), of(duration_s=80.6, timeout_s=120.0)
    (both,) = too_short(made(*longer, **changes))
    assert both.startswith("windows of 8.2 and 80.6 s are shorter than the time-out of 120 s")


def test_nothing_is_said_where_time_outs_fit_or_nobody_asks_for_errors() -> None:
    assert too_short(made(of(duration_s=3.0), claims=[AHEAD], shows=["p99"])) == []
    assert too_short(made(of(duration_s=5.0), of(duration_s=3.0, timeout_s=2.0), claims=[FAILS])) == []
    assert too_short(made(of(duration_s=None, count=15_000), claims=[FAILS])) == []


def test_a_window_of_few_cycles_is_named_with_the_rate_that_it_needs() -> None:
    (said,) = too_short(made(of(connections=10_000, duration_s=3.0)))
    assert said == (
        "10,000 connections for 3 s: a contender that serves less than 10,000/s answers each of them less than "
        "3 times, which is too few for reliable figures"
    )


def test_a_window_that_even_a_slow_server_fills_is_not() -> None:
    assert too_short(made(of(connections=10_000, duration_s=30.0))) == []
    rate = of(connections=10_000, duration_s=3.0, rate_per_s=100.0, max_connections=10_000)
    assert too_short(made(rate)) == []
    assert too_short(made(of(connections=10_000, duration_s=None, count=15_000))) == []
