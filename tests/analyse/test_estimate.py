"""Figures over rounds: the fit, its variances, its intervals."""

import math

import numpy as np
import pytest

from webdyno.analyse.estimate import Contrast, Fit, fit
from webdyno.analyse.moderate import moderate


def fitted(cells: dict[tuple[str, int], float], *, trimmed: bool = False) -> Fit:
    made = fit(cells, trimmed=trimmed)
    assert made is not None
    return made


def test_balanced_means_are_plain_means_of_logs() -> None:
    made = fitted({("a", 1): 100, ("a", 2): 400, ("b", 1): 10, ("b", 2): 40})
    assert made.estimate("a", "per_s").value == pytest.approx(200)
    assert made.ratio("a", "b").value == pytest.approx(10)


def test_two_contenders_give_the_paired_t_interval() -> None:
    from scipy import stats  # here, because it takes a second and more, in each process that collects tests

    rng = np.random.default_rng(3)
    a, b = np.exp(rng.normal(5, 0.05, 6)), np.exp(rng.normal(5, 0.05, 6))
    made = fitted({("a", r): a[r] for r in range(6)} | {("b", r): b[r] for r in range(6)})
    contrast = made.contrast("a", "b")
    assert contrast is not None
    assert contrast.p == pytest.approx(stats.ttest_rel(np.log(a), np.log(b)).pvalue)
    assert contrast.freedom == pytest.approx(5)


def test_one_contender_alone_gives_the_plain_t_interval() -> None:
    from scipy import stats

    values = [100.0, 104.0, 98.0, 101.0]
    made = fitted({("a", r): value for r, value in enumerate(values)}).estimate("a", "per_s")
    low, high = stats.t.interval(0.95, 3, np.mean(np.log(values)), stats.sem(np.log(values)))
    assert made.low == pytest.approx(math.exp(low))
    assert made.high == pytest.approx(math.exp(high))


def test_a_slow_round_does_not_punish_the_contender_that_missed_a_fast_one() -> None:
    cells = {
        (name, r): base * speed
        for name, base in (("a", 100.0), ("b", 50.0), ("c", 25.0))
        for r, speed in ((1, 1.0), (2, 0.5))
    }
    del cells["a", 1]
    assert fitted(cells).ratio("a", "b").value == pytest.approx(2)


def test_below_two_rounds_there_is_no_interval() -> None:
    made = fitted({("a", 1): 100.0, ("b", 1): 50.0})
    assert made.estimate("a", "per_s").low is None
    assert made.contrast("a", "b") is None
    assert made.ratio("a", "b").value == pytest.approx(2)
    assert made.ratio("a", "b").high is None


def test_a_contender_with_one_round_among_others_gets_no_interval_either() -> None:
    made = fitted({(n, r): 100.0 + r for n in "ab" for r in range(3)} | {("c", 1): 90.0})
    assert made.estimate("c", "per_s").low is None
    assert made.contrast("a", "c") is None
    assert made.contrast("a", "b") is not None


def test_drift_common_to_all_leaves_ratios_sharp_but_widens_each_figure() -> None:
    rng = np.random.default_rng(5)
    drift = [0.0, 0.1, 0.2, 0.3]
    cells = {(n, r): math.exp(drift[r] + rng.normal(0, 0.005)) for n in "abcd" for r in range(4)}
    made = fitted(cells)
    ratio, figure = made.ratio("a", "b"), made.estimate("a", "per_s")
    assert ratio.high is not None
    assert ratio.low is not None
    assert figure.high is not None
    assert figure.low is not None
    assert ratio.high / ratio.low < 1.03
    assert figure.high / figure.low > 1.3
    assert made.trend is not None
    assert made.trend.log == pytest.approx(0.3, abs=0.02)
    assert made.trend.p < 0.001


def test_trimmed_drops_the_highest_and_lowest_round_of_each() -> None:
    cells = {("a", r): v for r, v in enumerate([100.0, 101.0, 1.0, 99.0, 5000.0])}
    assert fitted(cells, trimmed=True).estimate("a", "per_s").value == pytest.approx(100, rel=0.001)
    assert fitted(cells).estimate("a", "per_s").value < 95


