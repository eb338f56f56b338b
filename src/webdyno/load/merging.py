"""Merging: what several drivers of one load said, as if one had said it. Counts and histograms add up exactly.

A Slice is that of all drivers once each has told it, or has ended: they are cut by the same timetable from the same
instant, so those of one number are of one time. Percentiles are read from the merged histogram, never averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from webdyno.histogram import Histogram, merge
from webdyno.load.order import Event, PhaseEdge, Summary
from webdyno.model.sample import Route, Slice

POINTS = {"p50": 50.0, "p75": 75.0, "p90": 90.0, "p99": 99.0, "p99.9": 99.9}
_SUMS = [
    "offered",
    "ok",
    "bytes_in",
    "bytes_out",
    "connections_opened",
    "closes_announced",
    "closes_silent",
    "stale_retries",
    "http10_answers",
    "in_flight",
    "censored",
    "cpu_user_ns",
    "cpu_system_ns",
    "idle_ns",
    "run_delay_ns",
    "handshakes_full",
    "handshakes_resumed",
]
_HISTOGRAMS = ["latency_hdr", "response_hdr", "lag_hdr", "ttfb_hdr", "connect_hdr", "unfinished_hdr", "handshake_hdr"]
_OF_SUMMARY = [*_SUMS, "connections_peak", "sends_late", "connections_asked", "connections_unanswered"]
_GRAVEST = ("abandoned", "interrupted", "unreachable", "count", "duration")
"""How drivers may have ended: where one ended otherwise than the others, the first of these is the load's end."""

Value = TypeVar("Value")


class Merging:
    """Takes in the events of this many drivers as they come, and gives those of the load."""

    def __init__(self, offsets_ns: Sequence[int]) -> None:
        """``offsets_ns``: each driver's clock minus ours."""
        self._offsets_ns = offsets_ns
        self._slices: dict[int, dict[int, Slice]] = {}
        self._edges: dict[str, dict[int, int]] = {}
        self.summaries: dict[int, dict[str, Any]] = {}
        """The last word of each that has ended."""

    def tell(self, driver: int, event: Event) -> Iterator[Event]:
        """One of the drivers said this; what is now known of the load."""
        offset_ns = self._offsets_ns[driver]
        match event:
            case PhaseEdge(phase=phase, at_ns=at_ns):
                known = self._edges.setdefault(phase, {})
                known[driver] = at_ns - offset_ns
                if phase != "ended" and len(known) == 1:  # all begin at one instant
                    yield PhaseEdge(phase, at_ns - offset_ns)
            case Slice():
                start_ns = None if event.start_ns is None else event.start_ns - offset_ns
                told = msgspec.structs.replace(event, start_ns=start_ns)
                self._slices.setdefault(event.index, {})[driver] = told
                yield from self._whole()
            case Summary(fields=fields):
                self.summaries[driver] = fields
                yield from self._whole()
                if len(self.summaries) == len(self._offsets_ns) and (ended := self._edges.get("ended")):
                    yield PhaseEdge("ended", max(ended.values()))

    def _whole(self) -> Iterator[Slice]:
        """Slices that nobody will add to any more, in their order."""
        for index in sorted(self._slices):
            told = self._slices[index]
            if any(driver not in told and driver not in self.summaries for driver in range(len(self._offsets_ns))):
                return
            del self._slices[index]
            yield merged_slice([told[driver] for driver in sorted(told)])


def merged_slice(parts: Sequence[Slice]) -> Slice:
    """The drivers' Slices of one number, by one clock, as one."""
    first = parts[0]
    starts = _known(part.start_ns for part in parts)
    ends = [(part.start_ns or 0) + part.duration_ns for part in parts]
    start_ns = min(starts) if starts else None
    above = [part.censored_above_ns for part in parts if part.censored_above_ns is not None]
    return msgspec.structs.replace(
        first,
        start_ns=start_ns,
        duration_ns=max(part.duration_ns for part in parts) if start_ns is None else max(ends) - start_ns,
        errors=_counts(part.errors for part in parts),
        censored_above_ns=min(above, default=None),
        routes=[_route(routes) for routes in zip(*(part.routes for part in parts), strict=True)],
        **{name: _sum(getattr(part, name) for part in parts) for name in _SUMS},
        **{name: _histogram(getattr(part, name) for part in parts) for name in _HISTOGRAMS},
    )


