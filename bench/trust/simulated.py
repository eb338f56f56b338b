"""Simulated: the race and the grid of study wsgi's original in made-up worlds whose truth is known. Measures nothing,
needs minutes.

Rates are simulated, everything after them is the race's own code. The grid is that design as it was published:
four times 30 s of everything, one contender after another, the highest and the lowest dropped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from bench.table import table
from bench.trust.worlds import LEVELS, World, grid, race
from webdyno.analyse.estimate import fit
from webdyno.analyse.race import Heat
from webdyno.analyse.rank import top_group
from webdyno.model.race import Race

FRESH = 6000
"""Seeds from here on were used for nothing but to be reported. The design was chosen on seeds 0 to 199, and mended for
what 5000 to 5199 showed."""
WINDOWS_S = (1.0, 1.5, 2.0)
FAR = math.log1p(0.05)
NEAR = math.log1p(0.02)
Matrix = NDArray[np.floating]
"""Log rates: contenders down, levels across."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One design in one world; shares are over the world's tables."""

    seconds: float
    in_order: float
    """Share of the pairs more than 5 % apart that stand in their right order."""
    near_best: float
    """Share of the tables whose first is within 2 % of the truly best."""
    tau: float
    """Kendall's, with the truth."""
    tau_of_grid: float = math.nan
    """Kendall's, with what the grid found in another sitting of the same world."""
    holds_best: float = math.nan
    """Share of the tables whose top group holds the truly best."""
    holds_first: float = math.nan
    """The same of the grid's first."""
    top: float = math.nan
    """How many are in the top group."""
    claims: int = 0
    false: int = 0
    """Claims that are not true; for the grid, who claims nothing, none."""


def run(worlds: int, first: int) -> list[str]:
    """The tables, over so many worlds with seeds from ``first`` on."""
    seeds = range(first, first + worlds)
    with ProcessPoolExecutor() as pool:
        grids = list(pool.map(of_grid, seeds, chunksize=8))
        rows = [
            _row("wsgi's grid", grids),
            _row("wsgi's grid once more", list(pool.map(of_grid_again, seeds, chunksize=8))),
        ]
        wrong = []
        for window_s in WINDOWS_S:
            found = list(pool.map(partial(of_race, Race(), window_s=window_s), seeds, chunksize=8))
            rows.append(_row(f"race, {window_s:g} s windows", found, grids))
            wrong.append(_wrongly(f"the same worlds, {window_s:g} s windows", [each.false > 0 for each in found]))
        whole = partial(of_race, Race(top=None), window_s=1.5)
        rows.append(_row("race for the whole order, 1.5 s", list(pool.map(whole, seeds, chunksize=8)), grids))
        wrong += [
            _falsely("starts up to 10 % apart", pool, seeds, 1.5, restart=0.10),
            _falsely("all equal", pool, seeds, 1.5, equal=True),
            _falsely("all equal, starts up to 10 % apart", pool, seeds, 1.5, equal=True, restart=0.10),
            _falsely("two contenders, equal", pool, seeds, 1.5, equal=True, contenders=2),
            _falsely("six contenders, equal", pool, seeds, 1.5, equal=True, contenders=6),
            _falsely("JITs given the warm-up of all", pool, seeds, 1.5, settling=0.0),
        ]
    return [
        f"{worlds} worlds, seeds {first} to {first + worlds - 1}",
        "",
        *table(_HEADS, rows),
        "",
        *table(["race in", "worlds", "with a false claim", "95 % interval", "goal"], wrong),
    ]


_HEADS = [
    "design",
    "seconds",
    "times less",
    "pairs > 5 % apart in order",
    "first within 2 %",
    "tau, truth",
    "tau, grid",
    "top group holds the best",
    "holds the grid's first",
    "size",
]


def of_race(asked: Race, seed: int, *, window_s: float, settling: float = 2.5, **about: Any) -> Outcome:
    """The race in the world of ``seed``; ``about`` goes to ``World``."""
    world = World(seed, **about)
    heats = race(world, asked, window_s=window_s, settling=settling)
    told = figures(world)
    other = grid(World(seed, again=1, **about))
    groups = [_top(world, told, level, heats[level]) for level in range(LEVELS)]
    return Outcome(
        seconds=world.seconds,
        in_order=in_order(world.truth, told),
        near_best=near_best(world.truth, told),
        tau=tau(world.truth, told),
        tau_of_grid=tau(other, told),
        holds_best=_held(world, groups, world.truth),
        holds_first=_held(world, groups, other),
        top=float(np.mean([len(group) for group in groups])),
        claims=sum(len(heat.told) for heat in heats.values()),
        false=false_claims(world, heats),
    )


def of_grid(seed: int, again: int = 1) -> Outcome:
    """The grid in the world of ``seed``, in a sitting of its own."""
    world = World(seed, again=again)
    told = grid(world)
    return Outcome(
        seconds=world.seconds,
        in_order=in_order(world.truth, told),
        near_best=near_best(world.truth, told),
        tau=tau(world.truth, told),
    )


