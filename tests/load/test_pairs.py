"""Pairs of requests as the engine is ordered them: when each comes due, and that one thread sends them all."""

from __future__ import annotations

from itertools import pairwise

import pytest

from webdyno.load.driver import Order
from webdyno.load.engine_order import engine_order
from webdyno.model.load import Load, Stage
from webdyno.model.workload import Request

TWO = [Request(name="first", path="/a"), Request(name="then", path="/b")]


def load_of(**changes: object) -> Load:
    fields: dict[str, object] = {
        "connections": 2,
        "max_connections": 20,
        "pair_every_s": 1.5,
        "pair_apart_s": 0.05,
        "duration_s": 6,
        "warmup_s": 0,
    }
    return Load(**{**fields, **changes})  # type: ignore[arg-type]  # a dictionary of all kinds


def due_s(pace: dict[str, list[dict[str, float]]]) -> list[float]:
    """When requests are due: the n-th when the area under the stages is n, as the protocol says."""
    stages = [(stage["duration_ns"] / 1e9, stage["rate_per_s_from"]) for stage in pace["stages"]]
    found, at, area = [], 0.0, 0.0
    for seconds, per_s in stages:
        while len(found) <= area + seconds * per_s - 1e-6:
            found.append(at + (len(found) - area) / per_s)
        at, area = at + seconds, area + seconds * per_s
    return found


@pytest.mark.parametrize("seconds", [6, 7.4, 1.5])
def test_each_pair_comes_due_in_its_turn_and_none_at_the_very_end(seconds: float) -> None:
    load = load_of(duration_s=seconds)
    order = engine_order(Order(host="h", port=80, requests=TWO, load=load, cores=(0, 1)))
    begins = [pair * 1.5 for pair in range(int(seconds / 1.5))]
    wanted = [at for begin in begins for at in (begin, begin + 0.05)]
    assert due_s(order["pace"]) == pytest.approx(wanted, abs=1e-6)
    assert load.due == len(wanted)
    assert sum(stage["duration_ns"] for stage in order["pace"]["stages"]) == order["duration_ns"]
    assert all(one < other for one, other in pairwise(wanted))


def test_one_thread_sends_both_or_they_would_have_no_order() -> None:
    order = engine_order(Order(host="h", port=80, requests=TWO, load=load_of(), cores=(0, 1)))
    assert (order["threads"], order["schema"], order["pace"]["kind"]) == (1, 2, "stages")


def test_its_label_says_how_far_apart_they_are() -> None:
    assert load_of().label == "pairs 50 ms apart, each 1.5 s, keep-alive"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pair_apart_s": None}, "need each other"),
        ({"pair_apart_s": 2.0}, "below pair_every_s"),
        ({"warmup_s": 1.0}, "warmup_s of 0"),
        ({"duration_s": 1.0}, "at least pair_every_s"),
        ({"rate_stages": (Stage(duration_s=6, first=1, last=1),)}, "exclude each other"),
    ],
)
def test_half_a_pair_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        load_of(**changes)
