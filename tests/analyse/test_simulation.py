"""The design in a made-up world whose truth is known: nobody can worsen the statistics unnoticed.

The world: contenders differ; every start of a server has its own luck (2 to 5 %, different for each contender); the
machine drifts from round to round; seconds within a run are noisy and hang together, which a run's figure averages.
Seeded, a few seconds. Bounds leave room for the simulation's own error, not for a worse method.
"""

import math

import numpy as np
import pytest

from webdyno.analyse.compare import apart
from webdyno.analyse.estimate import Fit, fit

pytestmark = pytest.mark.slow


def world(
    rng: np.random.Generator, truth: np.ndarray, rounds: int, *, restart: tuple[float, float] = (0.02, 0.05)
) -> Fit:
    luck = rng.uniform(*restart, len(truth))
    drift = np.cumsum(rng.normal(0, 0.02, rounds))
    seconds = rng.normal(0, 0.03 / math.sqrt(2), (len(truth), rounds))
    logs = truth[:, None] + drift[None, :] + rng.normal(0, 1, (len(truth), rounds)) * luck[:, None] + seconds
    made = fit({(f"c{i}", r): math.exp(logs[i, r]) for i in range(len(truth)) for r in range(rounds)})
    assert made is not None
    return made


@pytest.mark.parametrize(("contenders", "rounds"), [(2, 3), (4, 3), (14, 3), (14, 5), (14, 2)])
def test_a_ratio_lies_in_its_interval_95_times_in_100(contenders: int, rounds: int) -> None:
    rng = np.random.default_rng(20_26)
    inside = total = 0
    for _ in range(300):
        truth = rng.normal(9, 0.5, contenders)
        made = world(rng, truth, rounds)
        for other in range(1, min(contenders, 6)):
            ratio = made.ratio("c0", f"c{other}")
            assert ratio.low is not None
            assert ratio.high is not None
            inside += ratio.low <= math.exp(truth[0] - truth[other]) <= ratio.high
            total += 1
    assert 0.925 <= inside / total <= 0.985


@pytest.mark.parametrize("rounds", [3, 5])
def test_a_figure_lies_in_its_interval_when_rounds_differ(rounds: int) -> None:
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(400):
        drift = rng.normal(0, 0.02, rounds)
        cells = {(f"c{i}", r): math.exp(9 + drift[r] + rng.normal(0, 0.03)) for i in range(10) for r in range(rounds)}
        made = fit(cells)
        assert made is not None
        estimate = made.estimate("c0", "per_s")
        assert estimate.low is not None
        assert estimate.high is not None
        inside += estimate.low <= math.exp(9) <= estimate.high
    assert 0.92 <= inside / 400 <= 0.985


def test_among_equals_a_false_claim_is_rare() -> None:
    """The chance of any false "A beats B" in a table of 91 pairs."""
    rng = np.random.default_rng(99)
    names = [f"c{i}" for i in range(14)]
    wrong = sum(bool(apart(world(rng, np.zeros(14), 3), names)) for _ in range(250))
    assert wrong / 250 <= 0.08


def test_differences_of_thirty_percent_are_found_with_three_rounds() -> None:
    rng = np.random.default_rng(5)
    truth = np.arange(14) * -math.log(1.3)
    names = [f"c{i}" for i in range(14)]
    found = [len(apart(world(rng, truth, 3), names)) / 91 for _ in range(60)]
    assert np.mean(found) > 0.97