def test_trimming_never_makes_a_figure_surer() -> None:
    rng = np.random.default_rng(8)
    cells = {(n, r): math.exp(rng.normal(0, 0.02)) for n in "abcdef" for r in range(5)}
    whole, trimmed = fitted(cells).ratio("a", "b"), fitted(cells, trimmed=True).ratio("a", "b")
    assert math.log((trimmed.high or 0) / (trimmed.low or 1)) > math.log((whole.high or 0) / (whole.low or 1))


def test_one_wild_contender_does_not_blur_the_others() -> None:
    """Its own interval is wide; theirs are as if it were not there."""
    rng = np.random.default_rng(4)
    quiet = {(name, r): math.exp(rng.normal(0, 0.01)) for name in "abcdefg" for r in range(4)}
    wild = {("w", r): math.exp(rng.normal(0, 0.3)) for r in range(4)}
    alone, among = fitted(quiet).contrast("a", "b"), fitted(quiet | wild).contrast("a", "b")
    assert alone is not None
    assert among is not None
    assert among.error < 1.5 * alone.error  # 3 times, by the mean of the rounds
    assert fitted(quiet | wild).estimate("a", "per_s").high == pytest.approx(
        fitted(quiet).estimate("a", "per_s").high, rel=0.01
    )
    other = fitted(quiet | wild).contrast("a", "w")
    assert other is not None
    assert other.error > 5 * among.error


def test_nobody_is_much_quieter_than_the_table() -> None:
    """A slow start of most, none yet of a and b: they are not said to be ten times as sure as the others."""
    cells = {(name, r): 100.0 + r / 10 for name in "abcdef" for r in range(3)}
    cells |= {(name, at % 3): 80.0 for at, name in enumerate("cdef")}
    made = fitted(cells)
    sure, others = made.contrast("a", "b"), made.contrast("c", "d")
    assert sure is not None
    assert others is not None
    assert sure.error > 0.7 * others.error


def test_what_a_count_of_steps_cannot_resolve_is_in_its_interval_however_alike_rounds_are() -> None:
    cells = {(name, r): count for name, count in (("a", 16.0), ("b", 15.0), ("c", 5.0)) for r in range(4)}
    plain, stepped = fitted(cells), fit(cells, steps={key: 1 / count for key, count in cells.items()})
    assert stepped is not None
    assert plain.ratio("a", "b").low == pytest.approx(16 / 15)
    low, high = stepped.ratio("a", "b").low, stepped.ratio("a", "b").high
    assert low is not None
    assert high is not None
    assert low < 1 < 16 / 14 < high
    more = fit(
        cells | {(n, 9): v for (n, _), v in cells.items()}, steps={(n, r): 1 / 15 for n in "abc" for r in range(10)}
    )
    assert more is not None
    assert (more.ratio("a", "b").low or 1) < 1  # more rounds in the same step tell no more


def test_the_paired_interval_is_the_plain_one_and_knows_who_met_when() -> None:
    cells = {("a", r): 100.0 + r for r in (1, 2, 3)} | {("b", r): 50.0 + 2 * r for r in (2, 3, 4)} | {("c", 9): 1.0}
    made = fitted(cells)
    from scipy import stats

    paired = made.paired("a", "b")
    apart = np.log([102 / 54, 103 / 56])
    assert paired is not None
    assert paired.log == pytest.approx(apart.mean())
    assert paired.error == pytest.approx(stats.sem(apart))
    assert (made.last_round("a", "b"), made.last_round("a", "c")) == (3, None)
    assert made.paired("a", "c") is None


def test_nothing_gives_nothing() -> None:
    assert fit({}) is None
    assert fit({("a", 1): 0.0}) is None


