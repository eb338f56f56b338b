"""Undecidable: what more rounds of a race cannot tell, whatever they find.

Two kinds: contenders that will not be ranked, because a doubt voids their figures; and pairs whose order is not theirs,
because the load generator, or the service behind both, held both back: each is as fast as it was measured, or faster.
Where it was the hypervisor, more rounds may tell, so such pairs stay open.
The rules are those of the report. One of them (Little's law on measured latencies) needs histograms, which a race does
not read at each look; it speaks in the report alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

from webdyno.analyse.blocks import least_variances, meetings
from webdyno.analyse.doubts.again import ran_again
from webdyno.analyse.doubts.answers import dead_cell, fell_silent, wrong_answers
from webdyno.analyse.doubts.cached import cached_service
from webdyno.analyse.doubts.connections import starved_connections
from webdyno.analyse.doubts.driver import generator_bound
from webdyno.analyse.doubts.fairness import builds_differ
from webdyno.analyse.doubts.figures import few_answers, part_of_phase
from webdyno.analyse.doubts.machine import stolen_time
from webdyno.analyse.doubts.physics import impossible_rate
from webdyno.analyse.doubts.service_bound import service_bound
from webdyno.analyse.doubts.warming import cold_compiler, still_climbing
from webdyno.analyse.floors import handicaps, is_open_upwards
from webdyno.analyse.race import Reserve
from webdyno.analyse.steps import steps_of
from webdyno.analyse.table import Cell
from webdyno.model.doubt import Doubt

RULES: tuple[Callable[[Cell], Doubt | None], ...] = (
    impossible_rate,
    builds_differ,
    ran_again,
    part_of_phase,
    cached_service,
    wrong_answers,
    dead_cell,
    fell_silent,
    starved_connections,
    generator_bound,
    stolen_time,
    cold_compiler,
    still_climbing,
    service_bound,
    few_answers,
)
"""Every rule about a contender that can void its figures, or make its rate a floor."""
_LUCK = "stolen-time"
"""The one floor that another round may lift."""


def reserve_of(cells: Sequence[Cell]) -> Reserve:
    """What is known of a table besides its rates, by what ``cells`` hold so far."""
    about = {cell.name: [doubt for rule in RULES if (doubt := rule(cell)) is not None] for cell in cells}
    lasting = {name: [doubt for doubt in doubts if doubt.kind != _LUCK] for name, doubts in about.items()}
    windows = [window for cell in cells for window in cell.windows]
    rates = {cell.name: cell.median(lambda window: window.rate_per_s) or 0.0 for cell in cells}
    return Reserve(
        barred=frozenset(name for name, doubts in about.items() if any(each.severity == "voids" for each in doubts)),
        moot=frozenset(
            frozenset((one, other))
            for one, other in combinations(lasting, 2)
            if _is_open(lasting[one], lasting[other], rates[one], rates[other])
        ),
        handicaps=handicaps(about),
        steps=steps_of(cells),
        met=meetings(windows),
        least=least_variances(windows),
    )


def _is_open(one: Sequence[Doubt], other: Sequence[Doubt], mine: float, others: float) -> bool:
    """Whichever is ahead, by as much as it is now."""
    least, most = sorted((mine, others))
    ratio = most / least if least else math.inf
    return is_open_upwards(one, other, ratio) and is_open_upwards(other, one, ratio)