def merged_summary(parts: Sequence[dict[str, Any]], steady: Sequence[Slice]) -> dict[str, Any]:
    """The drivers' last words as one; ``steady``: the merged Slices of the phase that it sums up."""
    each: Callable[[str], list[Any]] = lambda name: [part.get(name) for part in parts]  # noqa: E731
    merged = dict(parts[0]) | {name: _sum(each(name)) for name in _OF_SUMMARY if name in parts[0]}
    merged |= {name: _histogram(each(name)) for name in _HISTOGRAMS if name in parts[0]}
    begun = min(_known(slice_.start_ns for slice_ in steady), default=None)
    over = max(((slice_.start_ns or 0) + slice_.duration_ns for slice_ in steady), default=0)
    merged |= {
        "ended": next((ended for ended in _GRAVEST if ended in each("ended")), parts[0]["ended"]),
        "start_ns": begun,
        "duration_ns": over - begun if begun is not None else max(each("duration_ns")),
        "errors": _counts(each("errors")),
        "statuses": _counts(_known(each("statuses"))),
        "censored_above_ns": min(_known(each("censored_above_ns")), default=None),
        "drained_ns": max(_known(each("drained_ns")), default=0),
        "start_late_ns": max(_known(each("start_late_ns")), default=None),
        "first_error": next((said for said in each("first_error") if said), None),
        "first_answer": next((said for said in each("first_answer") if said), None),
        "threads": [thread for threads in each("threads") for thread in threads or []],
        "answers_per_connection": _extent(_known(each("answers_per_connection"))),
        "routes": [_summed_route(routes) for routes in zip(*(routes or [] for routes in each("routes")), strict=True)],
        "started": _started(_known(each("started"))),
    }
    return merged | _times(merged)


def _times(told: dict[str, Any]) -> dict[str, Any]:
    """Points of the merged histograms, as the engine tells them."""
    latency, response = (_decoded(told.get(name)) for name in ("latency_hdr", "response_hdr"))
    lag = _decoded(told.get("lag_hdr"))
    above, censored = told.get("censored_above_ns"), told.get("censored") or 0
    return {
        "latency_ns": latency and _points(latency),
        "response_ns": response and {**_points(response), "at_least": _movable(response, censored, above)},
        "lag_ns": lag and {"p50": lag.percentile(50.0), "p99": lag.percentile(99.0), "max": lag.max},
    }


def _points(of: Histogram) -> dict[str, Any]:
    whole = {"mean": round(of.mean or 0.0), "stdev": round(of.stdev or 0.0), "min": of.min, "max": of.max}
    return whole | {name: of.percentile(percent) for name, percent in POINTS.items()}


def _movable(response: Histogram, censored: int, above: int | None) -> list[str]:
    """Points that the requests without an end could move up: the rule of docs/reference/engine-protocol.md."""
    if above is None:
        return []
    share = 100.0 * censored / max(1, response.count)

    def moves(percent: float) -> bool:
        value = response.percentile(percent) or 0
        further = percent + share
        return value >= above and (further > 100.0 or (response.percentile(further) or 0) > value)

    return [name for name, percent in [*POINTS.items(), ("max", 100.0)] if moves(percent)]


def _route(parts: Sequence[Route]) -> Route:
    return msgspec.structs.replace(
        parts[0],
        offered=sum(part.offered for part in parts),
        ok=sum(part.ok for part in parts),
        errors=_counts(part.errors for part in parts),
        bytes_in=sum(part.bytes_in for part in parts),
        latency_hdr=_histogram(part.latency_hdr for part in parts),
        response_hdr=_histogram(part.response_hdr for part in parts),
    )


def _summed_route(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    each: Callable[[str], list[Any]] = lambda name: [part.get(name) for part in parts]  # noqa: E731
    merged = dict(parts[0]) | {name: sum(each(name)) for name in ("offered", "ok", "bytes_in")}
    merged |= {name: _histogram(each(name)) for name in ("latency_hdr", "response_hdr")}
    merged |= {name: _counts(_known(each(name))) for name in ("errors", "statuses")}
    times = _times(merged)
    return merged | {name: times[name] for name in ("latency_ns", "response_ns")}


def _started(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the first said of itself, for all of them together."""
    if not parts:
        return {}
    numbers = ("threads", "connections", "max_connections")
    return parts[0] | {name: sum(part[name] for part in parts if name in part) for name in numbers}


def _extent(parts: Sequence[dict[str, int]]) -> dict[str, int] | None:
    """Least and most; the median of all does not follow from theirs."""
    if not parts:
        return None
    return {"min": min(part["min"] for part in parts), "max": max(part["max"] for part in parts)}


def _counts(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Key by key; zeros stay where a part has them."""
    told = list(parts)
    return {key: sum(part.get(key, 0) for part in told) for key in dict.fromkeys(key for part in told for key in part)}


def _histogram(texts: Iterable[str | None]) -> str | None:
    merged = merge(text for text in texts if text is not None)
    return None if merged is None else merged.encode()


def _decoded(text: str | None) -> Histogram | None:
    return None if text is None else merge([text])


def _sum(numbers: Iterable[int | None]) -> int | None:
    """Unknown of one is unknown of all."""
    known = list(numbers)
    return None if None in known else sum(number for number in known if number is not None)


def _known(values: Iterable[Value | None]) -> list[Value]:
    return [value for value in values if value is not None]
