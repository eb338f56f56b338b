"""Base against head in a made-up world whose truth is known: false alarms, and what is detected.

The world is that of the design: every start has a luck of its own (2 or 4 %), seconds within a run hang together (an
autoregressive 3 % with 0.5, averaged over two seconds), the machine drifts, steps, and has bursts. Seeded.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from webdyno.analyse.change import Change, judge_apart, judge_pairs, looks

WORLDS = 400
MOST = 18


class Sitting:
    """Starts of two revisions, one after the other, on one machine."""

    def __init__(self, seed: int, luck: float, change: float) -> None:
        self.rng = np.random.default_rng(seed)
        self.luck, self.change, self.drift = luck, math.log1p(change), 0.0

    def start(self, *, head: bool) -> float:
        rng = self.rng
        self.drift = 0.995 * self.drift + rng.normal(0, 0.02 * math.sqrt(1 - 0.995**2))
        self.drift += rng.choice([-0.02, 0.02]) if rng.random() < 0.01 else 0.0
        first = rng.normal(0, 0.03)
        seconds = (first + 0.5 * first + math.sqrt(0.75) * rng.normal(0, 0.03)) / 2
        burst = -rng.uniform(0.05, 0.3) if rng.random() < 0.015 else 0.0
        return math.exp(9 + self.drift + rng.normal(0, self.luck) + seconds + burst + self.change * head)

    def judged(self, margin: float = 0.03) -> tuple[Change, int]:
        base: list[float] = []
        head: list[float] = []
        for pairs in sorted(looks(MOST)):
            while len(base) < pairs:
                order = (False, True) if len(base) % 2 == 0 else (True, False)
                got = {which: self.start(head=which) for which in order}
                base.append(got[False])
                head.append(got[True])
            change = judge_pairs(base, head, margin, most=MOST)
            if change.verdict != "cannot tell":
                break
        return change, len(base)


def outcomes(luck: float, change: float, seed: int = 0) -> tuple[Counter[str], float, float]:
    """Shares of verdicts, mean number of pairs, share of intervals that hold the truth."""
    told: Counter[str] = Counter()
    pairs = held = 0
    for world in range(WORLDS):
        found, used = Sitting(1000 * seed + world, luck, change).judged()
        told[found.verdict] += 1
        pairs += used
        assert found.ratio is not None
        assert found.ratio.low is not None
        assert found.ratio.high is not None
        held += found.ratio.low <= 1 + change <= found.ratio.high
    return told, pairs / WORLDS, held / WORLDS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("luck", "change", "slower", "same", "faster"),
    [
        (0.02, 0.00, (0, 0.04), (0.35, 1), (0, 0.04)),
        (0.04, 0.00, (0, 0.045), (0.04, 1), (0, 0.045)),
        (0.02, -0.05, (0.86, 1), (0, 0.02), (0, 0.003)),
        (0.02, -0.08, (0.98, 1), (0, 0), (0, 0)),
        (0.04, -0.08, (0.94, 1), (0, 0.01), (0, 0)),
        (0.02, 0.08, (0, 0), (0, 0), (0.98, 1)),
    ],
)
def test_false_alarms_are_rare_and_slowdowns_found(
    luck: float, change: float, slower: tuple[float, float], same: tuple[float, float], faster: tuple[float, float]
) -> None:
    told, _, held = outcomes(luck, change)
    for verdict, (least, most) in (("slower", slower), ("same", same), ("faster", faster)):
        assert least <= told[verdict] / WORLDS <= most, verdict
    assert held >= 0.93


def test_a_large_change_takes_few_pairs() -> None:
    _, pairs, _ = outcomes(0.02, -0.15)
    assert pairs < 8


@pytest.mark.slow
def test_a_change_between_none_and_the_margin_is_not_called_slower_often() -> None:
    told, _, _ = outcomes(0.01, -0.015)
    assert told["slower"] / WORLDS < 0.2


@pytest.mark.parametrize("most", range(4, 19))
def test_looks_are_from_the_fourth_pair_to_the_last(most: int) -> None:
    assert min(looks(most)) == 4
    assert max(looks(most)) == most
    assert len(looks(most)) <= 5


@pytest.mark.parametrize("share", [1.0, 0.5])
@pytest.mark.parametrize("most", [4, 6, 8, 12, 18])
def test_all_looks_together_spend_no_more_than_they_may(most: int, share: float) -> None:
    """Of a difference, with no margin, where there is none."""
    alarms = np.zeros(600, dtype=bool)
    logs = np.random.default_rng(most).normal(0, 0.03, (len(alarms), most))
    for world, of in enumerate(logs):
        for pairs in sorted(looks(most)):
            found = judge_pairs([1.0] * pairs, list(np.exp(of[:pairs])), 1e-9, share=share, most=most)
            alarms[world] |= found.verdict in ("slower", "faster")
    # three standard errors above the level; drawing in takes a little too
    assert alarms.mean() < 0.05 * share + 3 * math.sqrt(0.05 * share / len(alarms)) + 0.005


def test_a_change_as_large_as_the_margin_is_found_where_it_is_measured_well() -> None:
    rng = np.random.default_rng(5)
    base, head = np.exp(rng.normal(9, 0.004, (2, 12)))
    assert judge_pairs(base, head * 0.973, 0.03, most=12).verdict == "slower"
    assert judge_pairs(base, head * 0.973, 0.03).verdict == "cannot tell"  # by the first design
    assert judge_pairs(base, head * 0.99, 0.03, most=12).verdict == "same"


def test_a_burst_in_one_run_of_a_pair_is_drawn_in() -> None:
    rng = np.random.default_rng(4)
    base = list(np.exp(9 + rng.normal(0, 0.005, 9)))
    head = [value * math.exp(rng.normal(0, 0.005)) for value in base]
    quiet = judge_pairs(base, head, 0.03)
    head[4] *= 0.6
    hit = judge_pairs(base, head, 0.03)
    assert (quiet.verdict, quiet.drawn_in) == ("same", 0)
    assert hit.drawn_in >= 1
    assert hit.verdict != "slower"
    assert hit.ratio is not None
    assert hit.ratio.value == pytest.approx(1, abs=0.01)


def test_the_noise_floor_is_what_equal_revisions_would_show() -> None:
    floors, shown = [], []
    for seed in range(200):
        sitting = Sitting(seed, 0.02, 0)
        base, head = [sitting.start(head=False) for _ in range(13)], [sitting.start(head=False) for _ in range(13)]
        change = judge_pairs(base, head, 0.03)
        assert change.noise_floor is not None
        assert change.ratio is not None
        floors.append(change.noise_floor)
        shown.append(abs(change.ratio.value - 1))
    assert np.mean(np.array(shown) > np.array(floors)) < 0.07


def beyond_the_floor(seed: int, share: float, slower: float) -> bool:
    """Equal revisions, a share of whose starts is slow, until a look decides."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(9, 0.02, (2, MOST)) + np.log1p(-slower) * (rng.random((2, MOST)) < share)
    for pairs in sorted(looks(MOST)):
        change = judge_pairs(*np.exp(logs[:, :pairs]), 0.03, most=MOST)
        if change.verdict != "cannot tell":
            break
    assert change.ratio is not None
    assert change.noise_floor is not None
    return abs(change.ratio.value - 1) > change.noise_floor


