"""Curves against connections, latency per route, and rates over a server's life."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import (
    FINGERPRINT,
    LOAD,
    SECOND,
    change_slices,
    contender,
    histogram,
    plan,
    run,
    slices,
    workload,
)
from webdyno.analyse import analyse
from webdyno.analyse.measures import cpu_peak, kept_alive
from webdyno.analyse.parts import gain, lives, rates_by_part
from webdyno.model.curve import Curve
from webdyno.model.run import Run
from webdyno.model.sample import Reading, Route
from webdyno.model.verdict import Analysis
from webdyno.model.workload import Request

MORE = msgspec.structs.replace(LOAD, connections=512)


def told(runs: list[Run], **changes: Any) -> Analysis:
    return analyse(plan(runs, **changes), FINGERPRINT, runs)


def rounds(name: str, rate: float, **changes: Any) -> list[Run]:
    return [run(name, rate=rate * noise, round_=at, **changes) for at, noise in enumerate((1.0, 1.01, 0.99), 1)]


RUNS = [
    *rounds("go", 9_000),
    *rounds("go", 8_000, load=MORE),
    *rounds("node", 5_000),
    *rounds("node", 2_000, load=MORE),
]


def values(curve: Curve) -> dict[str, list[float | None]]:
    return {row.contender: [cell and round(cell.value, -2) for cell in row.cells] for row in curve.rows}


def test_a_study_that_shows_nothing_has_no_curves() -> None:
    assert told(RUNS).curves == []


def test_each_measure_has_a_curve_over_the_numbers_of_connections() -> None:
    rate, errors = told(RUNS, shows=["errors"]).curves
    assert (rate.measure, errors.measure) == ("rate", "errors")
    assert (rate.workload, rate.driver, rate.manner, rate.connections) == ("hello", "engine", "keep-alive", [64, 512])
    assert values(rate) == {"go": [9_000, 8_000], "node": [5_000, 2_000]}


def test_drivers_and_manners_do_not_share_a_curve() -> None:
    close = msgspec.structs.replace(LOAD, keep_alive=False)
    runs = [*RUNS, *rounds("go", 3_000, load=close), *rounds("go", 4_000, driver="ab")]
    found = told(runs, shows=["errors"]).curves
    assert {(curve.driver, curve.manner, len(curve.connections)) for curve in found} == {
        ("engine", "keep-alive", 2),
        ("engine", "close", 1),
        ("ab", "keep-alive", 1),
    }


def test_a_hole_stays_a_hole() -> None:
    runs = [each for each in RUNS if each.trial.contender == "go" or each.trial.load == LOAD]
    assert values(told(runs, shows=["p50"]).curves[0])["node"] == [5_000, None]


def test_contenders_on_several_runtimes_are_lines_of_one_facet() -> None:
    runs = [*rounds("flask-a-cpython", 100), *rounds("flask-a-pypy", 300), *rounds("b-cpython", 50)]
    base = plan(runs)
    named = {
        name: contender(name, runtime=name.rsplit("-", 1)[1], server=name.split("-")[-2]) for name in base.contenders
    }
    found = told(runs, shows=["errors"], contenders=named)
    assert [(row.facet, row.line) for row in found.curves[0].rows] == [
        ("none on a", "cpython"),
        ("none on a", "pypy"),
        ("none on b", "cpython"),
    ]


def test_contenders_that_would_share_a_name_keep_their_own() -> None:
    """Two versions of one server, one of which is there on two runtimes, are no facets."""
    runs = [*rounds("go-old-native", 100), *rounds("go-new-native", 300), *rounds("go-new-other", 50)]
    named = {
        name: contender(name, runtime=name.rsplit("-", 1)[1], server="go")
        for name in ("go-old-native", "go-new-native", "go-new-other")
    }
    found = told(runs, shows=["errors"], contenders=named)
    assert {row.facet for row in found.curves[0].rows} == {""}
    assert {row.contender for row in found.curves[0].rows} == set(named)


def test_thirds_of_a_life_share_a_slice_that_lies_across() -> None:
    assert rates_by_part(slices([100.0] * 2)[:2]) == []
    assert gain(run()) is not None
    assert gain(run(reused=True)) is None  # it had its warm-up before
    even = rates_by_part(slices([100.0, 100.0, 100.0]))
    assert even == pytest.approx([100.0] * 3)
    four = [
        msgspec.structs.replace(each, duration_ns=SECOND, ok=ok)
        for each, ok in zip(slices([1.0] * 3), (0, 10, 20, 30), strict=True)
    ]
    # each third is 4/3 s long: all of one second and a third of the next
    assert rates_by_part(four) == pytest.approx(
        [(0 + 10 / 3) / (4 / 3), (20 / 3 + 40 / 3) / (4 / 3), (20 / 3 + 30) / (4 / 3)]
    )


def test_a_compiler_that_works_meanwhile_shows_as_gain() -> None:
    runs = []
    for name, last in (("pypy", 300.0), ("cpython", 100.0)):
        for at, noise in enumerate((1.0, 1.02, 0.98), 1):
            made = slices([100.0 * noise, 200.0 * noise, last * noise])[1:]
            runs.append(msgspec.structs.replace(run(name, round_=at), slices=made))
    courses = {course.contender: course for course in told(runs, shows=["iterations"]).courses}
    pypy = courses["pypy"]
    assert [round(part.value) for part in pypy.parts] == [100, 200, 300]
    assert pypy.gain is not None
    assert pypy.gain.value == pytest.approx(3.0, rel=0.02)
    assert gain(runs[0]) == pytest.approx(3.0, rel=0.02)
    assert told(runs).courses == []


def test_rounds_in_place_are_one_life_of_a_server() -> None:
    """Three replicates on one server, as study pypy's original had them; another start is another life."""
    rates = [100.0, 200.0, 300.0]
    runs = [
        msgspec.structs.replace(run("pypy", round_=at, reused=at > 1), slices=slices([rate] * 4)[1:])
        for at, rate in enumerate(rates, 1)
    ]
    assert list(lives(runs)) == [(1, pytest.approx(rates))]
    (course,) = told(runs, shows=["iterations"], in_place=True).courses
    assert [round(part.value) for part in course.parts] == [100, 200, 300]
    anew = [msgspec.structs.replace(each, reused=False) for each in runs]
    assert list(lives(anew)) == [(at, pytest.approx([rate] * 3)) for at, rate in enumerate(rates, 1)]


