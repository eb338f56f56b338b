"""Comparisons drawn from one long study: what `webdyno compare` would have said of base and head."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from bench.trust.studies import Recorded
from webdyno.analyse.change import Judgement
from webdyno.analyse.deciding import decide
from webdyno.analyse.sitting import planned
from webdyno.design.blocks import Room
from webdyno.design.length import spent_s
from webdyno.design.pairs import Pairs, changes_of
from webdyno.model.paired import Paired
from webdyno.model.run import Run

MARGIN = 0.03
MOST = 12
"""As ``compare``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What one comparison came to."""

    verdict: Judgement
    by: str
    """The figure that decided."""
    pairs: int
    seconds: float
    """Of machine time, builds apart."""
    half_width: float
    """Of the ratio, as a part of it; nan: no interval."""


def comparisons(
    recorded: Recorded, pair: tuple[str, str], number: int, budget_s: float, *, equals: bool = False
) -> Iterator[Compared]:
    """So many, each with the rounds in another random order.

    ``equals``: the two are one and the same, so either may be head in any round. Drawn by lot, what they came to differ
    by in all rounds together, which would be in each comparison, is in none.
    """
    chance = random.Random(1)
    by_round: dict[int, list[Run]] = {}
    for run in recorded.runs:
        by_round.setdefault(run.trial.round, []).append(run)
    for _ in range(number):
        order = chance.sample(sorted(by_round), len(by_round))
        rounds = [by_round[round_] for round_ in order]
        yield compared(recorded, pair, [_swapped(each, pair, chance) if equals else each for each in rounds], budget_s)


def compared(recorded: Recorded, pair: tuple[str, str], rounds: Sequence[Sequence[Run]], budget_s: float) -> Compared:
    """One comparison over ``rounds`` in this order, ended as ``compare`` ends it."""
    design = Pairs(
        plan=recorded.plan,
        names=pair,
        asked=Paired(
            load=recorded.plan.trials[0].load,
            margin=MARGIN,
            most=min(MOST, len(rounds)),
            budget_s=budget_s,
            looks="late",
        ),
        room=Room(memory_bytes=None),
    )
    runs: list[Run] = []
    for number, of_round in enumerate(rounds, start=1):
        runs += [
            msgspec.structs.replace(run, trial=msgspec.structs.replace(run.trial, round=number)) for run in of_round
        ]
        made = design.made(runs)
        if made and not design.is_open(made):
            break
    changes = changes_of(made, MARGIN, planned(design.asked, made))
    verdict, by = decide(changes)
    change = changes["rate"]
    low, high = (change.ratio.low, change.ratio.high) if change.ratio is not None else (None, None)
    return Compared(
        verdict=verdict,
        by=by,
        pairs=len(made),
        seconds=sum(spent_s(each.values()) for each in made),
        half_width=math.nan if low is None or high is None else math.sqrt(high / low) - 1,
    )


def _swapped(runs: Sequence[Run], pair: tuple[str, str], chance: random.Random) -> Sequence[Run]:
    """The Runs of a round under each other's names, or not."""
    if chance.random() < 0.5:
        return runs
    other = dict(zip(pair, reversed(pair), strict=True))
    return [
        msgspec.structs.replace(run, trial=msgspec.structs.replace(run.trial, contender=other[run.trial.contender]))
        for run in runs
    ]
