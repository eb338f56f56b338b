"""Doubt about several drivers of one load: the merged figures are those of all, and hide one that was not like them."""

from __future__ import annotations

from webdyno.analyse.shares import doubts_of, shares_in
from webdyno.analyse.table import Cell
from webdyno.model.doubt import Doubt

UNEVEN_DRIVERS_ADVICE = "give each driver its own cores that nothing else uses, or use fewer drivers"


def uneven_drivers(cell: Cell) -> Doubt | None:
    """A driver was at its limit, began late, or delivered less than its share."""
    rounds = [shares_in(window.run.summary) for window in cell.windows]
    found = [
        (share.name, said) for shares in rounds for share in shares for said in doubts_of(share, shares, cell.load)
    ]
    if not found:
        return None
    (name, said), *others = found
    more = f" ({len(others)} more such findings)" if others else ""
    return Doubt(
        kind="uneven-drivers",
        severity="shades",
        subject=cell.name,
        sentence=f"of {cell.load.drivers} drivers against {cell.name}, {name} {said}{more}",
        advice=UNEVEN_DRIVERS_ADVICE,
        numbers={"drivers": cell.load.drivers, "findings": len(found)},
    )
