"""One Run -> its figures."""

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import SECOND, START, change_slices, readings, run, slices
from webdyno.analyse.window import Window, process_shares, read_window, requests_per_connection
from webdyno.model.run import Run
from webdyno.model.sample import Reading, Slice


def window(of: Run) -> Window:
    found = read_window(of)
    assert found is not None
    return found


def test_rate_is_right_answers_over_true_duration_of_the_steady_phase() -> None:
    odd = run(
        slices=[*slices([1000.0, 2000.0])[:2], msgspec.structs.replace(slices([2000.0])[1], duration_ns=SECOND // 2)]
    )
    assert window(odd).rate_per_s == pytest.approx(3000 / 1.5)


def test_warm_up_and_wrong_answers_are_not_in_the_rate() -> None:
    wrong = change_slices(run(rate=1000.0), ok=900, errors={"wrong-body": 100, "unfinished": 7})
    assert window(wrong).rate_per_s == 900
    assert window(wrong).errors == {"wrong-body": 200}
    assert window(wrong).error_ratio == pytest.approx(0.1)


@pytest.mark.parametrize("outcome", ["died", "interrupted", "no-success"])
def test_a_run_that_did_not_succeed_has_no_figures(outcome: str) -> None:
    assert read_window(run(outcome=outcome)) is None


def test_a_run_without_one_right_answer_has_no_figures() -> None:
    assert read_window(change_slices(run(), ok=0)) is None


def test_percentiles_come_from_the_added_histograms() -> None:
    values = np.linspace(1e6, 100e6, 10_000)
    points = window(run(latency_ns=np.random.default_rng(1).permutation(values))).points_ns
    assert points["p50"] == pytest.approx(50.5e6, rel=0.002)
    assert points["p99"] == pytest.approx(99e6, rel=0.002)
    assert points["mean"] == pytest.approx(50.5e6, rel=0.002)
    assert points["stdev"] == pytest.approx(99e6 / 12**0.5, rel=0.002)  # of even values


def test_points_of_a_driver_are_taken_as_they_are_but_never_averaged() -> None:
    given = {"mean": 5e6, "p50": 4e6, "p99": 9e6}
    alone = run(slices=[msgspec.structs.replace(s, latency_ns=given) for s in slices([100.0])])
    assert window(alone).points_ns == given
    twice = run(slices=[msgspec.structs.replace(s, latency_ns=given) for s in slices([100.0, 100.0])])
    assert window(twice).points_ns == {}


def test_cpu_per_request_is_interpolated_at_the_edges() -> None:
    assert window(run(rate=1000.0, cpu=0.5)).cpu_per_request_ns == pytest.approx(500_000, rel=1e-6)
    # readings every 1.5 s that never fall on an edge
    sparse = [
        Reading(
            at_ns=START - SECOND + step * 3 * SECOND // 2, role="contender", cpu_user_ns=step * SECOND, cpu_system_ns=0
        )
        for step in range(4)
    ]
    assert window(run(readings=sparse)).contender_cores == pytest.approx(2 / 3)


def test_cpu_seen_over_less_than_half_of_the_window_is_unknown() -> None:
    short = [reading for reading in readings(3) if reading.at_ns < START + SECOND]
    assert window(run(readings=short)).contender_cores is None
    assert window(run(readings=[])).cpu_per_request_ns is None


def test_cpu_of_the_driver_comes_from_its_slices_else_from_readings() -> None:
    assert window(run()).driver_cores == pytest.approx(0.5)
    silent = change_slices(run(readings=readings(3, driver=0.7)), cpu_user_ns=None)
    assert window(silent).driver_cores == pytest.approx(0.7)


def test_bytes_per_second_are_those_of_the_steady_phase() -> None:
    told = change_slices(run(rate=1000.0), bytes_in=231_000)
    assert window(told).bytes_per_s == pytest.approx(231_000)
    odd = run(slices=[msgspec.structs.replace(each, bytes_in=None) for each in told.slices])
    assert window(odd).bytes_per_s is None


def test_requests_per_connection_counts_the_warm_up_too() -> None:
    assert requests_per_connection([run(rate=640.0)]) == pytest.approx((320 + 2 * 640) / 64)
    unknown: list[Slice] = [msgspec.structs.replace(s, connections_opened=None) for s in run().slices]
    assert requests_per_connection([run(slices=unknown)]) is None


def test_in_a_block_a_short_window_has_its_process_shares_from_a_look_just_before_and_one_after() -> None:
    begin, end = START, START + SECOND // 2
    looks = [
        Reading(at_ns=begin - 3_000_000, role="contender", cpu_by_process={"1": 100, "2": 100}),
        Reading(at_ns=end + 3_000_000, role="contender", cpu_by_process={"1": 100, "2": 900}),
    ]
    measured = run(readings=looks, steady_start_ns=begin, steady_end_ns=end)
    assert process_shares(measured) == {}
    assert process_shares(msgspec.structs.replace(measured, block=1)) == {"1": 0.0, "2": 1.0}


def test_process_shares_are_of_the_steady_phase() -> None:
    looks = [
        Reading(at_ns=START + SECOND, role="contender", cpu_by_process={"1": 900, "2": 100}),
        Reading(at_ns=START + 2 * SECOND, role="contender", cpu_by_process={"1": 1000, "2": 400}),
    ]
    assert process_shares(run(readings=looks)) == {"1": 0.25, "2": 0.75}


def test_the_look_taken_at_the_end_of_a_short_phase_counts() -> None:
    """It comes a moment after the driver said that the phase ended; looks after it do not count."""
    end = START + SECOND // 2 + 2 * SECOND
    cpu = {START + SECOND: {"1": 0, "2": 0}, end + 9: {"1": 900, "2": 100}, end + SECOND: {"1": 900, "2": 9_900}}
    looks = [Reading(at_ns=at, role="contender", cpu_by_process=used) for at, used in cpu.items()]
    assert process_shares(run(readings=looks)) == {"1": 0.9, "2": 0.1}


def test_answers_of_stretches_before_a_window_alone_came_over_connections_that_nobody_counted() -> None:
    made = run()
    warm = msgspec.structs.replace(made.slices[0], drained_ns=0, connections_opened=0, ok=10**6)
    assert requests_per_connection([msgspec.structs.replace(made, slices=[warm, *made.slices])]) == (
        requests_per_connection([made])
    )