def two_routes(slow_ns: float, fast_ns: float) -> list[Run]:
    """Each round: nine fast answers for a slow one, told apart by the driver."""
    parts = [
        Route(name="instant", offered=90, ok=90, errors={}, bytes_in=0, latency_hdr=histogram(np.full(90, fast_ns))),
        Route(
            name="blocking",
            offered=11,
            ok=10,
            errors={"timeout": 1},
            bytes_in=0,
            latency_hdr=histogram(np.full(10, slow_ns)),
        ),
    ]
    return [change_slices(each, routes=parts) for each in rounds("tornado", 50, workload="mix")]


def test_the_routes_of_a_workload_are_told_apart() -> None:
    requests = [Request(name="instant", path="/", weight=9), Request(name="blocking", path="/slow")]
    runs = two_routes(1e9, 2e6)
    (verdict,) = told(runs, workloads={"mix": workload("mix", requests=requests)}).verdicts
    fast, slow = verdict.standings[0].routes
    assert (fast.route, fast.share, fast.error_ratio) == ("instant", 0.9, 0.0)
    assert (slow.route, slow.share) == ("blocking", 0.1)
    assert slow.error_ratio == pytest.approx(1 / 11)
    assert fast.p50 is not None
    assert fast.p50.value == pytest.approx(2e6, rel=0.01)
    assert slow.p99 is not None
    assert slow.p99.value == pytest.approx(1e9, rel=0.01)
    assert told(rounds("go", 5)).verdicts[0].standings[0].routes == []


def test_the_highest_cpu_is_that_between_two_looks() -> None:
    used = [0.0, 0.5, 2.0, 2.5, 2.6]  # CPU seconds at each second; the highest second used one and a half
    readings = [
        Reading(at_ns=at * SECOND, role="contender", cpu_user_ns=round(cpu * SECOND), cpu_system_ns=0)
        for at, cpu in enumerate(used)
    ]
    whole = run("go", readings=readings, steady_start_ns=0, steady_end_ns=4 * SECOND)
    assert cpu_peak(whole) == pytest.approx(1.5)
    late = msgspec.structs.replace(whole, steady_start_ns=2 * SECOND)
    assert cpu_peak(late) == pytest.approx(0.5)
    assert cpu_peak(msgspec.structs.replace(whole, readings=[])) is None


def test_connections_kept_alive_are_counted_as_the_driver_counts_them() -> None:
    by_ab = run("go", driver="ab", summary={"Keep-Alive requests": 15_000.0, "Complete requests": 15_000.0})
    assert kept_alive(by_ab) == 1.0
    assert kept_alive(msgspec.structs.replace(by_ab, summary={})) is None
    ours = run("go", rate=1_000.0)
    assert kept_alive(ours) == pytest.approx(1 - 64 / 2_500)
    closed = change_slices(run("go", rate=1_000.0), connections_opened=1_300)
    assert kept_alive(closed) == 0.0
