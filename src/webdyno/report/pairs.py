"""Pairs of requests as a table: which was sent first, how long each took, which was answered first and which waited."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from webdyno.analyse.phrases import figure
from webdyno.model.estimate import Estimate
from webdyno.model.verdict import Analysis, RouteFigures, Verdict
from webdyno.report import explain, words
from webdyno.report.sheet import Sheet

WAITED = 1.5
"""A request waited where it certainly took this many times as long as at its quickest."""
_HEAD = ["contender", "sent first", "it took", "sent then", "it took", "answered first", "waited"]
_MEANS = [
    "",
    "The request that each pair begins with",
    "Half of these took at most this long, from sent to answered",
    "The other request, over another connection, before or after the first was answered",
    "Half of these took at most this long, from sent to answered",
    "The request that was answered first",
    f"Took {WAITED:g} times as long as at its quickest among these orders, or longer",
]
Quickest = Mapping[tuple[str, str], Estimate]


def pairs(analysis: Analysis) -> Iterator[Sheet]:
    """One table for each distance between the two requests; none where nothing was asked in pairs."""
    families: dict[float, list[Verdict]] = defaultdict(list)
    for verdict in analysis.verdicts:
        if verdict.pair_apart_s is not None:
            families[verdict.pair_apart_s].append(verdict)
    for apart_s, verdicts in families.items():
        quickest = _quickest(verdicts)
        told = [_row(*each, apart_s, quickest) for each in _pairs(verdicts)]
        yield Sheet(
            key=f"pairs-{apart_s:g}",
            title=f"Who waits for whom: two requests, the second sent {apart_s * 1000:g} ms after the first",
            says="Each over its own connection. Times are medians, with their 95 % intervals.",
            head=_HEAD,
            means=_MEANS,
            rows=[row for row, _ in told],
            sure=[sure for _, sure in told],
            texts=2,
        )


Pair = tuple[str, RouteFigures, RouteFigures]


def _pairs(verdicts: Sequence[Verdict]) -> list[Pair]:
    """Of every contender and order that was measured; the contenders together, each with its orders."""
    found = [
        (standing.contender, standing.routes[0], standing.routes[1])
        for verdict in verdicts
        for standing in verdict.standings
        if len(standing.routes) == 2
    ]
    names = list(dict.fromkeys(name for name, *_ in found))
    return sorted(found, key=lambda pair: names.index(pair[0]))


def _quickest(verdicts: Sequence[Verdict]) -> Quickest:
    best: dict[tuple[str, str], Estimate] = {}
    for name, *both in _pairs(verdicts):
        for route in both:
            known = best.get((name, route.route))
            if route.p50 is not None and (known is None or route.p50.value < known.value):
                best[name, route.route] = route.p50
    return best


def _row(
    name: str, first: RouteFigures, then: RouteFigures, apart_s: float, quickest: Quickest
) -> tuple[list[str], list[str]]:
    """The cells, and what each can say of itself."""
    waited = [each.route for each in (first, then) if _waited(each, quickest.get((name, each.route)))]
    row = [name, first.route, _took(first), then.route, _took(then)]
    sure = ["", "", _sure(first), "", _sure(then), "", ""]
    return [*row, _answered_first(first, then, apart_s * 1e9), words.listing(waited) if waited else "none"], sure


def _took(route: RouteFigures) -> str:
    if route.p50 is None:
        return words.MISSING
    told, it = figure(route.p50, "p50"), route.p50
    if it.low is None or it.high is None:
        return told
    return f"{told} ({words.time_ns(it.low)} to {words.time_ns(it.high)})"


def _sure(route: RouteFigures) -> str:
    return explain.sure(route.p50) if route.p50 else explain.UNKNOWN


def _answered_first(first: RouteFigures, then: RouteFigures, apart_ns: float) -> str:
    if first.p50 is None or then.p50 is None:
        return words.MISSING
    return first.route if first.p50.value <= apart_ns + then.p50.value else then.route


def _waited(route: RouteFigures, quickest: Estimate | None) -> bool:
    """Only where both have intervals: a time of one round may be a chance."""
    if quickest is None or route.p50 is None or route.p50.low is None or quickest.high is None:
        return False
    return route.p50.low >= WAITED * quickest.high
