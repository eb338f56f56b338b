"""The last comparison: the finalists and the baseline in rounds, each round a block that holds each of them once."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from webdyno.conduct.block import LEAST_PASSES, WHOLE_CYCLES, turn_s
from webdyno.design.grid import in_rounds
from webdyno.model.block import Turns
from webdyno.model.trial import Plan, Skipped
from webdyno.session.tryout.bench import TryBench

LEAST_ROUNDS = 3
MOST_ROUNDS = 15
LEAST_S, MOST_S = 1.5, 5.0
"""Steady seconds of one Run."""
IN_TURNS = 1 - Turns().window_share
"""Part of these that turns take."""


def turns_for(cycles_s: Sequence[float]) -> tuple[Turns, float]:
    """How settings take turns that need so long for an answer on each connection, and the steady seconds it takes.

    A slow application gets fewer answers into a turn, down to the fewest that a block allows; then longer Runs.
    """
    usual, mean_s = Turns(), fmean(cycles_s)
    within = IN_TURNS * LEAST_S / LEAST_PASSES / mean_s
    turns = Turns(cycles=min(usual.cycles, max(WHOLE_CYCLES, within)))
    passes_s = LEAST_PASSES * fmean(turn_s(turns, cycle_s) for cycle_s in cycles_s)
    return turns, max(LEAST_S, round(passes_s / IN_TURNS, 1))


def shape(count: int, left_s: float, start_s: float, least_s: float = LEAST_S) -> tuple[int, float]:
    """Rounds and steady seconds for ``count`` settings in ``left_s``, where starting and ending one takes ``start_s``.

    More rounds first, longer ones after: what differs most is one start from the next. What whole rounds leave over
    makes them longer.
    """
    each = left_s / max(count, 1)
    rounds = min(max(int(each / (start_s + least_s)), LEAST_ROUNDS), MOST_ROUNDS)
    return rounds, round(max(least_s, min(each / rounds - start_s, max(MOST_S, least_s))), 1)


def final_plan(
    bench: TryBench,
    names: Sequence[str],
    rounds: int,
    duration_s: float,
    turns: Turns,
    skipped: Sequence[Skipped],
    title: str,
) -> Plan:
    """Rounds of random order, from one seed."""
    load = bench.load(duration_s)
    trials = [bench.trial(name, load, round_) for round_, name in in_rounds(names, rounds, seed=1)]
    return bench.plan(trials, skipped, turns, title=title, question="which server, which settings, for this app?")
