"""``--json``: every estimate comes with its interval, its rounds and the doubts about it, wherever it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import FINGERPRINT, LOAD, change_slices, plan, run, slices
from tests.report import studied
from webdyno.analyse import analyse
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.report.json import render_json

ESTIMATE = {"value", "low", "high", "rounds", "unit"}
COUNTED = {
    "error_ratio": "all errors by all requests",
    "share": "a route's answers by all answers",
    "requests_per_connection": "all answers by all connections",
}
"""Numbers that are no estimates: what was counted, over all rounds."""
PUBLISHED = {"original": "of an article", "original_value": "of an article"}
EVIDENCE = {"numbers"}
"""What a rule saw: it explains a Doubt or a Limit, and says nothing of the next run."""
NEEDS_SIX = {"settled", "to_95"}
"""Middles of few rounds, which have no interval below six."""


def told(made: tuple[Plan, Fingerprint, list[Run]]) -> Any:
    return json.loads(render_json(*made, analyse(*made)))["analysis"]


def levels() -> tuple[Plan, Fingerprint, list[Run]]:
    """One contender at six numbers of connections, in Runs long enough to see a warm-up in, six rounds of each."""
    rng = np.random.default_rng(4)
    runs = []
    for connections in (1, 2, 4, 8, 16, 32):
        load = msgspec.structs.replace(LOAD, connections=connections, duration_s=9.0)
        for round_ in range(1, 7):
            rate = 4000 * connections / (1 + 0.1 * (connections - 1) + 0.004 * connections * (connections - 1))
            rates = [0.5 * rate, *(rate * np.exp(rng.normal(0, 0.01, 9)))]
            parts = slices([float(each) for each in rates], np.full(50, 1e9 / rate))
            made = run(round_=round_, load=load)
            runs.append(msgspec.structs.replace(made, slices=parts))
    return plan(runs), FINGERPRINT, runs


def walk(of: Any, path: tuple[str, ...] = (), doubted: bool = False) -> Iterator[tuple[tuple[str, ...], Any, bool]]:
    """Every estimate and every bare number with a fraction, its path, and whether somebody above it names doubts."""
    if isinstance(of, dict):
        if set(of) == ESTIMATE:
            yield path, of, doubted
            return
        here = doubted or (len(path) > 0 and "doubts" in of)
        for key, value in of.items():
            if key not in EVIDENCE:
                yield from walk(value, (*path, key), here)
    elif isinstance(of, list):
        for value in of:
            yield from walk(value, path, doubted)
    elif isinstance(of, float):
        yield path, of, doubted


def faults(of: Any) -> list[str]:
    """What lacks something, in words."""
    found = []
    for path, value, doubted in walk(of):
        name = path[-1]
        if isinstance(value, float):
            if name not in COUNTED and name not in PUBLISHED:
                found.append(f"{'.'.join(path)} is a bare number")
            continue
        few = value["rounds"] < (6 if name in NEEDS_SIX else 2)
        if not few and (value["low"] is None or (value["high"] is None and name != "knee")):
            found.append(f"{'.'.join(path)} of {value['rounds']} rounds has no interval")
        elif value["low"] is not None and not value["low"] <= value["value"] <= (value["high"] or float("inf")):
            found.append(f"{'.'.join(path)} lies outside of its interval")
        if value["rounds"] < 1:
            found.append(f"{'.'.join(path)} has no rounds")
        if not doubted:
            found.append(f"{'.'.join(path)} names no doubts")
    return sorted(set(found))


@pytest.mark.parametrize("made", [studied.study, studied.faceted, levels])
def test_every_estimate_has_its_interval_rounds_and_doubts(made: Any) -> None:
    assert faults(told(made())) == []


def test_each_kind_of_estimate_was_among_them() -> None:
    walked = [walk(told(made())) for made in (studied.study, studied.faceted, levels)]
    names = {path[-1] for each in walked for path, value, _ in each if isinstance(value, dict)}
    table = {"rate", "p50", "p99", "cpu_per_request", "memory_peak", "ratio_to_best"}
    beside = {"cold_start", "settled", "to_95", "rate_of_one", "contention", "coherence", "knee", "cells", "parts"}
    assert names >= table | beside | {"gain", "here", "value", "estimate"}


def test_doubts_about_a_table_are_named_where_its_figures_are_repeated() -> None:
    made, fingerprint, runs = studied.study()
    closing = [change_slices(each, connections_opened=each.slices[1].ok) for each in runs[:3]]  # go, 64, engine
    analysis = told((made, fingerprint, [*closing, *runs[3:]]))
    [curve] = [one for one in analysis["curves"] if one["measure"] == "p99" and len(one["connections"]) == 2]
    doubts = {row["contender"]: row["doubts"] for row in curve["rows"]}
    assert "closes-connections" in doubts["go"][0]
    assert doubts["go"][1] == doubts["node"][0] == []
    where = {"workload": "hello", "contender": "go", "driver": "engine", "load": LOAD.label}
    for places in (analysis["courses"], analysis["shapes"], analysis["claims"][0]["cases"]):
        [place] = [one for one in places if where.items() <= one.items()]
        assert "closes-connections" in place["doubts"]
    assert [scaling["doubts"] for scaling in analysis["scalings"] if scaling["contender"] == "node"] == [[]]


@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        ({"rate": 5.0}, "a.rate is a bare number"),
        ({"rate": {"value": 1.0, "low": None, "high": None, "rounds": 3, "unit": "ns"}}, "a.rate of 3 rounds has no"),
        ({"rate": {"value": 9.0, "low": 1.0, "high": 2.0, "rounds": 3, "unit": "ns"}}, "a.rate lies outside"),
        ({"settled": {"value": 1.0, "low": None, "high": None, "rounds": 6, "unit": "ns"}}, "of 6 rounds has no"),
    ],
)
def test_what_lacks_something_would_be_seen(spoilt: dict[str, Any], says: str) -> None:
    assert any(says in fault for fault in faults({"a": spoilt | {"doubts": []}}))
    assert any("names no doubts" in fault for fault in faults({"a": {"rate": {**dict.fromkeys(ESTIMATE, 2)}}}))
