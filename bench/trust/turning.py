"""Turning: the worlds of ``sharing``, in windows and in blocks of turns at the same machine time, side by side.

Everything after the counts is the analysis itself. ``false`` is as in ``hard``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bench.table import table
from bench.trust import noise
from bench.trust.comparing import MOST as PAIRS
from bench.trust.hard import MARGIN, doubt_of, judged
from bench.trust.sharing import (
    BUSY,
    HOGGED,
    QUIET,
    Contender,
    Kind,
    Machine,
    Sheet,
    by_turns,
    name_of,
    one_by_one,
    seconds_of_block,
    seconds_of_round,
)
from bench.trust.simulated import interval
from webdyno.analyse.additive import Meeting
from webdyno.analyse.change import judge_pairs, looks
from webdyno.analyse.compare import apart, slow_starts_allowed
from webdyno.analyse.doubts.machine import STOLEN
from webdyno.analyse.estimate import Fit, fit
from webdyno.analyse.floors import handicaps
from webdyno.analyse.pairs import Handicaps
from webdyno.analyse.race import Heat, Reserve, judge
from webdyno.model.race import Race

FRESH = 120_000
"""Seeds from here on were used for nothing but to be reported."""
MOST = 8
"""Members of a block."""
PASSES_OF_PAIRS, WINDOW_OF_PAIRS = 48, 80
"""Of 4 s for each start: turns of a slot, longer than those of ``compare``, after leads of 20 ms in five sixths of
them; slots of a window."""
Field = Callable[[noise.Rng], list[Contender]]
Luck = Callable[[noise.Rng, int, int], noise.Logs]


class Seen(NamedTuple):
    """What one experiment came to, by one design."""

    false: bool
    held: int = 0
    of: int = 0
    found: float = math.nan
    half: float = math.nan
    """Half-width of the ratio of the first two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One kind of world; blocks are ``rounds`` rounds, windows as many as that time allows."""

    field: Field
    luck: Luck
    rounds: int = 4
    kind: Kind = BUSY
    fixed: bool = False
    """Where there are more than a block holds, the same ones meet in every round."""
    alone: int = 0
    """The last so many cannot share a block."""


def equals(contenders: int, *, ahead: float = 0.0, stalls: float = 0.0) -> Field:
    """All alike, but for the first, who is ``ahead`` or ``stalls``."""
    first = Contender(log=math.log1p(ahead), stalls=stalls)
    return lambda _: [first, *[Contender()] * (contenders - 1)]


def served_by_the_kernel(contenders: int) -> Field:
    """Equals; the kernel's threads work for the first, which is held for others' work."""
    return lambda _: [Contender(kernel=0.2), *[Contender()] * (contenders - 1)]


def fitful(contenders: int) -> Field:
    """Equals with noise of their own in each turn, from 1 to 60 %."""
    return lambda rng: [Contender(own=float(np.exp(rng.uniform(np.log(0.01), np.log(0.6))))) for _ in range(contenders)]


def luck(of: float) -> Luck:
    """Starts so unlike."""
    return partial(noise.quiet, luck=of)


def worlds() -> dict[str, World]:
    """Tables."""
    slow = partial(noise.slow_starts, share=0.2, slower=0.2)
    unlike = partial(noise.unlike, least=0.005, most=0.10)
    hanging, nine = replace(BUSY, drift=0.05), World(field=equals(9), luck=luck(0.02))
    return {
        "7 equals, starts alike": World(field=equals(7), luck=luck(0.0)),
        "7 equals, starts 2 % unlike": World(field=equals(7), luck=luck(0.02)),
        "7 equals, starts 5 % unlike": World(field=equals(7), luck=luck(0.05)),
        "7, one 10 % faster, starts 2 %": World(field=equals(7, ahead=0.10), luck=luck(0.02)),
        "7, one 5 % faster, starts 1 %, 8 blocks": World(field=equals(7, ahead=0.05), luck=luck(0.01), rounds=8),
        "7 equals, a start in five 20 % slower, 3 blocks": World(field=equals(7), luck=slow, rounds=3),
        "7 equals, starts 0.5 to 10 % unlike, 3 blocks": World(field=equals(7), luck=unlike, rounds=3),
        "7 equals, noise of their own 1 to 60 %, 3 blocks": World(field=fitful(7), luck=luck(0.01), rounds=3),
        "8, one wild, one 5 % faster": World(field=equals(8, ahead=0.05), luck=partial(noise.one_wild, wild=0.25)),
        "7 equals, bursts": World(field=equals(7), luck=luck(0.01), kind=replace(BUSY, bursts=True)),
        "7 equals, a neighbour takes half in bursts": World(field=equals(7), luck=luck(0.01), kind=HOGGED),
        "7 equals, the same nine tenths of the time": World(
            field=equals(7), luck=luck(0.01), kind=replace(HOGGED, hog=0.9)
        ),
        "7, one 10 % faster, a neighbour takes half in bursts": World(
            field=equals(7, ahead=0.10), luck=luck(0.01), kind=HOGGED
        ),
        "7 equals, the same, the kernel works for one": World(
            field=served_by_the_kernel(7), luck=luck(0.01), kind=HOGGED
        ),
        "7 equals, time stolen": World(field=equals(7), luck=luck(0.01), kind=replace(BUSY, theft=True)),
        "7 equals, a quiet machine, starts 1 %, 3 blocks": World(
            field=equals(7), luck=luck(0.01), kind=QUIET, rounds=3
        ),
        "7, one stands still in a tenth of its turns": World(field=equals(7, stalls=0.1), luck=luck(0.01)),
        "14 equals, two blocks drawn in each round": World(field=equals(14), luck=luck(0.02), kind=hanging),
        "16, one 10 % faster, two blocks that never mix": World(
            field=equals(16, ahead=0.10), luck=luck(0.02), kind=hanging, fixed=True
        ),
        "9 equals, three of them alone": replace(nine, alone=3, kind=hanging),
        "9 equals, three of them alone, 3 blocks, starts alike": replace(nine, luck=luck(0.0), alone=3, rounds=3),
        **_pairs(),
    }


def _pairs() -> dict[str, World]:
    """Tables of two, for as long as a comparison may take."""
    return {
        "2 equals, 60 s, starts alike": World(field=equals(2), luck=luck(0.0), rounds=_in_a_minute()),
        "2 equals, 60 s, starts 2 % unlike": World(field=equals(2), luck=luck(0.02), rounds=_in_a_minute()),
        "2 equals, 60 s, starts 5 % unlike": World(field=equals(2), luck=luck(0.05), rounds=_in_a_minute()),
        "2 equals, 60 s, a neighbour takes half in bursts": World(
            field=equals(2), luck=luck(0.01), rounds=_in_a_minute(), kind=HOGGED
        ),
        "2 equals, 60 s, the same, the kernel works for one": World(
            field=served_by_the_kernel(2), luck=luck(0.01), rounds=_in_a_minute(), kind=HOGGED
        ),
        "2, one 5 % faster, 60 s, starts 2 %": World(
            field=equals(2, ahead=0.05), luck=luck(0.02), rounds=_in_a_minute()
        ),
    }


def _in_a_minute() -> int:
    """Blocks of two."""
    return round(60 / seconds_of_block(2))


def cases() -> dict[str, Callable[[int, bool], Seen]]:
    """Every world, by seed and whether it is measured in blocks."""
    tables_ = {name: partial(of_table, world) for name, world in worlds().items()}
    return {
        **tables_,
        "a race of 7, the first 6 % ahead": of_race,
        "compare: equal, starts alike": partial(of_pairs, Contender(), 0.0),
        "compare: equal, starts 2 % unlike": partial(of_pairs, Contender(), 0.02),
        "compare: equal, starts 5 % unlike": partial(of_pairs, Contender(), 0.05),
        "compare: head 5 % slower, starts 2 %": partial(of_pairs, Contender(log=math.log(0.95)), 0.02),
        "compare: head 8 % slower, starts 2 %": partial(of_pairs, Contender(log=math.log(0.92)), 0.02),
        "compare: head stands still in a tenth of its turns": partial(of_pairs, Contender(stalls=0.1), 0.01),
    }


def run(number: int, first: int, only: str = "") -> list[str]:
    """The table, over so many worlds of each kind with seeds from ``first`` on; of those that have ``only`` in their
    name."""
    seeds = range(first, first + number)
    with ProcessPoolExecutor() as pool:
        rows = [
            row_of(name, [list(pool.map(partial(_one, name, blocks), seeds, chunksize=25)) for blocks in (False, True)])
            for name in cases()
            if only in name
        ]
    return [f"{number} worlds each, seeds {first} to {first + number - 1}", "", *table(_HEADS, rows)]


_HEADS = [
    "world",
    *(f"{design}: {what}" for design in ("windows", "blocks") for what in ("false", "held", "+-", "found")),
]


def _one(name: str, blocks: bool, seed: int) -> Seen:
    return cases()[name](seed, blocks)


def row_of(name: str, designs: Sequence[Sequence[Seen]]) -> list[str]:
    """What experiments of one world came to, design by design."""
    cells = []
    for seen in designs:
        wrong, of = sum(each.false for each in seen), sum(each.of for each in seen)
        low, high = interval(wrong, len(seen))
        found = [each.found for each in seen if not math.isnan(each.found)]
        halves = [each.half for each in seen if not math.isnan(each.half)]
        cells += [
            f"{wrong / len(seen):.1%} ({low:.1%} to {high:.1%})",
            f"{sum(each.held for each in seen) / of:.1%}" if of else "-",
            f"{np.median(halves):.1%}" if halves else "-",
            f"{np.mean(found):.0%}" if found else "-",
        ]
    return [name, *cells]


def of_table(world: World, seed: int, blocks: bool) -> Seen:
    """A table of the world, by either design."""
    rng = np.random.default_rng(seed)
    field = world.field(rng)
    machine, sheet = Machine(rng, world.kind), Sheet()
    rounds = world.rounds if blocks else _rounds_of_windows(world, len(field))
    starts = world.luck(rng, len(field), rounds)
    for round_ in range(rounds):
        _measure(machine, world, field, starts[:, round_], round_ + 1, sheet, blocks=blocks)
    made = _fitted(sheet)
    held = _robbed(sheet) if not blocks and world.kind.theft else {}
    truth = np.array([each.truth for each in field])
    seen = judged(made, truth, apart(made, made.names, held))
    return Seen(seen.false, seen.held, seen.of, seen.found, half_width(made))


def _rounds_of_windows(world: World, contenders: int) -> int:
    """In the machine time of the blocks."""
    together = contenders - world.alone
    parts = [len(part) for part in np.array_split(np.arange(together), -(-together // MOST))]
    seconds = math.fsum(map(seconds_of_block, parts)) + seconds_of_round(world.alone)
    return max(2, round(world.rounds * seconds / seconds_of_round(contenders)))


def _measure(
    machine: Machine,
    world: World,
    field: Sequence[Contender],
    starts: noise.Logs,
    round_: int,
    sheet: Sheet,
    *,
    blocks: bool,
) -> None:
    if not blocks:
        one_by_one(machine, field, starts, round_, sheet)
        return
    together = np.arange(len(field) - world.alone)
    drawn = together if world.fixed else machine.rng.permutation(together)
    parts = np.array_split(drawn, -(-len(together) // MOST))
    for number, part in enumerate(parts):
        by_turns(machine, field, starts, round_, 100 * round_ + number, part.tolist(), sheet)
    if world.alone:
        one_by_one(machine, field, starts, round_, sheet, range(len(together), len(field)))
        for at in range(len(together), len(field)):  # they come after the last block, and it is the nearest
            sheet.met[name_of(at), round_] = Meeting(100 * round_ + len(parts) - 1, False)


def _robbed(sheet: Sheet) -> Handicaps:
    """As ``stolen-time`` has it, of windows."""
    names = sorted({name for name, _ in sheet.cells})
    lost = {name: float(np.median([part for (of, _), part in sheet.stolen.items() if of == name])) for name in names}
    about = {name: [doubt_of("stolen-time", {"steal": part})] if part >= STOLEN else [] for name, part in lost.items()}
    return handicaps(about)


def of_race(seed: int, blocks: bool) -> Seen:
    """Which contender is said to beat which, over all looks; all go on to the end."""
    rng, asked = np.random.default_rng(seed), Race(top=1, most_rounds=8)
    field = equals(7, ahead=0.06)(rng)
    machine, sheet, heat = Machine(rng, BUSY), Sheet(), Heat()
    world = World(field=equals(7), luck=luck(0.02))
    starts = world.luck(rng, 7, asked.most_rounds)
    for round_ in range(1, asked.most_rounds + 1):
        on = [at for at in range(7) if heat.active is None or name_of(at) in heat.active]
        if not on:
            break
        if blocks:
            by_turns(machine, field, starts[:, round_ - 1], round_, round_, on, sheet)
        else:
            one_by_one(machine, field, starts[:, round_ - 1], round_, sheet, on)
        if round_ >= asked.least_rounds:
            reserve = Reserve(met=sheet.met, least=sheet.least)
            cells = dict(sorted(sheet.cells.items()))
            heat = judge({"": cells}, {"": heat}, asked, round_ - asked.least_rounds + 1, {"": reserve})[""]
    true = {(name_of(0), name_of(at)) for at in range(1, 7)}
    return Seen(bool(heat.told - true), found=len(heat.told & true) / 6)


def of_pairs(head: Contender, unlike: float, seed: int, blocks: bool) -> Seen:
    """``compare``: pairs of windows, or of turns in a block of two, until a look decides."""
    rng = np.random.default_rng(seed)
    machine, sheet, field = Machine(rng, BUSY), Sheet(), [Contender(), head]
    for pair in range(1, PAIRS + 1):
        starts = rng.normal(0, unlike, 2)
        if blocks:
            by_turns(machine, field, starts, pair, pair, [0, 1], sheet, PASSES_OF_PAIRS, lead=0, turn=1)
        else:
            one_by_one(machine, field, starts, pair, sheet, window=WINDOW_OF_PAIRS)
        if pair in looks(PAIRS):
            base, changed = ([sheet.cells[name_of(at), p] for p in range(1, pair + 1)] for at in (0, 1))
            found = judge_pairs(base, changed, MARGIN, most=PAIRS)
            if found.verdict != "cannot tell":
                break
    truth = head.truth
    said = {"slower": truth < 0, "faster": truth > 0, "cannot tell": True}
    true = said.get(found.verdict, abs(truth) < math.log1p(MARGIN) and slow_starts_allowed(pair) < 1)
    if found.ratio is None or found.ratio.low is None or found.ratio.high is None:
        return Seen(not true)
    low, high = found.ratio.low, found.ratio.high
    right = float(found.verdict == ("slower" if truth < 0 else "same"))
    return Seen(not true, int(low <= math.exp(truth) <= high), 1, right, math.sqrt(high / low) - 1)


def _fitted(sheet: Sheet) -> Fit:
    made = fit(dict(sorted(sheet.cells.items())), met=sheet.met, least=sheet.least)
    if made is None:
        raise ValueError("nothing was measured in this world")
    return made


def half_width(made: Fit) -> float:
    """Of the ratio of the first two."""
    ratio: Any = made.ratio(made.names[0], made.names[1])
    return math.sqrt(ratio.high / ratio.low) - 1 if ratio.low and ratio.high else math.nan