def test_identical_rounds_do_not_divide_by_zero() -> None:
    made = fitted({(n, r): v for n, v in (("a", 100.0), ("b", 50.0)) for r in range(3)})
    contrast = made.contrast("a", "b")
    assert contrast is not None
    assert contrast.p < 1e-6
    estimate = made.estimate("a", "per_s")
    assert estimate.low == pytest.approx(100)
    assert estimate.high == pytest.approx(100)


def test_moderation_shrinks_towards_the_common_variance() -> None:
    rng = np.random.default_rng(1)
    freedom = np.full(200, 2.0)
    true = np.exp(rng.normal(0, 0.5, 200))
    seen = true * rng.chisquare(2, 200) / 2
    posterior, gained = moderate(seen, freedom)
    assert np.mean((np.log(posterior) - np.log(true)) ** 2) < 0.25 * np.mean((np.log(seen) - np.log(true)) ** 2)
    assert 4 < gained[0] < 30


def test_moderation_recovers_a_known_prior() -> None:
    # Smyth 2004: 1/sigma^2 ~ chi2(d0) / (d0 s0^2) with d0 = 8, s0^2 = 3
    rng = np.random.default_rng(2)
    true = 8 * 3 / rng.chisquare(8, 20_000)
    seen = true * rng.chisquare(4, 20_000) / 4
    posterior, gained = moderate(seen, np.full(20_000, 4.0))
    assert gained[0] == pytest.approx(12, rel=0.1)
    assert posterior[0] == pytest.approx((8 * 3 + 4 * seen[0]) / 12, rel=0.05)


def test_moderation_of_equal_variances_pools_them_and_counts_the_freedom_once() -> None:
    posterior, freedom = moderate(np.array([2.0, 2.0, 2.0]), np.array([2.0, 2.0, 2.0]))
    assert list(posterior) == pytest.approx([2.0, 2.0, 2.0])
    assert list(freedom) == pytest.approx([6.0, 6.0, 6.0])


@pytest.mark.parametrize(("contenders", "rounds"), [(2, 4), (3, 4), (14, 3), (2, 3), (5, 9)])
def test_trimming_leaves_figures_where_they_are_and_in_their_order(contenders: int, rounds: int) -> None:
    """Rounds that keep no cell, or cells that do not connect, say nothing about the level."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        truth = {f"c{at:02}": 10_000 * 1.1**-at for at in range(contenders)}
        cells = {
            (name, r): rate * math.exp(0.05 * r + rng.normal(0, 0.003))
            for r in range(rounds)
            for name, rate in truth.items()
        }
        made = fitted(cells, trimmed=True)
        middle = math.exp(0.05 * (rounds - 1) / 2)
        for name, rate in truth.items():
            assert made.estimate(name, "per_s").value == pytest.approx(rate * middle, rel=0.02)
        assert sorted(truth, key=lambda name: -made.logs[made.names.index(name)]) == list(truth)


@pytest.mark.parametrize("trimmed", [False, True])
def test_cells_that_do_not_connect_give_the_same_ratios_in_every_unit(trimmed: bool) -> None:
    cells = {("a", 1): 10.0, ("b", 1): 20.0, ("a", 2): 11.0, ("b", 2): 21.0}
    cells |= {
        (name, r): value + r for name, value in zip("cdef", (40.0, 50.0, 60.0, 70.0), strict=True) for r in (3, 4, 5)
    }
    small = fitted(cells, trimmed=trimmed)
    large = fitted({key: value * 1e6 for key, value in cells.items()}, trimmed=trimmed)
    for one in "abcdef":
        for other in "abcdef":
            assert large.ratio(one, other).value == pytest.approx(small.ratio(one, other).value)
        assert large.estimate(one, "ns").value == pytest.approx(small.estimate(one, "ns").value * 1e6)
    assert large.between == pytest.approx(small.between)


def test_an_interval_of_next_to_no_freedom_is_wide_and_no_error() -> None:
    told = Contrast(log=0.1, error=0.2, freedom=0.02).estimate(2, "ratio")
    assert told.low is not None and told.high is not None
    assert 0 < told.low < 1e-100 and 1e100 < told.high < math.inf
