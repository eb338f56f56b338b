"""A made-up study as large as one gets: a hundred contenders, five numbers of connections, ten rounds of 30 seconds.

Its Analysis is that of a small part of it, told of every table: analysing all of it takes minutes, and what is asked of
it here is the size of a page.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from tests.analyse.fakes import FINGERPRINT, LOAD, SECOND, START, histogram, plan, readings, run, slices, spread
from webdyno.analyse import analyse
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.sample import Reading, Slice
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis

LEVELS = (1, 16, 64, 256, 1024)
VARIANTS = 3
"""Different rounds of a cell; the others repeat them, for the page is as large and the making shorter."""


def many(
    contenders: int = 100, levels: tuple[int, ...] = LEVELS, rounds: int = 10, seconds: int = 30
) -> tuple[Plan, Fingerprint, list[Run]]:
    """Rates that fall by a twentieth from each contender to the next, with noise by the second and by the round."""
    rng = np.random.default_rng(20)
    shapes = [histogram(spread(rng, 1e6 * 1.5**at, 0.4, 500), 20) for at in range(24)]
    looks = [_looks(rng, seconds) for _ in range(8)]
    runs = []
    for at in range(contenders):
        for connections in levels:
            rate = 60_000 * 0.95**at * connections / (connections + 12)
            variants = [_slices(rng, rate, connections, shapes, seconds) for _ in range(VARIANTS)]
            base = run(
                f"framework-{at:03d}-on-a-server",
                load=msgspec.structs.replace(LOAD, connections=connections, duration_s=float(seconds)),
                steady_end_ns=START + SECOND // 2 + seconds * SECOND,
            )
            runs += [
                msgspec.structs.replace(
                    base,
                    trial=msgspec.structs.replace(base.trial, id=f"{base.trial.id}{round_}", round=round_),
                    slices=variants[round_ % VARIANTS],
                    readings=looks[(at + round_) % len(looks)],
                    memory_peak_bytes=round((20 + at) * 1e6 * math.exp(rng.normal(0, 0.02))),
                )
                for round_ in range(1, rounds + 1)
            ]
    return plan(runs), FINGERPRINT, runs


def analysed(contenders: int = 100) -> Analysis:
    """What is said of ``many``: one of its tables, measured in brief, told at every level, and all scalings."""
    one = analyse(*many(contenders, levels=(64,), rounds=3, seconds=2))
    few = analyse(*many(1, rounds=3, seconds=2))
    (verdict,), (scaling,) = one.verdicts, few.scalings
    verdicts = [
        msgspec.structs.replace(verdict, connections=level, load=f"{level} connections, keep-alive") for level in LEVELS
    ]
    names = [standing.contender for standing in verdict.standings]
    return msgspec.structs.replace(one, verdicts=verdicts, scalings=[scaling] * len(names))


def _slices(rng: np.random.Generator, rate: float, connections: int, shapes: list[str], seconds: int) -> list[Slice]:
    """Each with one of a few histograms, near what so many connections at such a rate would have."""
    level = rate * math.exp(rng.normal(0, 0.02))
    steps = math.log(max(connections / rate * SECOND, 1e6) / 1e6, 1.5)
    return [
        msgspec.structs.replace(part, latency_hdr=shapes[min(round(steps) + int(rng.integers(0, 2)), len(shapes) - 1)])
        for part in slices([level * math.exp(rng.normal(0, 0.03)) for _ in range(seconds)])
    ]


def _looks(rng: np.random.Generator, seconds: int) -> list[Reading]:
    """CPU and memory that are never level: nothing may be left out of the lines."""
    spent = 0
    made = []
    for look in readings(seconds + 1)[::3]:  # of the contender alone
        spent += int(rng.integers(400_000_000, 500_000_000))
        memory = 60_000_000 + int(rng.integers(0, 20_000_000))
        made.append(msgspec.structs.replace(look, cpu_user_ns=spent // 2, cpu_system_ns=spent // 2, rss_bytes=memory))
    return made
