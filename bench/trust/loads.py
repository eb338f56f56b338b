"""Loads: one contender's figure under one load divided by that under another, by itself and beside others' ratios.

Everything after the rates is the analysis itself. ``false``: the interval of the first contender's ratio does not hold
the truth; +- is the half-width of that interval, and found is how often a ratio of 0.8 is distinguished from 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from bench.table import table
from bench.trust import noise
from bench.trust.turning import Seen, row_of
from webdyno.analyse.additive import Meeting
from webdyno.analyse.estimate import Contrast, fit

FRESH = 270_000
"""Seeds from here on were used for nothing but to be reported."""
LOSS = math.log(0.8)
Starts = Callable[[noise.Rng, int, int], noise.Logs]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Contenders by rounds, under two loads; the first serves 0.8x under one of what it serves under the other."""

    one: Starts
    other: Starts
    """Under this load each contender is measured alone."""
    contenders: int = 8
    rounds: int = 3
    blocks: int = 0
    """So many in each round under the first load; 0: each contender is measured alone."""
    block: float = 0.15
    """Standard deviation of what a block has in common."""
    of_load: float = 0.0
    """Standard deviation of what a round does to one load and not to the other."""


def worlds() -> dict[str, World]:
    """By name."""
    alone = partial(noise.quiet, luck=0.15)
    turns = partial(noise.quiet, luck=0.03)
    unlike = partial(noise.unlike, least=0.03, most=0.3)
    return {
        "alone, 2 contenders": World(one=alone, other=alone, contenders=2),
        "alone, 3 contenders": World(one=alone, other=alone, contenders=3),
        "alone, 5 contenders, 4 rounds": World(one=alone, other=alone, contenders=5, rounds=4),
        "alone, 8 contenders": World(one=alone, other=alone),
        "alone, 8 contenders, 9 rounds": World(one=alone, other=alone, rounds=9),
        "alone, 8 of unlike noise": World(one=unlike, other=unlike),
        "alone, one of 8 wild": World(one=noise.one_wild, other=noise.one_wild),
        "alone, 8, slow starts": World(one=partial(noise.slow_starts, share=0.2, slower=0.3), other=alone),
        "alone, 8, machine wanders": World(one=noise.wandering, other=noise.wandering),
        "alone, 8, rounds do as much to one load": World(one=alone, other=alone, of_load=0.15),
        "alone, 8, rounds do three times that": World(one=turns, other=turns, of_load=0.15),
        "turns over alone, 8 in one block": World(one=turns, other=alone, blocks=1),
        "turns over alone, 8 in two blocks": World(one=turns, other=alone, blocks=2),
        "turns over alone, 16 in three blocks": World(one=turns, other=alone, contenders=16, blocks=3),
        "turns over alone, two blocks, 6 rounds": World(one=turns, other=alone, blocks=2, rounds=6),
    }


def run(number: int, first: int) -> list[str]:
    """The table, over so many worlds of each kind with seeds from ``first`` on."""
    seeds = range(first, first + number)
    with ProcessPoolExecutor() as pool:
        rows = [
            row_of(name, [list(pool.map(partial(_one, name, way), seeds, chunksize=25)) for way in (by_itself, beside)])
            for name in worlds()
        ]
    return [f"{number} worlds each, seeds {first} to {first + number - 1}", "", *table(_HEADS, rows)]


_HEADS = [
    "world",
    *(f"{how}: {what}" for how in ("by itself", "beside others") for what in ("false", "held", "+-", "found")),
]
Rates = tuple[noise.Logs, noise.Logs, noise.Logs]
"""Logarithms under either load, and the block of each under the first; contenders down, rounds across."""


def _one(name: str, way: Callable[[Rates, World], list[Contrast | None]], seed: int) -> Seen:
    world = worlds()[name]
    told = way(rates_of(world, np.random.default_rng(seed)), world)
    truth = [LOSS, *(0.0 for _ in told[1:])]
    held = [abs(each.log - at) <= each.reach(0.975) for each, at in zip(told, truth, strict=True) if each is not None]
    first = told[0]
    if first is None:
        return Seen(False, sum(held), len(held), math.nan, math.nan)
    reach = first.reach(0.975)
    return Seen(not held[0], sum(held), len(held), float(first.log + reach < 0), math.expm1(reach))


def rates_of(world: World, rng: noise.Rng) -> Rates:
    """A table under each load."""
    one, other = (of(rng, world.contenders, world.rounds) for of in (world.one, world.other))
    drift = noise.rounds_of(rng, world.rounds)
    blocks = np.full(one.shape, -1)
    if world.blocks:
        order = np.array([rng.permutation(world.contenders) for _ in range(world.rounds)]).T
        blocks = order % world.blocks + 1
        one = one + rng.normal(0, world.block, (world.blocks + 1, world.rounds))[blocks, np.arange(world.rounds)]
    one = one + LOSS * (np.arange(world.contenders) == 0)[:, None] + rng.normal(0, world.of_load, world.rounds)
    return one + drift, other + drift, blocks


def by_itself(rates: Rates, _: World) -> list[Contrast | None]:
    """Each as a comparison of two, as if nobody else had been measured."""
    one, other = rates[:2]
    told = []
    for mine, its in zip(one, other, strict=True):
        cells = {(side, at): math.exp(log) for side, logs in (("0", mine), ("1", its)) for at, log in enumerate(logs)}
        made = fit(cells)
        told.append(made.contrast("0", "1") if made else None)
    return told


def beside(rates: Rates, world: World) -> list[Contrast | None]:
    """Each beside the ratios of all others, as ``analyse.across`` has it."""
    one, other, blocks = rates
    names = [f"c{at:02}" for at in range(world.contenders)]
    keys = [(at, round_) for at in range(world.contenders) for round_ in range(world.rounds)]
    met = {(names[at], r): Meeting(int(blocks[at, r]), in_turns=True) for at, r in keys} if world.blocks else {}
    made = fit({(names[at], r): math.exp(one[at, r] - other[at, r]) for at, r in keys}, met=met)
    return [made.level(name) if made else None for name in names]