def of_grid_again(seed: int) -> Outcome:
    """A second sitting of the grid, held against the first: as much as it agrees with itself."""
    world = World(seed, again=2)
    told, other = grid(world), grid(World(seed, again=1))
    return Outcome(
        seconds=world.seconds,
        in_order=in_order(world.truth, told),
        near_best=near_best(world.truth, told),
        tau=tau(world.truth, told),
        tau_of_grid=tau(other, told),
    )


def figures(world: World) -> Matrix:
    """What the report would show of the rates that ``world`` has measured."""
    made = np.zeros_like(world.truth)
    for level, cells in world.tables.items():
        fitted = fit(cells)
        if fitted is None:
            raise ValueError("nothing was measured in this world")
        made[:, level] = [fitted.logs[fitted.names.index(name)] for name in world.names]
    return made


def in_order(truth: Matrix, told: Matrix) -> float:
    """Share of the pairs more than 5 % apart that stand in their right order; 1 where there are none."""
    far = truth[:, None] - truth[None] > FAR
    return float(((told[:, None] > told[None]) & far).sum() / far.sum()) if far.any() else 1.0


def near_best(truth: Matrix, told: Matrix) -> float:
    """Share of the tables whose first is within 2 % of the truly best."""
    loss = truth.max(axis=0) - truth[told.argmax(axis=0), np.arange(LEVELS)]
    return float((loss < NEAR).mean())


def tau(one: Matrix, other: Matrix) -> float:
    """Kendall's tau (1938, A new measure of rank correlation), the mean over the tables; there are no ties."""
    pairs = len(one) * (len(one) - 1)
    both = np.sign(one[:, None] - one[None]) * np.sign(other[:, None] - other[None])
    return float((both.sum(axis=(0, 1)) / pairs).mean())


def false_claims(world: World, heats: Mapping[int, Heat]) -> int:
    """How many claims of "the first beats the second" are not true."""
    truth = {(name, level): world.truth[at, level] for at, name in enumerate(world.names) for level in heats}
    return sum(truth[one, level] <= truth[other, level] for level, heat in heats.items() for one, other in heat.told)


def interval(hits: int, of: int) -> tuple[float, float]:
    """95 % of a share (C. J. Clopper, E. S. Pearson 1934, The use of confidence or fiducial limits. Biometrika 26)."""
    low = 0.0 if hits == 0 else float(betaincinv(hits, of - hits + 1, 0.025))
    high = 1.0 if hits == of else float(betaincinv(hits + 1, of - hits, 0.975))
    return low, high


def _top(world: World, told: Matrix, level: int, heat: Heat) -> list[str]:
    ordered = [world.names[at] for at in np.argsort(-told[:, level], kind="stable")]
    return top_group(ordered, {frozenset(pair) for pair in heat.told})


def _held(world: World, groups: Sequence[Sequence[str]], by: Matrix) -> float:
    return float(np.mean([world.names[int(by[:, level].argmax())] in groups[level] for level in range(LEVELS)]))


def _row(name: str, found: Sequence[Outcome], grids: Sequence[Outcome] = ()) -> list[str]:
    def mean(field: str) -> float:
        return float(np.mean([getattr(each, field) for each in found]))

    less = sum(each.seconds for each in grids) / sum(each.seconds for each in found) if grids else math.nan
    return [
        name,
        f"{mean('seconds'):,.0f}",
        _or_dash(less, ".2f"),
        f"{mean('in_order'):.2%}",
        f"{mean('near_best'):.1%}",
        f"{mean('tau'):.3f}",
        _or_dash(mean("tau_of_grid"), ".3f"),
        _or_dash(mean("holds_best"), ".1%"),
        _or_dash(mean("holds_first"), ".1%"),
        _or_dash(mean("top"), ".1f"),
    ]


def _falsely(name: str, pool: ProcessPoolExecutor, seeds: range, window_s: float, **about: Any) -> list[str]:
    return _wrongly(name, list(pool.map(partial(_false_in, window_s, about), seeds, chunksize=8)))


def _wrongly(name: str, found: Sequence[bool]) -> list[str]:
    wrong = sum(found)
    low, high = interval(wrong, len(found))
    return [name, str(len(found)), f"{wrong} ({wrong / len(found):.1%})", f"{low:.1%} to {high:.1%}", "at most 5%"]


def _false_in(window_s: float, about: Mapping[str, Any], seed: int) -> bool:
    """Whether the race claims anything false in the world of ``seed``."""
    settling = about.get("settling", 2.5)
    world = World(seed, **{key: value for key, value in about.items() if key != "settling"})
    return false_claims(world, race(world, Race(), window_s=window_s, settling=settling)) > 0


def _or_dash(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)
