"""Stealing: Runs measured alone while the hypervisor takes time now and then; rates as seen, and as of usual theft.

Everything after the rates is the analysis itself. ``false`` is as in ``hard``; +- is the half-width of the ratio of the
first two.
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
from bench.trust.hard import judged
from bench.trust.turning import Seen, half_width, row_of
from webdyno.analyse.compare import apart
from webdyno.analyse.estimate import fit
from webdyno.analyse.stolen import Loss, read_stolen

FRESH = 240_000
"""Seeds from here on were used for nothing but to be reported."""
Shares = Callable[[noise.Rng, int, int], noise.Logs]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Contenders by rounds, the first of them ``ahead`` of the others, who are equal."""

    shares: Shares
    cost: Callable[[noise.Logs], noise.Logs]
    """Logarithm of speed that shares cost."""
    own: Callable[[noise.Rng, int], noise.Logs] = lambda _, contenders: np.zeros(contenders)
    """Share that each contender brings upon itself."""
    contenders: int = 8
    rounds: int = 3
    ahead: float = 0.0
    luck: float = 0.03


def now_and_then(rng: noise.Rng, contenders: int, rounds: int) -> noise.Logs:
    """Half of all Runs lose next to nothing, the others 3 % on average."""
    busy = rng.random((contenders, rounds)) < 0.5
    return np.minimum(np.where(busy, rng.exponential(0.03, busy.shape), rng.exponential(0.002, busy.shape)), 0.6)


def for_minutes(rng: noise.Rng, contenders: int, rounds: int) -> noise.Logs:
    """The same, for a third of a round at a time, on contenders in random order."""
    order = np.array([rng.permutation(contenders) for _ in range(rounds)]).T
    stretch = -(-contenders // 3)
    each = now_and_then(rng, 3, rounds)
    return np.take_along_axis(each, order // stretch, axis=0) * rng.uniform(0.8, 1.2, order.shape)


def calm(rng: noise.Rng, contenders: int, rounds: int, *, part: float) -> noise.Logs:
    """As ``now_and_then``, but so much of it."""
    return now_and_then(rng, contenders, rounds) * part


def one(_: noise.Rng, contenders: int, *, share: float) -> noise.Logs:
    """The first loses that besides, because it uses much: it is slower for that, wherever it runs."""
    return share * (np.arange(contenders) == 0)


def each(rng: noise.Rng, contenders: int) -> noise.Logs:
    """All have parts in it, unlike ones."""
    return rng.exponential(0.015, contenders)


def always(rng: noise.Rng, contenders: int, rounds: int) -> noise.Logs:
    """Never less than 1 %."""
    return rng.uniform(0.01, 0.09, (contenders, rounds))


def times(cost: float) -> Callable[[noise.Logs], noise.Logs]:
    """So much for all of a core."""
    return lambda shares: cost * shares


def by_root(shares: noise.Logs) -> noise.Logs:
    """The first per cent costs most."""
    return 1.4 * np.sqrt(shares)


def worlds() -> dict[str, World]:
    """By name."""
    return {
        "8 equals, 3 rounds, 1 % costs 4.4 %": World(shares=now_and_then, cost=times(4.4)),
        "8 equals, 3 rounds, 1 % costs 1 %": World(shares=now_and_then, cost=times(1.0)),
        "8 equals, 3 rounds, theft costs nothing": World(shares=now_and_then, cost=times(0.0)),
        "8 equals, 3 rounds, the first per cent costs most": World(shares=now_and_then, cost=by_root),
        "8 equals, 3 rounds, theft for minutes": World(shares=for_minutes, cost=times(4.4)),
        "8 equals, 6 rounds, 1 % costs 4.4 %": World(shares=now_and_then, cost=times(4.4), rounds=6),
        "20 equals, 3 rounds, starts 6 % unlike": World(shares=now_and_then, cost=times(4.4), contenders=20, luck=0.06),
        "8, one 15 % ahead, 3 rounds, 1 % costs 4.4 %": World(shares=now_and_then, cost=times(4.4), ahead=0.15),
        "8 equals, 3 rounds, unlike theft from each": World(shares=partial(calm, part=0.5), own=each, cost=times(4.4)),
        "8 equals, 3 rounds, 1 to 9 % always": World(shares=always, cost=times(4.4)),
        "8 equals, 3 rounds, 5 % taken from one in each": World(
            shares=partial(calm, part=0.2), own=partial(one, share=0.05), cost=times(4.4)
        ),
        "8 equals, 3 rounds, 2 % taken from one in each": World(
            shares=partial(calm, part=0.2), own=partial(one, share=0.02), cost=times(4.4)
        ),
    }


def run(number: int, first: int) -> list[str]:
    """The table, over so many worlds of each kind with seeds from ``first`` on."""
    seeds = range(first, first + number)
    with ProcessPoolExecutor() as pool:
        rows = [
            row_of(name, [list(pool.map(partial(_one, name, usual), seeds, chunksize=25)) for usual in (False, True)])
            for name in worlds()
        ]
    return [f"{number} worlds each, seeds {first} to {first + number - 1}", "", *table(_HEADS, rows)]


_HEADS = ["world", *(f"{how}: {what}" for how in ("as seen", "as usual") for what in ("false", "held", "+-", "found"))]


def _one(name: str, usual: bool, seed: int) -> Seen:
    return of_world(worlds()[name], seed, usual=usual)


def of_world(world: World, seed: int, *, usual: bool) -> Seen:
    """One table. What a contender brings upon itself by what it uses is a part of its truth."""
    rng = np.random.default_rng(seed)
    shares, own = world.shares(rng, world.contenders, world.rounds), world.own(rng, world.contenders)
    shares = shares + own[:, None] * rng.uniform(0.7, 1.3, shares.shape)
    ahead = math.log1p(world.ahead) * (np.arange(world.contenders) == 0)
    truth = ahead - world.cost(own)
    noisy = noise.quiet(rng, world.contenders, world.rounds, luck=world.luck) + noise.rounds_of(rng, world.rounds)
    rates = np.exp(9 + ahead[:, None] + noisy - world.cost(shares))
    names = [f"c{at:02}" for at in range(world.contenders)]
    more: dict[tuple[str, int], float] = {}
    if usual:
        rows = zip(names, rates, shares, strict=True)
        theft = read_stolen((name, list(map(Loss, *of, range(world.rounds)))) for name, *of in rows)
        if theft.cost:
            rates = rates / np.array(
                [[theft.speed(name, share) for share in of] for name, of in zip(names, shares, strict=True)]
            )
            more = {(name, r): world.rounds * theft.variance(name) for name in names for r in range(world.rounds)}
    made = fit(
        {(name, r): float(rates[at, r]) for at, name in enumerate(names) for r in range(world.rounds)}, more=more
    )
    if made is None:
        raise ValueError("nothing was measured in this world")
    seen = judged(made, truth, apart(made, made.names))
    return Seen(seen.false, seen.held, seen.of, seen.found, half_width(made))
