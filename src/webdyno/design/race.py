"""Race: three rounds of everything, then only what still decides something (see ``analyse/replay.py``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webdyno.analyse.replay import replay
from webdyno.design import Block, Design
from webdyno.design.blocks import Room, drawn
from webdyno.design.length import expected_s, spent_s
from webdyno.model.rig import Ceiling
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial


def race(plan: Plan, room: Room, ceilings: Sequence[Ceiling] = ()) -> Design:
    """What the race of ``plan`` wants next; ``ceilings`` of the machine it is carried out on."""

    def ahead(runs: Sequence[Run]) -> list[Block]:
        wanted = list(_affordable(plan, replay(plan, runs, ceilings).trials, runs))
        return [*drawn(wanted, plan, room, runs)]

    return ahead


def _affordable(plan: Plan, trials: Sequence[Trial], runs: Sequence[Run]) -> Iterator[Trial]:
    """Those that begin within the budget, as it is reckoned; what is really spent by then is looked at anew."""
    budget_s = plan.race.budget_s if plan.race else None
    so_far_s = spent_s(runs)
    for trial in trials:
        if budget_s is not None and so_far_s > budget_s:
            return
        yield trial
        so_far_s += expected_s(plan, trial)
