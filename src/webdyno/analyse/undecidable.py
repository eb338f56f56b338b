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
from webdyno.analyse.doubts.table import ROWS
from webdyno.analyse.floors import LUCK, handicaps, is_open_upwards
from webdyno.analyse.race import Reserve
from webdyno.analyse.steps import steps_of
from webdyno.analyse.table import Cell
from webdyno.model.doubt import Doubt

RULES: tuple[Callable[[Cell], Doubt | None], ...] = tuple(
    row.rule for row in ROWS if row.about == "contender" and ("voids" in row.effect or row.floor is not None)
)
"""Every rule about a contender that can void its figures, or make its rate a floor."""


def reserve_of(cells: Sequence[Cell]) -> Reserve:
    """What is known of a table besides its rates, by what ``cells`` hold so far."""
    about = {cell.name: [doubt for rule in RULES if (doubt := rule(cell)) is not None] for cell in cells}
    lasting = {name: [doubt for doubt in doubts if doubt.kind not in LUCK] for name, doubts in about.items()}
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
