"""Speed beside its price: what each contender makes of a second of CPU and of a MiB of memory.

Each is a figure over rounds like any other. Requests per core-second are the CPU per request of the ranking turned
round, with its interval; requests/s per MiB are fitted to the quotient of every round, for the quotient of two
figures would have no interval.
"""

from __future__ import annotations

from collections.abc import Callable

from webdyno.analyse.steps import fit_figure
from webdyno.analyse.table import Table
from webdyno.analyse.window import Window
from webdyno.model.estimate import Estimate
from webdyno.model.trial import Plan
from webdyno.model.verdict import Standing, Verdict
from webdyno.report import words
from webdyno.report.cards import folded
from webdyno.report.columns import WORK, cell, head
from webdyno.report.markup import Markup, element, join
from webdyno.report.words import Column

_FIGURES = (1, 2, 4, 5, 7)
"""The columns with numbers; the others are the name and two bars."""
_SAYS = (
    "Requests per core-second: correct answers for each second of one core that it used. Requests/s per MiB: "
    "the rate divided by the peak of its memory. With 95 % intervals; bars begin at zero."
)


def work(plan: Plan, table: Table, verdict: Verdict) -> Markup | None:
    """The card of one table; None where neither CPU nor memory was measured."""
    per_core = {
        standing.contender: _turned(standing.cpu_per_request)
        for standing in words.served(verdict)
        if standing.cpu_per_request and standing.cpu_per_request.value
    }
    per_mib = _estimates(plan, table, _per_mib)
    if not per_core and not per_mib:
        return None
    most = [max((each.value for each in found.values()), default=1.0) for found in (per_core, per_mib)]
    used = {one.name: one.median(lambda window: window.contender_cores) for one in table.cells}
    rows = [
        element(
            "tr",
            element("td", element("b", name)),
            cell(WORK[1], words.plain(standing.rate) if standing.rate else words.MISSING, class_="n"),
            cell(WORK[2], _cores(used.get(name)), class_="n"),
            *_figure(per_core.get(name), most[0], standing, WORK[4]),
            cell(WORK[5], words.memory(standing), class_="n"),
            *_figure(per_mib.get(name), most[1], standing, WORK[7]),
        )
        for standing in words.served(verdict)
        for name in [standing.contender]
    ]
    body = element("table", head(WORK, _FIGURES), element("tbody", *rows), class_="work")
    return folded("CPU and memory beside speed", _SAYS, element("div", body, class_="scroll"), len(rows))


def _estimates(plan: Plan, table: Table, figure: Callable[[Window], float | None]) -> dict[str, Estimate]:
    fitted = fit_figure(table, figure, trimmed=plan.estimate == "trimmed")
    return {name: fitted.estimate(name, "per_s") for name in fitted.names} if fitted else {}


def _turned(of: Estimate) -> Estimate:
    """Requests per core-second of ns per request; the low end comes from the high one."""
    low, high = (1e9 / of.high, 1e9 / of.low) if of.low and of.high else (None, None)
    return Estimate(value=1e9 / of.value, low=low, high=high, rounds=of.rounds, unit="per_s")


def _per_mib(window: Window) -> float | None:
    peak = window.run.memory_peak_bytes
    return window.rate_per_s / (peak / 2**20) if peak else None


def _cores(cores: float | None) -> str:
    return words.MISSING if cores is None else f"{cores:.2f}"


def _figure(estimate: Estimate | None, most: float, standing: Standing, of: Column) -> tuple[Markup, Markup]:
    """A bar, and the number with its interval beside it."""
    if estimate is None:
        return element("td"), cell(of, words.MISSING, class_="n")
    kind = "out" if standing.place is None else None
    bar = element("i", class_=kind, style=f"width:{100 * estimate.value / most:.1f}%")
    bounds = words.interval(estimate, dash="–")
    text = join(words.plain(estimate), element("small", f" {bounds}") if bounds else None)
    number = cell(of, text, class_="n")
    return element("td", bar, class_="part"), number
