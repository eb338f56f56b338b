"""Linked: tables whose figures a claim compares with each other, so that they are measured soon after one another.

"Serves as much at 1,000 connections as at 100" compares two tables. If minutes lie between its two sides, whatever the
machine does in them is in the ratio, round by round.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

from webdyno.model.claim import RATES, TIMES, Claim, Measure
from webdyno.model.load import Load

Table = tuple[str, Load, str]
"""Workload, load and driver."""
DRIFT: tuple[Measure, ...] = (*RATES, *TIMES, "cpu", "cpu_peak", "cpu_per_request")
"""What differs with the machine's speed; an error rate or a size of memory gains nothing by a block."""


def groups(claims: Iterable[Claim], tables: Iterable[Table]) -> dict[Table, int]:
    """A number for each of ``tables``: one for those that some of ``claims`` compare, directly or through others."""
    of = {table: at for at, table in enumerate(dict.fromkeys(tables))}
    for claim in claims:
        if claim.than_connections is None or claim.measure not in DRIFT:
            continue
        for one, other in permutations(of, 2):
            if of[one] != of[other] and _compares(claim, one, other):
                least, most = sorted((of[one], of[other]))
                of = {table: least if at == most else at for table, at in of.items()}
    return of


def _compares(claim: Claim, one: Table, other: Table) -> bool:
    """Whether it compares figures of ``one`` with figures of ``other``, which are asked alike but for their number."""
    (workload, load, driver), (its_workload, its_load, its_driver) = one, other
    if (workload, driver) != (its_workload, its_driver) or claim.than_workload not in (None, workload):
        return False
    alike = (load.keep_alive, load.http, load.pace) == (its_load.keep_alive, its_load.http, its_load.pace)
    return (
        alike
        and its_load.connections == claim.than_connections
        and (not claim.connections or load.connections in claim.connections)
        and claim.workload in (None, workload)
        and claim.driver in (None, driver)
        and claim.keep_alive in (None, load.keep_alive)
    )
