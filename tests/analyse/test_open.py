"""Open loads: latency from due, and whose fault it is when the schedule was not kept; and the driver's own ceiling."""

from __future__ import annotations

import msgspec
import pytest

from tests.analyse.fakes import LOAD, change_slices, histogram, run
from tests.analyse.test_doubts import doubts, good, rounds
from webdyno.analyse.doubts.driver import ceiling_at
from webdyno.analyse.window import read_window
from webdyno.model.load import Load
from webdyno.model.rig import Ceiling
from webdyno.model.run import Run
from webdyno.model.verdict import Estimate

OPEN = Load(connections=64, rate_per_s=10_000, max_connections=640, duration_s=2)
MS = 1_000_000


def open_runs(rate: float = 10_000, *, waited_ms: float = 9, lag_ms: float = 0.1) -> list[Run]:
    times = {"response_hdr": histogram([waited_ms * MS] * 100), "lag_hdr": histogram([lag_ms * MS] * 100)}
    return rounds(lambda r: change_slices(run(round_=r, rate=rate, load=OPEN), **times))


def test_latency_of_an_open_load_counts_from_due_and_that_of_a_closed_one_from_sent() -> None:
    (first, *_) = open_runs()
    window = read_window(first)
    assert window is not None
    assert window.points_ns["p99"] == pytest.approx(9 * MS, rel=1e-3)
    closed = change_slices(run(load=LOAD), response_hdr=histogram([9 * MS] * 100))
    window = read_window(closed)
    assert window is not None
    assert window.points_ns.get("p99") != pytest.approx(9 * MS, rel=1e-3)


def test_a_schedule_that_was_not_offered_is_doubted() -> None:
    assert "only 90 % of the requests that were due were sent" in doubts(open_runs(9_000))["not-offered"].sentence
    assert "not-offered" not in doubts(open_runs())
    assert "not-offered" not in doubts(good())


def test_random_arrivals_are_as_many_as_came_due() -> None:
    """Fewer than the rate says may come by chance; what was shed was due and not sent."""
    drawn = msgspec.structs.replace(OPEN, poisson=True, seed=1)
    few = rounds(lambda r: run(round_=r, rate=9_800, load=drawn))
    assert "not-offered" not in doubts(few)
    shed = [change_slices(each, ok=9_310, errors={"shed": 490}) for each in few]
    assert "only 95 % of the requests that were due were sent" in doubts(shed)["not-offered"].sentence
    assert "not-offered" in doubts(open_runs(9_800))


def test_a_driver_that_is_late_is_doubted_and_not_one_that_spins() -> None:
    late = doubts(open_runs(lag_ms=2))["schedule-lag"]
    assert late.sentence.startswith("the load generator sent 2.00 ms late at p99, which is part of the p99 of 9.0")
    spinning = [change_slices(each, cpu_user_ns=10**9, cpu_system_ns=0) for each in open_runs()]
    assert {"schedule-lag", "generator-bound"}.isdisjoint(doubts(spinning))


def ceiling(connections: int, per_s: float, threads: int = 1) -> Ceiling:
    rate = Estimate(value=per_s, low=None, high=None, rounds=5, unit="per_s")
    return Ceiling(connections=connections, threads=threads, rate=rate, engine_busy=0.9)


def test_a_rate_near_the_ceiling_is_bound_by_the_generator() -> None:
    near = doubts(good(rate=10_000), ceilings=[ceiling(16, 99_000), ceiling(64, 10_500)])["generator-bound"]
    assert near.severity == "shades"
    assert "is 90 % or more of 10,500/s, which the load generator reached here" in near.sentence
    assert near.numbers["ceiling_per_s"] == 10_500
    assert "generator-bound" not in doubts(good(rate=10_000), ceilings=[ceiling(64, 12_000)])
    # 10,000 were reached: the ceiling was measured in a worse hour.
    assert "generator-bound" not in doubts(good(rate=10_000), ceilings=[ceiling(64, 5_000)])
    assert "generator-bound" not in doubts(good(rate=10_000), ceilings=[ceiling(64, 10_500, threads=2)])


def test_the_ceiling_of_other_drivers_is_not_known() -> None:
    trial = good()[0].trial
    others = [
        msgspec.structs.replace(each, trial=msgspec.structs.replace(each.trial, driver="wrk"))
        for each in good(rate=10_000)
    ]
    assert trial.driver == "engine"
    assert "generator-bound" not in doubts(others, ceilings=[ceiling(64, 10_500)])


def test_the_nearest_number_of_connections_counts_by_its_ratio() -> None:
    known = [ceiling(16, 1.0), ceiling(256, 2.0)]
    found = [ceiling_at(known, connections, 1) for connections in (1, 63, 65, 9999)]
    assert [each and each.connections for each in found] == [16, 16, 256, 256]
    assert ceiling_at(known, 64, 2) is None
