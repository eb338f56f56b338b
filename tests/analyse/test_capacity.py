"""The search for a capacity in made-up worlds whose truth is known.

The server is a queue with one clerk (M/M/1) that is really simulated, request by request. Every start has a luck of its
own, the machine has bursts of foreign work, and the truth is the rate that half of such starts meet, found by brute
force. Seeded, a few seconds. Bounds leave room for the simulation's own error, not for a worse method.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from webdyno.analyse.capacity import Capacity, Search, Tried, capacity_of, next_rate, offerable
from webdyno.analyse.knee import fit_knee
from webdyno.analyse.threshold import threshold
from webdyno.report.capacity import answer

LIMIT_S = 0.050
Serve = Callable[[float], Tried]


class Queue:
    """A server of ``speed`` requests per second whose starts differ by ``luck``; a trial takes ``seconds``."""

    def __init__(self, seed: int, *, speed: float = 2000, luck: float = 0.03, bursts: float = 0.02) -> None:
        self.rng = np.random.default_rng(seed)
        self.speed, self.luck, self.bursts, self.seconds = speed, luck, bursts, 2.0

    def p99_s(self, rate: float) -> float:
        rng, number = self.rng, max(int(rate * self.seconds), 2)
        speed = self.speed * math.exp(rng.normal(0, self.luck))
        speed *= rng.uniform(0.7, 0.95) if rng.random() < self.bursts else 1.0
        steps = rng.exponential(1 / speed, number) - rng.exponential(1 / rate, number)
        walk = np.cumsum(steps)  # Lindley: what is ahead in the queue is the walk above its lowest point so far
        waits = walk - np.minimum.accumulate(np.minimum(walk, 0))
        return float(np.quantile(waits + rng.exponential(1 / speed, number), 0.99))

    def __call__(self, rate: float) -> Tried:
        p99 = self.p99_s(rate)
        result = "met" if p99 < LIMIT_S else "missed"
        return Tried(rate_per_s=rate, result=result, ok_per_s=min(rate, self.speed), p99_ns=p99 * 1e9, cores=0.5)


def truth(luck: float) -> float:
    """The rate that half of the starts of a Queue without bursts meet."""
    low, high = 1000.0, 2400.0
    queue = Queue(1, luck=luck, bursts=0)
    for _ in range(10):
        rate = math.sqrt(low * high)
        met = sum(queue.p99_s(rate) < LIMIT_S for _ in range(300))
        low, high = (rate, high) if met > 150 else (low, rate)
    return math.sqrt(low * high)


def searched(serve: Serve, search: Search) -> tuple[Capacity, list[Tried]]:
    tried: list[Tried] = []
    while (rate := next_rate(tried, search)) is not None:
        tried.append(serve(rate))
        assert len(tried) <= search.most_trials
    return capacity_of(tried, search), tried


@pytest.mark.slow
@pytest.mark.parametrize("luck", [0.02, 0.05])
def test_the_interval_holds_the_truth_and_costs_few_trials(luck: float) -> None:
    true, inside, off, cost = truth(luck), 0, [], []
    for seed in range(40):
        found, tried = searched(Queue(seed, luck=luck), Search())
        assert found.rate is not None
        assert found.rate.low is not None
        assert found.rate.high is not None
        inside += found.rate.low <= true <= found.rate.high
        off.append(abs(math.log(found.rate.value / true)))
        cost.append(len(tried))
    assert inside >= 36
    assert np.quantile(off, 0.9) < 0.05
    assert np.median(cost) <= 32


def sharp(limit: float) -> Serve:
    """A server that is the same at every start."""

    def serve(rate: float) -> Tried:
        p99_ns = 1e6 / max(1 - rate / limit, 1e-3)
        return Tried(
            rate_per_s=rate,
            result="met" if rate < limit * 0.98 else "missed",
            ok_per_s=min(rate, limit),
            p50_ns=p99_ns / 5,
            p99_ns=p99_ns,
            cores=rate / limit,
            memory_bytes=50_000_000,
        )

    return serve


def test_it_doubles_then_bisects_and_stays_at_a_rate_until_it_is_decided() -> None:
    found, tried = searched(sharp(1000), Search())
    rates = [each.rate_per_s for each in tried]
    assert rates[:6] == [100, 200, 400, 800, 1600, 1600]
    assert all(800 < rate < 1600 for rate in rates[6:])
    assert found.ended == "known"
    assert found.rate is not None
    assert found.rate.value == pytest.approx(980, rel=0.03)
    assert found.nine_of_ten is not None
    assert found.nine_of_ten.value < found.rate.value
    assert found.per_core is not None
    assert found.per_core.value == pytest.approx(1000)
    assert found.per_gb is not None
    assert found.per_gb.value == pytest.approx(980 / 0.05, rel=0.03)
    # Every trial used as much memory: what is not known of it is what is not known of the capacity.
    assert found.per_gb.low == pytest.approx((found.rate.low or 0) / 0.05)
    assert found.per_gb.high == pytest.approx((found.rate.high or 0) / 0.05)
    assert found.knee is not None
    assert found.knee.limit_per_s == pytest.approx(1000, rel=0.1)
    assert [point.rate_per_s for point in found.curve] == sorted({each.rate_per_s for each in tried})


def test_a_first_rate_that_is_too_high_leads_down() -> None:
    found, tried = searched(sharp(30), Search(first_per_s=1000))
    assert [each.rate_per_s for each in tried[:4]] == [1000, 1000, 250, 250]
    assert found.rate is not None
    assert found.rate.value == pytest.approx(29.4, rel=0.05)


def test_objectives_that_are_never_met_end_the_search_at_the_lowest_rate() -> None:
    found, tried = searched(sharp(0.5), Search(first_per_s=10))
    assert found.ended == "never-met"
    assert found.rate is None
    assert tried[-1].rate_per_s == 1
    assert len(tried) <= 8


def test_a_server_that_meets_the_highest_rate_is_known_from_below_only() -> None:
    found, _ = searched(sharp(1e6), Search(first_per_s=1000, highest_per_s=5000))
    assert (found.ended, found.rate, found.at_least_per_s) == ("always-met", None, 5000)


def test_what_the_generator_cannot_offer_is_no_evidence_and_not_asked_again() -> None:
    def serve(rate: float) -> Tried:
        return Tried(rate_per_s=rate, result="not-offered" if rate > 1500 else "met", ok_per_s=rate)

    found, tried = searched(serve, Search())
    assert (found.ended, found.rate) == ("always-met", None)
    assert found.at_least_per_s is not None
    assert 1300 <= found.at_least_per_s <= 1500
    assert offerable(tried, Search()) >= found.at_least_per_s
    assert sum(each.result == "not-offered" for each in tried) <= 3


def test_where_nothing_could_be_offered_nothing_is_said_of_the_server() -> None:
    """It was called never met, and the sentence about it ended in an IndexError."""
    found, tried = searched(lambda rate: Tried(rate_per_s=rate, result="not-offered"), Search(first_per_s=10))
    assert len(tried) > 1
    assert (found.ended, found.curve, found.at_least_per_s) == ("not-known-yet", [], None)
    said = answer("toy", "p99<2s", found)
    assert said == ("toy under p99<2s: not known yet; the load generator could reach none of the rates that were tried")


def test_a_miss_by_chance_far_below_does_not_hold_the_search_down() -> None:
    calls = iter(range(100))

    def unlucky(rate: float) -> Tried:
        return Tried(rate_per_s=rate, result="missed") if next(calls) == 2 else sharp(1000)(rate)

    found, _ = searched(unlucky, Search())
    assert found.rate is not None
    assert found.rate.value == pytest.approx(980, rel=0.06)


def test_the_answer_is_not_known_while_the_interval_is_wide() -> None:
    tried = [sharp(1000)(rate) for rate in (100, 200, 400, 800, 1600)]
    found = capacity_of(tried, Search())
    assert found.ended == "not-known-yet"
    assert found.rate is not None
    assert found.rate.low is not None
    assert found.rate.low < 980 < (found.rate.high or 0)


def test_without_trials_there_is_nothing_to_say() -> None:
    found = capacity_of([], Search())
    assert (found.ended, found.rate, found.curve, found.knee) == ("not-known-yet", None, [], None)


def test_the_curve_of_the_simplest_queue_is_found_with_its_knee() -> None:
    rng = np.random.default_rng(3)
    rates = np.linspace(100, 950, 12)
    knee = fit_knee(list(rates), list(4.6e6 / (1 - rates / 1000) * np.exp(rng.normal(0, 0.05, 12))))
    assert knee is not None
    assert knee.limit_per_s == pytest.approx(1000, rel=0.03)
    assert knee.steepness == pytest.approx(1, rel=0.15)
    assert knee.knee_per_s == pytest.approx(500, rel=0.1)
    assert knee.latency_ns(500) == pytest.approx(9.2e6, rel=0.1)
    assert knee.latency_ns(2000) is None
    assert fit_knee([1, 2, 3], [1, 2, 3]) is None
    assert fit_knee([1, 2, 3, 4], [4, 3, 2, 1]) is None


def test_more_trials_make_the_interval_narrower() -> None:
    few = threshold([900, 1100], [True, False]).half()
    many = threshold([900, 950, 1050, 1100] * 5, [True, True, False, False] * 5).half()
    assert few.low < many.low < 1000 < many.high < few.high
