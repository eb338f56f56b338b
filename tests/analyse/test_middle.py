"""The median of few values, with an interval that no distribution can break."""

import numpy as np
import pytest

from webdyno.analyse.middle import middle


@pytest.mark.parametrize(
    ("number", "ends"), [(1, None), (5, None), (6, (1, 6)), (8, (1, 8)), (9, (2, 8)), (20, (6, 15))]
)
def test_its_ends_are_those_of_the_binomial_distribution(number: int, ends: tuple[int, int] | None) -> None:
    """As heads of so many coins fall: the second and the eighth of nine hold it in 1 - 2 (1 + 9) / 2^9 = 96.1 %."""
    found = middle([float(at) for at in reversed(range(1, number + 1))], "ns")
    assert found.value == (number + 1) / 2
    assert (found.rounds, found.unit) == (number, "ns")
    assert (None if found.low is None else (found.low, found.high)) == ends


def test_it_holds_the_median_of_a_lopsided_distribution_95_times_in_100() -> None:
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(1000):
        found = middle([float(value) for value in rng.exponential(1.0, 9)], "ns")
        assert found.low is not None
        assert found.high is not None
        held += found.low <= np.log(2) <= found.high
    assert 0.945 <= held / 1000 <= 0.98  # 96.1 % exactly
