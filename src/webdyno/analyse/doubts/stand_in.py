"""Doubt about what stood behind the contenders: it speaks the protocol, but is not what people mean by the name."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.table import Table
from webdyno.model.doubt import Doubt

STAND_IN_ADVICE = "put {genuine} on PATH, or give the URL of a running one (docs/how-to/services.md)"


def stand_in(table: Table) -> Doubt | None:
    """The service was not the genuine one. Contenders are compared all the same: it was the same for all of them."""
    behind = [run.service for cell in table.cells for run in cell.runs if run.service and run.service.is_stand_in]
    if not behind:
        return None
    kinds = sorted({f"{each.kind} {each.version}" for each in behind})
    genuine = behind[0].genuine
    return Doubt(
        kind="stand-in",
        severity="shades",
        subject="",
        sentence=f"what answered was not a {genuine} but {words.listing(kinds)}: contenders can be compared with each "
        f"other, not with figures made with a {genuine}",
        advice=STAND_IN_ADVICE.format(genuine=genuine),
        numbers={"kinds": ", ".join(kinds)},
    )
