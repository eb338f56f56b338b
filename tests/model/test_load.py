"""What a load is called by people: one connection is one, and whoever reads the label back reads it so too."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, LOAD, plan, run
from webdyno.analyse import analyse
from webdyno.model.load import Load, Stage
from webdyno.report.html import render_html

ONE = msgspec.structs.replace(LOAD, connections=1)


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"connections": 1}, "1 connection, keep-alive"),
        ({"connections": 1, "keep_alive": False, "http": "1.0"}, "1 connection, close, HTTP/1.0"),
        ({"connections": 11}, "11 connections, keep-alive"),
        ({"connections": 1, "connection_stages": (Stage(duration_s=2, first=1, last=1),)}, "1 connection, keep-alive"),
        ({"connections": 9, "connection_stages": (Stage(duration_s=2, first=1, last=9),)}, "1-9 connections, "),
        ({"connections": 1, "rate_per_s": 5.0, "max_connections": 2}, "5/s over 1 to 2 connections, keep-alive"),
    ],
)
def test_one_connection_is_one(fields: dict[str, Any], label: str) -> None:
    assert Load(duration_s=2.0, **fields).label.startswith(label)


def test_a_table_at_one_connection_is_of_the_same_manner_as_one_at_many() -> None:
    runs = [run(name, round_=r, load=load) for load in (ONE, LOAD) for name in ("go", "node") for r in (1, 2)]
    verdicts = analyse(plan(runs), FINGERPRINT, runs).verdicts
    assert [(each.load, each.manner) for each in verdicts] == [
        ("1 connection, keep-alive", "keep-alive"),
        ("64 connections, keep-alive", "keep-alive"),
    ]


@pytest.mark.parametrize(
    ("loads", "said"),
    [
        ([ONE], ">1 connection, keep-alive, closed loop<"),
        ([ONE, LOAD], ">1 and 64 connections, keep-alive, closed loop<"),
    ],
)
def test_a_page_tells_its_loads_together(loads: list[Load], said: str) -> None:
    runs = [run("go", round_=r, load=load) for load in loads for r in (1, 2)]
    assert said in render_html(plan(runs), FINGERPRINT, runs, analyse(plan(runs), FINGERPRINT, runs))