@pytest.mark.slow
@pytest.mark.parametrize(("share", "slower"), [(0.1, 0.5), (0.2, 0.15)])
def test_the_noise_floor_holds_where_starts_are_slow_now_and_then(share: float, slower: float) -> None:
    assert np.mean([beyond_the_floor(seed, share, slower) for seed in range(300)]) < 0.07  # 9 to 11 % once


def slow_now_and_then(pairs: int, *slow: int) -> tuple[list[float], list[float]]:
    """Pairs in the numbered of which head is half as fast."""
    rng = np.random.default_rng(2)
    base, head = (list(np.exp(rng.normal(9, 0.004, pairs))) for _ in range(2))
    return base, [value * (0.5 if at in slow else 1.0) for at, value in enumerate(head)]


def test_the_same_takes_six_pairs_none_of_which_was_drawn_in() -> None:
    base, head = slow_now_and_then(18)
    assert judge_pairs(base, head, 0.03).verdict == "same"
    assert judge_apart(base[:6], head[:6], 0.03).verdict == "same"
    assert judge_pairs(base[:5], head[:5], 0.03).verdict == "cannot tell"
    assert judge_apart(base[:5], head[:5], 0.03).verdict == "cannot tell"
    assert judge_pairs(*slow_now_and_then(18, 7), 0.03).verdict == "cannot tell"  # "same" with it drawn in


def test_pairs_far_off_on_one_side_are_not_drawn_in_and_counted() -> None:
    one, two = judge_pairs(*slow_now_and_then(18, 7), 0.03), judge_pairs(*slow_now_and_then(18, 7, 11), 0.03)
    assert (one.drawn_in, one.slow_pairs) == (1, 0)
    assert (two.drawn_in, two.slow_pairs, two.fast_pairs) == (0, 2, 0)
    assert two.ratio is not None
    assert two.ratio.value == pytest.approx(0.5 ** (2 / 18), rel=0.01)
    latency = judge_pairs(*slow_now_and_then(18, 7, 11), 0.03, higher_is_better=False)
    assert (latency.slow_pairs, latency.fast_pairs) == (0, 2)


def test_nothing_is_slower_from_two_starts() -> None:
    assert judge_apart([100.0, 100.1], [50.0, 50.1], 0.03).verdict == "cannot tell"
    assert judge_apart([100.0, 100.1, 100.0], [50.0, 50.1, 50.0], 0.03).verdict == "slower"


def test_for_a_figure_that_should_be_low_more_is_slower() -> None:
    base, head = [10.0, 10.1, 9.9, 10.0, 10.05, 9.95], [12.0, 12.1, 11.9, 12.05, 12.0, 11.95]
    assert judge_pairs(base, head, 0.03).verdict == "faster"
    assert judge_pairs(base, head, 0.03, higher_is_better=False).verdict == "slower"
    assert judge_apart(base, head, 0.03).verdict == "faster"
    assert judge_apart(base, head, 0.03, higher_is_better=False).verdict == "slower"


@pytest.mark.parametrize("tables", [1, 10])
def test_two_sittings_are_told_apart_by_their_rounds(tables: int) -> None:
    rng = np.random.default_rng(11)
    alarms = found = 0
    for _ in range(400):
        base, same = np.exp(rng.normal(9, 0.02, (2, 6)))
        slow = np.exp(rng.normal(9 + math.log(0.9), 0.03, 5))
        alarms += judge_apart(base, same, 0.0, tables=tables).verdict in ("slower", "faster")
        found += judge_apart(base, slow, 0.03, tables=tables).verdict == "slower"
    assert alarms / 400 < 0.08 / tables + 0.01
    assert found / 400 > 0.9 - 0.05 * tables


@pytest.mark.parametrize("number", [0, 1])
def test_too_few_starts_cannot_tell(number: int) -> None:
    for judge in (judge_pairs, judge_apart):
        change = judge([100.0] * number, [50.0] * number, 0.03)
        assert change.verdict == "cannot tell"
        assert (change.ratio is None) == (number == 0)
        assert change.ratio is None or change.ratio.low is None
