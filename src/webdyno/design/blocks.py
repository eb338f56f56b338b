"""Blocks: which contenders can be alive at the same time and take turns, why the others cannot, and who meets whom.

A turn is short, so an answer must be much shorter; servers rest with their connections open, so there must be room for
all of them; and one that works while it rests takes from its neighbours. All others are measured alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from webdyno.model.block import AT_REST, Turns
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial

DRIVER = "engine"
"""The only one that takes turns."""
LONGEST_ANSWER_MS = 20.0
"""Of a handler that waits: a turn has to hold a good many of its answers, or it measures its own edges."""
MOST_CONNECTIONS = 8192
"""Of all contenders of a block together: each end of one takes a file and some kilobytes."""
MEMORY_SHARE = 0.8
"""Of the memory that is free when a block is drawn; the rest stays for the machine."""
GUESSED_BYTES = 512 * 2**20
"""What a contender may take where nothing limits it."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """What a machine has for contenders side by side."""

    memory_bytes: int | None
    """Free; None: unknown."""
    kept: Mapping[str, str] = field(default_factory=dict)
    """Contenders known to be unable to share, by name, with the reason: from Runs before, or from how they are made."""


def why_alone(trial: Trial, plan: Plan, room: Room) -> str | None:
    """Why the contender of ``trial`` takes no turns beside others; None: it can."""
    if plan.in_place:
        return "each server is started once for all its rounds"
    if plan.turns is None:
        return "the plan asks for it"
    if trial.driver != DRIVER:
        return f"{trial.driver} cannot take turns"
    return (
        _load_alone(trial.load)
        or _workload_alone(plan.workloads[trial.workload].floor_ms)
        or room.kept.get(trial.contender)
    )


def _load_alone(load: Load) -> str | None:
    if load.alone:
        return "the study asks for it"
    if load.is_open:
        return "an open load has its own schedule, which turns would interrupt"
    if load.connection_stages:
        return "its number of connections changes"
    if load.duration_s is None:
        return "its load is a number of requests, not a length of time"
    if load.drivers > 1:
        return "several drivers begin at one instant, and turns are too short for that"
    if load.opening_s > load.timeout_s:  # turns begin when all are open, and who opened first would have timed out
        return f"its connections are opened over {load.opening_s:g} s, more than its time-out of {load.timeout_s:g} s"
    if 2 * load.connections > MOST_CONNECTIONS:
        return f"two of {load.connections} connections are more than the {MOST_CONNECTIONS} of a block"
    return None


def _workload_alone(floor_ms: float) -> str | None:
    if floor_ms > LONGEST_ANSWER_MS:
        return f"an answer takes {floor_ms:g} ms at least, and a turn is too short for that"
    return None


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """Who will be measured beside others, as far as a Plan and a machine tell before."""

    beside: Sequence[str]
    """Contenders that take turns, wherever they can."""
    most: int
    """As many of them at a time, at most; 0: nobody takes turns."""
    alone: Mapping[str, Sequence[str]]
    """Why contenders are measured alone, in some of their tables at least, and which."""


def sharing(plan: Plan, room: Room) -> Sharing:
    """Of the contenders of ``plan``, in the order of its first round."""
    beside: dict[str, None] = {}
    alone: dict[str, dict[str, None]] = {}
    most, together = 0, dict[object, list[Trial]]()
    for trial in (trial for trial in plan.trials if trial.round == 1):
        if (why := why_alone(trial, plan, room)) is None:
            together.setdefault(_table(trial), []).append(trial)
        else:
            alone.setdefault(why, {})[trial.contender] = None
    for table in together.values():
        names, at_most = dict.fromkeys(trial.contender for trial in table), _most(table[0], plan, room)
        if len(table) < 2 or at_most < 2:
            lonely = (
                "no other contender has the same requests" if len(table) < 2 else "there is no room for two at a time"
            )
            alone.setdefault(lonely, {}).update(names)
        else:
            beside.update(names)
            most = max(most, -(-len(table) // _number(table, at_most)))
    return Sharing(beside=list(beside), most=most, alone={why: list(names) for why, names in alone.items()})


def restless(runs: Iterable[Run]) -> dict[str, str]:
    """Contenders that did not rest in Runs before, or had to be measured alone after all: name and reason."""
    found: dict[str, str] = {}
    for run in runs:
        if run.rest is not None and run.rest.cores > AT_REST:
            found[run.trial.contender] = f"it uses {100 * run.rest.cores:.1f} % of a core while it rests"
        elif run.set_aside:
            found[run.trial.contender] = run.set_aside
    return found


def members(turns: Turns, load: Load, memory_bytes: int | None, room: Room) -> int:
    """How many contenders of such a ``load``, with ``memory_bytes`` as their limit, there is room for at a time."""
    by_connections = MOST_CONNECTIONS // load.connections
    each = memory_bytes or GUESSED_BYTES
    by_memory = turns.members if room.memory_bytes is None else int(MEMORY_SHARE * room.memory_bytes) // each
    return min(turns.members, by_connections, by_memory)


def draw(trials: Sequence[Trial], plan: Plan, room: Room) -> list[list[Trial]]:
    """``trials``, all of one round, as blocks: together those of one table that can share, drawn by the plan's seed.

    More than fit are dealt out evenly, in another way in each round, so that sooner or later everybody meets. The
    blocks come in the order in which the first of each stands in ``trials``.
    """
    together: dict[object, list[Trial]] = {}
    blocks: list[list[Trial]] = []
    for trial in trials:
        if why_alone(trial, plan, room) is None:
            together.setdefault(_table(trial), []).append(trial)
        else:
            blocks.append([trial])
    for table in together.values():
        blocks += _dealt(table, plan, room)
    place = {trial.id: at for at, trial in enumerate(trials)}
    return sorted(blocks, key=lambda block: min(place[trial.id] for trial in block))


def drawn(trials: Sequence[Trial], plan: Plan, room: Room, runs: Sequence[Run]) -> list[list[Trial]]:
    """As ``draw``, by what ``runs`` have shown of who can share."""
    return draw(trials, plan, replace(room, kept={**room.kept, **restless(runs)}))


def _table(trial: Trial) -> object:
    """Those of one table are asked the same, by the same driver."""
    return trial.workload, trial.load, trial.driver


def _most(first: Trial, plan: Plan, room: Room) -> int:
    """Of contenders of a table at a time."""
    return 1 if plan.turns is None else members(plan.turns, first.load, plan.memory_bytes, room)


def _number(table: Sequence[Trial], most: int) -> int:
    """Of blocks that a table is dealt to."""
    return -(-len(table) // most)


def _dealt(table: Sequence[Trial], plan: Plan, room: Room) -> list[list[Trial]]:
    first, most = table[0], _most(table[0], plan, room)
    if most < 2 or len(table) < 2:
        return [[trial] for trial in table]
    number = _number(table, most)
    chance = random.Random(f"{plan.seed}/{first.round}/{first.workload}/{first.load.label}")  # noqa: S311 - repeatable
    order, place = chance.sample(list(table), len(table)), {trial.id: at for at, trial in enumerate(table)}
    return [sorted(order[at::number], key=lambda trial: place[trial.id]) for at in range(number)]
