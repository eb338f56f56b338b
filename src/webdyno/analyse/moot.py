"""Moot: what more rounds of a race cannot tell, whatever they find.

Two kinds: contenders that will not be ranked, because a doubt voids their figures; and pairs whose order is not theirs,
because the load generator, or the service behind both, held both back: each is as fast as it was measured, or faster.
Where it was the hypervisor, more rounds may tell, so such pairs stay open.
The rules are those of the report. One of them (Little's law on measured latencies) needs histograms, which a race does
not read at each look; it speaks in the report alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from webdyno.analyse.claims import is_open_upwards
from webdyno.analyse.compare import Pair
from webdyno.analyse.doubts.again import ran_again
from webdyno.analyse.doubts.answers import dead_cell, wrong_answers
from webdyno.analyse.doubts.cached import cached_service
from webdyno.analyse.doubts.connections import starved_connections
from webdyno.analyse.doubts.driver import generator_bound
from webdyno.analyse.doubts.fairness import builds_differ
from webdyno.analyse.doubts.figures import part_of_phase
from webdyno.analyse.doubts.machine import stolen_time
from webdyno.analyse.doubts.physics import impossible_rate
from webdyno.analyse.doubts.service_bound import service_bound
from webdyno.analyse.doubts.warming import cold_compiler, still_climbing
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
    starved_connections,
    generator_bound,
    stolen_time,
    cold_compiler,
    still_climbing,
    service_bound,
)
"""Every rule about a contender that can void its figures, or make its rate a floor."""
_LUCK = "stolen-time"
"""The one floor that another round may lift."""


@dataclass(frozen=True, slots=True)
class Moot:
    """Of one table."""

    barred: frozenset[str]
    """Contenders that will not be ranked."""
    pairs: frozenset[Pair]
    """Those that are not told apart whichever turns out the faster."""
    unlucky: frozenset[str]
    """Contenders from which nobody faster is told apart until more rounds have made up for their bad luck."""


def moot(cells: Sequence[Cell]) -> Moot:
    """What nothing more can be told of, by what ``cells`` hold so far."""
    about = {cell.name: [doubt for rule in RULES if (doubt := rule(cell)) is not None] for cell in cells}
    kinds = {name: {doubt.kind for doubt in doubts} for name, doubts in about.items()}
    lasting = {name: of - {_LUCK} for name, of in kinds.items()}
    return Moot(
        barred=frozenset(name for name, doubts in about.items() if any(each.severity == "voids" for each in doubts)),
        pairs=frozenset(
            frozenset((one, other))
            for one, other in combinations(lasting, 2)
            if is_open_upwards(lasting[one], lasting[other]) and is_open_upwards(lasting[other], lasting[one])
        ),
        unlucky=frozenset(name for name, of in kinds.items() if _LUCK in of),
    )
