"""The last comparison: the finalists and the baseline in rounds, each round holding each of them once."""

from __future__ import annotations

from collections.abc import Sequence

from webdyno.commands.trying.bench import TryBench
from webdyno.design.grid import in_rounds
from webdyno.model.trial import Plan, Skipped

LEAST_ROUNDS = 3
MOST_ROUNDS = 15
LEAST_S, MOST_S = 1.5, 5.0
"""Steady seconds of one Run."""


def shape(count: int, left_s: float, start_s: float, least_s: float = LEAST_S) -> tuple[int, float]:
    """Rounds and steady seconds for ``count`` settings in ``left_s``, where starting and ending one takes ``start_s``.

    More rounds first, longer ones after: what differs most is one start from the next. What whole rounds leave over
    makes them longer.
    """
    each = left_s / max(count, 1)
    rounds = min(max(int(each / (start_s + least_s)), LEAST_ROUNDS), MOST_ROUNDS)
    return rounds, round(max(least_s, min(each / rounds - start_s, max(MOST_S, least_s))), 1)


def final_plan(
    bench: TryBench, names: Sequence[str], rounds: int, duration_s: float, skipped: Sequence[Skipped], title: str
) -> Plan:
    """Rounds of random order, from one seed."""
    load = bench.load(duration_s)
    trials = [bench.trial(name, load, round_) for round_, name in in_rounds(names, rounds, seed=1)]
    return bench.plan(trials, skipped, title=title, question="which server, which settings, for this app?")
