"""Speed and latency against the load: one workload asked over several numbers of connections, or at several rates.

For every study that has such tables, whether it asks for curves or not. Tables belong together that differ in nothing
else: one workload, one driver, one manner. Studies of frameworks on several runtimes have charts of their own instead
(``studied``), one for each framework.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from webdyno.analyse.table import Table
from webdyno.model.estimate import Estimate
from webdyno.model.verdict import Analysis, Standing, Verdict
from webdyno.report.axis import levels, short, straight, whole
from webdyno.report.cards import chart
from webdyno.report.charts import milliseconds, ordered
from webdyno.report.markup import Markup, element
from webdyno.report.svg import Frame, Series, lines, room

Pair = tuple[Table, Verdict]


@dataclass(frozen=True)
class Sweep:
    """Tables that differ only in their level: the number of connections, or the rate that was asked."""

    title: str
    over: str
    levels: tuple[float, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def names(self) -> list[str]:
        """Contenders ranked at two levels or more, best mean place first."""
        places: dict[str, list[int]] = defaultdict(list)
        for verdict in self.verdicts:
            for at, name in enumerate(ordered(verdict)):
                places[name].append(at)
        told = [name for name, each in places.items() if len(each) > 1]
        return sorted(told, key=lambda name: (sum(places[name]) / len(places[name]), name))


def sweeps(pairs: Sequence[Pair], analysis: Analysis) -> list[Sweep]:
    """Every group of at least two levels, in the order of the tables."""
    faceted = {(c.workload, c.driver, c.manner) for c in analysis.curves if any(row.facet for row in c.rows)}
    groups: dict[tuple[str, str, str, str], list[tuple[float, Verdict]]] = defaultdict(list)
    for table, verdict in pairs:
        if (verdict.workload, verdict.driver, verdict.manner) not in faceted:
            over, level, alike = _level(table, verdict)
            groups[verdict.workload, verdict.driver, over, alike].append((level, verdict))
    found = []
    for (workload, driver, over, alike), members in groups.items():
        members.sort(key=lambda member: member[0])
        by = "" if driver == "engine" else f", by {driver}"
        sweep = Sweep(
            title=f"{workload}, {alike}{by}",
            over=over,
            levels=tuple(level for level, _ in members),
            verdicts=tuple(verdict for _, verdict in members),
        )
        if len(set(sweep.levels)) > 1 and sweep.names:
            found.append(sweep)
    return found


def _level(table: Table, verdict: Verdict) -> tuple[str, float, str]:
    """What the level is of, the level, and the load apart from it."""
    load = table.load
    if load.rate_per_s is None:
        return "connections", float(load.connections), verdict.manner
    label = msgspec.structs.replace(load, rate_per_s=1.0).label
    return "requests/s sent", load.rate_per_s, label.removeprefix("1/s ")


def against(found: Sequence[Sweep], styles: Sequence[dict[str, int]]) -> Markup | None:
    """A pair of charts for each sweep; None without any."""
    if not found:
        return None
    told = [_told(sweep, colours) for sweep, colours in zip(found, styles, strict=True)]
    return element(
        "section",
        element("h2", "Against the load", id="against"),
        element(
            "p",
            "How speed and latency change with the load. Where the line is flat, more load only adds waiting. "
            "In colour: the first five and the last by mean place. The band is the 95 % interval. Grey: the rest.",
            class_="lead",
        ),
        *told,
    )


def _told(sweep: Sweep, styles: dict[str, int]) -> Markup:
    closed = sweep.over == "connections"
    answered = "Requests/s against connections" if closed else "Answered against requested rate"
    waited = "p99 latency against connections" if closed else "p99 latency against the requested rate"
    cards = [
        _card(sweep, styles, answered, lambda standing: standing.rate, latency=False),
        _card(sweep, styles, waited, lambda standing: standing.p99, latency=True),
    ]
    return element("div", *cards, class_="pair")


def _card(
    sweep: Sweep,
    styles: dict[str, int],
    title: str,
    figure: Callable[[Standing], Estimate | None],
    *,
    latency: bool,
) -> Markup | None:
    series = [one for name in sweep.names if (one := _series(sweep, name, styles.get(name), figure, latency)).points]
    if not any(len(one.points) > 1 for one in series):
        return None
    heights = [y for one in series for _, y in one.points] + [y for one in series for _, _, y in one.band]
    y = milliseconds(heights) if latency else straight("requests/s", heights, short)
    text = whole if sweep.over == "connections" else short
    frame = Frame(levels(sweep.over, sweep.levels, text), y, 560, 330, right=room(series))
    says = f"{sweep.title}. {'Logarithmic scales.' if latency else 'Logarithmic across, from zero upwards.'}"
    return chart(title, says, lines(frame, series, title))


def _series(
    sweep: Sweep, name: str, style: int | None, figure: Callable[[Standing], Estimate | None], latency: bool
) -> Series:
    scale = 1e6 if latency else 1.0
    found = [
        (level, estimate)
        for level, verdict in zip(sweep.levels, sweep.verdicts, strict=True)
        if name in ordered(verdict)
        for standing in verdict.standings
        if standing.contender == name and (estimate := figure(standing)) is not None
    ]
    points = [(level, estimate.value / scale) for level, estimate in found]
    known = [
        (level, estimate.low / scale, estimate.high / scale)
        for level, estimate in found
        if estimate.low is not None and estimate.high is not None
    ]
    band = known if style is not None and len(known) == len(found) > 1 else ()
    return Series(name=name, points=points, style=style, marked=points, band=band)
