"""By route: of a workload of several requests, the times of one of them alone."""

from __future__ import annotations

from dataclasses import replace

from webdyno.analyse.latency import Latency, merge
from webdyno.analyse.measures import Figures
from webdyno.analyse.window import Window, points


def latency_of(window: Window, route: str) -> Latency | None:
    """How long its answers took in the steady phase, from sent to done; None where it had none."""
    steady = [slice_ for slice_ in window.run.slices if slice_.phase == "steady"]
    return merge(r.latency_hdr for slice_ in steady for r in slice_.routes if r.name == route and r.latency_hdr)


def of_route(figures: Figures, route: str) -> Figures:
    """The figures of the same table, with no times but those of ``route``."""
    table = figures.table
    cells = tuple(replace(cell, windows=tuple(_of(window, route) for window in cell.windows)) for cell in table.cells)
    return Figures(replace(table, cells=cells), figures.trimmed)


def _of(window: Window, route: str) -> Window:
    latency = latency_of(window, route)
    return replace(window, latency=latency, points_ns={} if latency is None else points(latency))
