"""Fleet: which host measures what next, where several hosts have contenders.

What is compared is measured on one host: a *batch* goes to a host whole. It is a block of contenders that take turns;
or, of those that are measured alone, one round of a table; or, in place, all rounds of it. Where a round has both,
those alone go with one of its blocks, for they are compared with it. A host has one batch at a time. All batches of a
round are handed out before those of the next, so that what was measured is a study whenever it ends. A host gets a
table that it had least often, so that no table is the matter of one host; then the longest, so that hosts end
together.

Pure, and everything follows from what is known: what a lost host did not finish is simply not done yet. The session
and the simulation in ``bench/fleet.py`` ask the same functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from webdyno.design import Block
from webdyno.design.blocks import Room, drawn
from webdyno.design.length import expected_s
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial

Table = tuple[str, Load, str]
"""Workload, load, driver."""
Batch = Sequence[Block]
"""Blocks that one host carries out, one after the other."""
Had = Mapping[tuple[str, int], int]
"""Batches of a table, by its number, that a host was given."""
MOST_LOSSES = 3
"""Hosts that may be lost with a Trial in flight. After that it may be the Trial that ends them, and is left undone."""


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """What stays the same while a fleet shares a plan."""

    plan: Plan
    room: Room
    """Of the host that has least."""
    tables: Mapping[Table, int]
    """Their numbers."""
    table_of: Mapping[str, int]
    """The same by the id of each Trial: a Load takes long to hash, and hosts are many."""
    seconds: Mapping[int, float]
    """Of a Trial of each table, as expected."""

    def table(self, trial: Trial) -> int:
        """The number of its table, also where the Trial came to the plan later."""
        found = self.table_of.get(trial.id)
        return self.tables[trial.workload, trial.load, trial.driver] if found is None else found


def sharing_of(plan: Plan, room: Room) -> Sharing:
    """How a fleet shares ``plan``."""
    numbers: dict[Table, int] = {}
    table_of = {
        trial.id: numbers.setdefault((trial.workload, trial.load, trial.driver), len(numbers)) for trial in plan.trials
    }
    firsts = {table_of[trial.id]: trial for trial in reversed(plan.trials)}
    seconds = {table: expected_s(plan, trial) for table, trial in firsts.items()}
    return Sharing(plan=plan, room=room, tables=numbers, table_of=table_of, seconds=seconds)


def hand_out(
    sharing: Sharing, runs: Sequence[Run], wanted: Iterable[Trial], free: Sequence[str], had: Had
) -> dict[str, Batch]:
    """What each host that is ``free`` does next; a host for which nothing is left is not in it.

    ``wanted``: Trials that are neither done nor in flight, in the order of the plan. ``runs`` say who can share.
    """
    plan = sharing.plan
    given: dict[str, Batch] = {}
    waiting, counts = list(free), Counter(had)
    for _, trials in groupby(wanted, key=lambda trial: 0 if plan.in_place else trial.round):
        if not waiting:
            break
        tables: dict[int, list[Trial]] = {}
        for trial in trials:
            tables.setdefault(sharing.table(trial), []).append(trial)
        while tables and waiting:
            host = waiting.pop(0)
            table = min(tables, key=lambda table: (counts[host, table], -sharing.seconds[table]))
            given[host] = _batch(drawn(tables[table], plan, sharing.room, runs))
            counts[host, table] += 1
            taken = {trial.id for block in given[host] for trial in block}
            if not (left := [trial for trial in tables.pop(table) if trial.id not in taken]):
                continue
            tables[table] = left
    return given


def _batch(blocks: Sequence[Block]) -> Batch:
    """Of the ``blocks`` of a table, what the next host gets."""
    alone = [block for block in blocks if len(block) == 1]
    return [*[block for block in blocks if len(block) > 1][:1], *alone]


def worth_doing(trials: Iterable[Trial], in_flight: Collection[str], losses: Mapping[str, int]) -> Iterator[Trial]:
    """Those of ``trials``, which are not done, that a host may be given. ``losses``: hosts that were lost with each."""
    return (trial for trial in trials if trial.id not in in_flight and losses.get(trial.id, 0) < MOST_LOSSES)
