"""Rulings: how sure each of several comparisons must be, and how often a ruling is false at the border."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import pytest

from bench.trust import claiming
from webdyno.analyse.leeway import NONE
from webdyno.analyse.measures import Ratio
from webdyno.analyse.rulings import LEAD, Compared, asked_of, beyond, no_lead, ruling_of, within
from webdyno.model.claim import Claim, Ruling


def with_p(p: float, *, leeway: tuple[float, float] = NONE) -> Compared:
    """A comparison with a normal error, in which "no more than 1" has this one-sided p value."""
    middle, error = -NormalDist().inv_cdf(p), 1.0

    def spread(comparisons: float) -> tuple[float, float]:
        reach = error * NormalDist().inv_cdf(1 - 0.025 / comparisons)
        return math.exp(middle - reach), math.exp(middle + reach)

    return Compared(Ratio(math.exp(middle), *spread(1), 4, spread), leeway)


def asking(relation: str, share: float = 1.0, **more: float) -> Claim:
    return Claim(text="", contenders=["go"], relation=relation, than=["*"], share=share, **more)  # type: ignore[arg-type]


def ruled(claim: Claim, known: Sequence[Compared], comparisons: int | None = None) -> list[Ruling]:
    asked = asked_of(claim, known, comparisons or len(known))
    return [ruling_of(claim, each, asked) for each in known]


@pytest.mark.parametrize(
    ("p", "holding"),
    [
        ((0.0041, 0.5, 0.5, 0.5, 0.5, 0.5), 1),  # as one of six: 2.5 % / 6
        ((0.0043, 0.5, 0.5, 0.5, 0.5, 0.5), 0),
        ((0.012, 0.012, 0.012, 0.5, 0.5, 0.5), 3),  # three of six: 3 / 6 of 2.5 %
        ((0.012, 0.012, 0.013, 0.5, 0.5, 0.5), 0),
        ((0.024, 0.024, 0.024, 0.024, 0.024, 0.024), 6),
    ],
)
def test_the_more_comparisons_agree_the_less_sure_each_must_be(p: Sequence[float], holding: int) -> None:
    """Simes' test by hand: at least one of six holds."""
    assert ruled(asking("at least", 1 / 6), [with_p(each) for each in p]).count("holds") == holding


def test_a_claim_about_all_asks_each_for_no_more_than_a_single_one() -> None:
    assert ruled(asking("at least"), [with_p(0.024)] * 12) == ["holds"] * 12


def test_those_that_must_hold_anyway_are_put_aside() -> None:
    """Of five in six, four may be taken for true; of the two that are left one must be sure as one of two."""
    claim = asking("at least", 5 / 6)
    sure = [with_p(1e-6)] * 4
    assert ruled(claim, [*sure, with_p(0.012), with_p(0.5)]).count("holds") == 5
    assert ruled(claim, [*sure, with_p(0.013), with_p(0.5)]).count("holds") == 4
    assert ruled(claim, [*sure, with_p(0.024), with_p(0.024)]).count("holds") == 6


def test_what_may_be_left_out_is_put_aside_where_a_claim_is_refuted() -> None:
    """It may fail in one of six: the surest failure is put aside; of the five left one must be sure as one of five."""
    claim = asking("at least", 5 / 6)
    even = [with_p(0.5)] * 4
    assert ruled(claim, [with_p(1 - 1e-6), with_p(1 - 0.0049), *even]).count("does not hold") == 2
    assert ruled(claim, [with_p(1 - 1e-6), with_p(1 - 0.0051), *even]).count("does not hold") == 1


def test_comparisons_that_decide_nothing_count_as_the_least_sure() -> None:
    claim = asking("at least", 0.5)
    assert ruled(claim, [with_p(0.004)] * 3, 6) == ["holds"] * 3
    assert ruled(claim, [with_p(0.007)] * 3, 6) == ["cannot tell"] * 3, "as one of four: 2.5 % / 4"


def test_a_rate_that_may_be_any_number_of_times_higher_refutes_nothing() -> None:
    low = with_p(1 - 1e-6, leeway=(1.0, math.inf))
    assert ruled(asking("at least"), [low, low]) == ["cannot tell"] * 2


def test_a_lead_counts_from_its_margin_on_and_only_where_an_order_was_claimed() -> None:
    more, less = asking("more than"), asking("less than")
    assert beyond(more, (0.9, 1 + LEAD - 1e-6))
    assert not beyond(more, (0.9, 1 + LEAD))
    assert beyond(less, (1 / (1 + LEAD) + 1e-6, 1.1))
    assert not beyond(less, (1 / (1 + LEAD), 1.1))
    assert within(more, (1.001, 1.01)), "a small lead that is sure holds, as it was said"
    assert no_lead(more, (0.9, 1.03)) == pytest.approx(0.03)
    assert no_lead(less, (0.98, 1.03)) == pytest.approx(0.02)
    for other in (asking("at least"), asking("about"), asking("more than", times=2.0), asking("more than", value=1.0)):
        assert no_lead(other, (0.9, 1.03)) is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(claiming.worlds()))
def test_at_the_border_at_most_five_of_a_hundred_rulings_are_false(kind: str) -> None:
    """Of 200 worlds at 5 %, more than 20 are false with a chance of 0.1 %."""
    is_false = claiming.worlds()[kind]
    assert sum(is_false(seed) for seed in range(40_000, 40_200)) <= 20
