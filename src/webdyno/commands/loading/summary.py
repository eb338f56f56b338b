"""A finished load as a person reads it at a glance, on standard output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webdyno.analyse.error_share import NOT_AN_ERROR, error_share, failed
from webdyno.analyse.generator import cpu_share
from webdyno.analyse.shares import part_of, strain_of
from webdyno.analyse.words import count, per_cent, rate, size, time_ns
from webdyno.commands.printing import out
from webdyno.model.secret import hidden_summary
from webdyno.session.engine import Loaded

PERCENTILES = ("p50", "p75", "p90", "p99", "p99.9", "max")


def print_summary(title: str, loaded: Loaded, doubts: list[str]) -> None:
    """The whole load; ``title`` says of what."""
    for line in summary_lines(title, loaded, doubts):
        out(line)


def as_data(urls: list[str], loaded: Loaded, doubts: list[str]) -> dict[str, Any]:
    """For ``--json``; the keys are described in docs/how-to/load-by-hand.md and stay."""
    summary = hidden_summary(loaded.summary)
    return {
        "url": urls[0],
        "urls": urls,
        "load": loaded.order.load,
        "rate_per_s": loaded.per_s,
        "errors": loaded.errors,
        "response_ns": summary.get("response_ns") or summary.get("latency_ns"),
        "routes": summary.get("routes") or [],
        "summary": summary,
        "slices": loaded.slices,
        "doubts": doubts,
    }


def summary_lines(title: str, loaded: Loaded, doubts: list[str]) -> list[str]:
    """As ``print_summary`` prints them."""
    told = [
        ("rate", f"{rate(loaded.per_s)}{_swing(loaded)}"),
        *_times(loaded),
        *_outcomes(loaded),
        ("connections", _connections(loaded)),
        *_tls(loaded),
        ("bytes", _bytes(loaded)),
        ("engine", _engine(loaded)),
        *_drivers(loaded),
        *_routes(loaded),
        *(("doubt", doubt) for doubt in doubts),
    ]
    pace = "open" if loaded.order.load.is_open else "closed"
    head = f"{title}  {loaded.order.load.label}, {pace}, one run of {loaded.seconds:.1f} s"
    return [head, *(f"  {name:<12}{line}" for name, line in told)]


def _swing(loaded: Loaded) -> str:
    per_second = [s.ok * 1e9 / s.duration_ns for s in loaded.steady if s.duration_ns > 5e8]
    if len(per_second) < 2:
        return ""
    return f" ({rate(min(per_second))} to {rate(max(per_second))} in single seconds)"


def _times(loaded: Loaded) -> Iterator[tuple[str, str]]:
    """Closed: one latency. Open: from due (what a user waits) first, then from sent (what the server took)."""
    summary = loaded.summary
    if not loaded.order.load.is_open:
        yield from _points("latency", summary.get("latency_ns"), 0.0)
        return
    censored = summary.get("censored", 0) / max(1, summary["offered"])
    yield from _points("from due", summary.get("response_ns"), censored)
    yield from _points("from sent", summary.get("latency_ns"), 0.0)


def _points(name: str, points: dict[str, Any] | None, censored: float) -> Iterator[tuple[str, str]]:
    """A line of percentiles; ">=" stands before those that requests without an end could move up.

    ``censored`` is the share of such requests. One in flight at the end of thousands moves p99 by a hair: it is marked
    from a tenth of the percentile's own tail on.
    """
    if not points:
        return
    shown = []
    for point in PERCENTILES:
        tail = 0.0 if point == "max" else 1 - float(point[1:]) / 100
        least = point in (points.get("at_least") or []) and censored > 0.1 * tail
        shown.append(f"{point} {'>= ' if least else ''}{time_ns(points[point])}")
    yield name, "  ".join(shown)


def _outcomes(loaded: Loaded) -> Iterator[tuple[str, str]]:
    summary = loaded.summary
    in_flight = summary["errors"].get(NOT_AN_ERROR, 0)
    ended = summary["offered"] - in_flight
    statuses = "  ".join(f"{status}: {number:,}" for status, number in sorted(summary.get("statuses", {}).items()))
    left = f", {in_flight:,} unanswered at the end" if in_flight else ""
    yield "answers", f"{summary['ok']:,} correct of {ended:,}{left}" + (f"  ({statuses})" if statuses else "")
    if loaded.errors:
        per_kind = "  ".join(f"{kind} {number:,}" for kind, number in loaded.errors.items())
        yield "errors", f"{per_kind}  ({per_cent(error_share(loaded.errors, summary['ok']))})"
    if summary.get("first_error"):
        yield "first error", summary["first_error"]


def _connections(loaded: Loaded) -> str:
    summary = loaded.summary
    told = [
        f"{summary['connections_opened']:,} opened in the steady phase, {summary.get('connections_peak', 0):,} at most"
    ]
    for key, name in (("closes_announced", "closed as announced"), ("closes_silent", "closed unannounced")):
        if summary.get(key):
            told.append(f"{summary[key]:,} {name}")
    if summary.get("stale_retries"):
        told.append(f"{summary['stale_retries']:,} requests sent again")
    if connect := loaded.merged("connect_hdr"):
        told.append(f"connect p50 {time_ns(connect.percentile(50) or 0)}, max {time_ns(connect.max or 0)}")
    return ", ".join(told)


def _tls(loaded: Loaded) -> Iterator[tuple[str, str]]:
    summary = loaded.summary
    full, resumed = summary.get("handshakes_full"), summary.get("handshakes_resumed")
    if loaded.order.way.tls is None or full is None:
        return
    told = f"{count(full, 'full handshake')}, {count(resumed or 0, 'resumed one')}"
    if taken := loaded.merged("handshake_hdr"):
        told += f", p50 {time_ns(taken.percentile(50) or 0)}, max {time_ns(taken.max or 0)}"
    yield "tls", told


def _bytes(loaded: Loaded) -> str:
    read, sent = loaded.summary["bytes_in"], loaded.summary["bytes_out"]
    each = f" ({size(read / loaded.seconds)}/s)" if loaded.seconds else ""
    return f"{size(read)} read{each}, {size(sent)} sent"


def _engine(loaded: Loaded) -> str:
    """Its own limits: processor time, lateness, the longest turn of its loop."""
    threads = loaded.summary.get("threads", [])
    share = cpu_share(loaded.summary)
    told = [] if share is None else [f"{count(len(threads), 'thread')}, {per_cent(share)} busy"]
    if lag := loaded.summary.get("lag_ns"):
        told.append("late by " + ", ".join(f"{name} {time_ns(lag[name])}" for name in ("p50", "p99", "max")))
    stalls = [thread["loop_stall_max_ns"] for thread in threads if "loop_stall_max_ns" in thread]
    if stalls:
        told.append(f"longest turn {time_ns(max(stalls))}")
    told += [f"{key} {said}" for key in ("backend", "wait") if (said := loaded.started.get(key))]
    if loaded.summary.get("drained_ns"):
        told.append(f"waited {time_ns(loaded.summary['drained_ns'])} for the last answers")
    return ", ".join(told)


def _drivers(loaded: Loaded) -> Iterator[tuple[str, str]]:
    """A line for each of several."""
    shares = loaded.shares
    for share in shares:
        per_s = rate(share.ok / loaded.seconds) if loaded.seconds else "-"
        told = [*([f"on {share.host}"] if share.host else []), f"{share.connections:,} connections", per_s]
        if (part := part_of(share, shares)) is not None:
            told.append(f"{per_cent(part)} of all")
        if (busy := strain_of(share).busy) is not None:
            told.append(f"{per_cent(busy)} busy")
        if share.start_late_ns is not None:
            told.append(f"began {time_ns(share.start_late_ns)} after the instant")
        told.append(f"clock known to {time_ns(share.before.uncertainty_ns)}")
        yield share.name, "  ".join(told)


def route_lines(loaded: Loaded) -> list[str]:
    """A line for each route, where there are several."""
    return [line for _, line in _routes(loaded)]


def _routes(loaded: Loaded) -> Iterator[tuple[str, str]]:
    """A line each, when there are several."""
    for route in loaded.summary.get("routes") or []:
        points = route.get("response_ns") or route.get("latency_ns") or {}
        times = "  ".join(f"{point} {time_ns(points[point])}" for point in ("p50", "p99", "max") if point in points)
        wrong = failed(route["errors"])
        per_s = rate(route["ok"] / loaded.seconds) if loaded.seconds else "-"
        yield "route", f"{route['name']}  {per_s}  {times}" + (f"  {wrong:,} errors" if wrong else "")
