"""Noise: what may happen to the starts of servers, as logarithms by contender (down) and round (across).

Each is a kind that has misled us, or may: made up, seeded, and with nothing in it that the analysis knows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Logs = NDArray[np.floating]
Rng = np.random.Generator


def quiet(rng: Rng, contenders: int, rounds: int, *, luck: float = 0.02) -> Logs:
    """Starts alike for all."""
    return rng.normal(0, luck, (contenders, rounds))


def slow_starts(rng: Rng, contenders: int, rounds: int, *, share: float, slower: float, luck: float = 0.01) -> Logs:
    """A part of all starts is slower, whoever's they are."""
    slow = rng.random((contenders, rounds)) < share
    return quiet(rng, contenders, rounds, luck=luck) + slow * math.log1p(-slower)


def unlike(rng: Rng, contenders: int, rounds: int, *, least: float, most: float) -> Logs:
    """Each contender with a noise of its own, from ``least`` to ``most``, evenly in its logarithm."""
    own = np.exp(rng.uniform(math.log(least), math.log(most), contenders))
    return quiet(rng, contenders, rounds, luck=1.0) * own[:, None]


def one_wild(rng: Rng, contenders: int, rounds: int, *, luck: float = 0.01, wild: float = 0.25) -> Logs:
    """The last one's starts differ wildly."""
    own = np.full(contenders, luck)
    own[-1] = wild
    return quiet(rng, contenders, rounds, luck=1.0) * own[:, None]


def bursts(rng: Rng, contenders: int, rounds: int, *, share: float = 0.1) -> Logs:
    """A neighbour takes 5 to 30 % of a run now and then."""
    hit = rng.random((contenders, rounds)) < share
    return quiet(rng, contenders, rounds, luck=0.01) + hit * np.log1p(-rng.uniform(0.05, 0.30, (contenders, rounds)))


def wandering(rng: Rng, contenders: int, rounds: int, *, most: float = 0.10, keep: float = 0.6) -> Logs:
    """The machine's speed wanders from run to run, so that neighbours in time, and whole rounds, hang together."""
    made, speed = quiet(rng, contenders, rounds), rng.normal(0, most)
    for round_ in range(rounds):
        for contender in rng.permutation(contenders):
            speed = keep * speed + most * math.sqrt(1 - keep**2) * rng.normal()
            made[contender, round_] += speed
    return made


def rounds_of(rng: Rng, rounds: int) -> Logs:
    """What is common to a round: the machine drifts."""
    return np.asarray(np.cumsum(rng.normal(0, 0.02, rounds))[None, :])
