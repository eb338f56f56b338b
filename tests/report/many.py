"""A made-up study as large as one gets: a hundred contenders, five numbers of connections, ten rounds."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from tests.analyse.fakes import FINGERPRINT, LOAD, RIG, SECOND, START, histogram, plan, readings, run, slices, spread
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.sample import Slice
from webdyno.model.trial import Plan

LEVELS = (1, 16, 64, 256, 1024)


def many(
    contenders: int = 100, levels: tuple[int, ...] = LEVELS, rounds: int = 10, seconds: int = 10
) -> tuple[Plan, Fingerprint, list[Run]]:
    """Rates that fall by a twentieth from each contender to the next, with noise by the second and by the round."""
    rng = np.random.default_rng(20)
    shapes = [histogram(spread(rng, 1e6 * 1.5**at, 0.4, 500), 20) for at in range(24)]
    runs = []
    for at in range(contenders):
        name = f"framework-{at:03d}-on-a-server"
        for connections in levels:
            load = msgspec.structs.replace(LOAD, connections=connections, duration_s=float(seconds))
            for round_ in range(1, rounds + 1):
                rate = 60_000 * 0.95**at * connections / (connections + 12) * math.exp(rng.normal(0, 0.02))
                made = run(name, rate=rate, round_=round_, load=load, rig=RIG)
                parts = slices([rate * math.exp(rng.normal(0, 0.03)) for _ in range(seconds)])
                runs.append(
                    msgspec.structs.replace(
                        made,
                        slices=[_timed(part, shapes, connections / rate * SECOND, rng) for part in parts],
                        readings=readings(seconds + 1, contender=0.9 + rng.normal(0, 0.02)),
                        steady_end_ns=START + SECOND // 2 + seconds * SECOND,
                        memory_peak_bytes=round((20 + at) * 1e6 * math.exp(rng.normal(0, 0.02))),
                    )
                )
    return plan(runs), FINGERPRINT, runs


def _timed(part: Slice, shapes: list[str], typical_ns: float, rng: np.random.Generator) -> Slice:
    """With one of a few histograms, near what so many connections at such a rate would have."""
    at = round(math.log(max(typical_ns, 1e6) / 1e6, 1.5)) + int(rng.integers(0, 2))
    return msgspec.structs.replace(part, latency_hdr=shapes[min(at, len(shapes) - 1)])
