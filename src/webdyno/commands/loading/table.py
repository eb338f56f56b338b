"""A load as other tools read it: CSV, one row per slice, and a histogram log."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from webdyno.export import Interval, histogram_log
from webdyno.histogram import decode
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.outward import csv_cell
from webdyno.model.sample import ERROR_KINDS, Route, Slice
from webdyno.session.engine import Loaded

_POINTS = (50.0, 75.0, 90.0, 99.0, 99.9, 100.0)
_PLACE = ("phase", "index", "start_ns", "duration_ns")
_COUNTS = (
    "offered",
    "ok",
    "bytes_in",
    "bytes_out",
    "connections_opened",
    "closes_announced",
    "closes_silent",
    "stale_retries",
    "in_flight",
    "censored",
)
_HISTOGRAMS = {"response": "response_hdr", "latency": "latency_hdr", "ttfb": "ttfb_hdr", "lag": "lag_hdr"}
"""Column prefix and field: from due, from sent, first byte, the engine's own lateness."""
_KINDS = tuple(kind for kind in ERROR_KINDS if kind != "socket")

COLUMNS = (
    "route",
    *_PLACE,
    *_COUNTS,
    "ok_per_s",
    *(f"errors_{kind.replace('-', '_')}" for kind in _KINDS),
    *(f"{name}_{'max' if p == 100 else f'p{p:g}'.replace('.', '_')}_ns" for name in _HISTOGRAMS for p in _POINTS),
)
"""Of the CSV; what is unknown or was not counted is an empty cell, never 0."""


def csv_lines(loaded: Loaded) -> Iterator[str]:
    """The header, and a row for each slice, warm-up included; where there are several routes, one more for each."""
    yield _line(COLUMNS)
    for slice_ in loaded.slices:
        yield _line(_row(slice_, slice_, None))
        for route in slice_.routes:
            yield _line(_row(slice_, route, route.name))


def _row(slice_: Slice, of: Slice | Route, name: str | None) -> list[object]:
    """``of`` is the slice itself or a route of it, which has no counts of connections."""
    cells: list[object] = [name, *(getattr(slice_, field) for field in _PLACE)]
    cells += [getattr(of, field, None) for field in _COUNTS]
    cells.append(of.ok * 1e9 / slice_.duration_ns if slice_.duration_ns else None)
    cells += [of.errors.get(kind, 0) for kind in _KINDS]
    for field in _HISTOGRAMS.values():
        text = getattr(of, field, None)
        histogram = decode(text) if text else None
        cells += [None if histogram is None else histogram.percentile(point) for point in _POINTS]
    return cells


def _line(cells: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(map(csv_cell, cells))
    return line.getvalue()


def refuse_unwritable(path: Path) -> None:
    """UsageError, before anything is loaded, when ``path`` cannot be written; nothing is left of the attempt."""
    try:
        there = path.exists()
        path.open("a").close()
        if not there:
            path.unlink()
    except OSError as error:
        raise UsageError(f"--hdr {path} cannot be written ({error.strerror}): give another place") from None


def write_hdr(path: Path, title: str, loaded: Loaded) -> None:
    """A histogram log: untagged response times (from due), tagged ``service`` those from sent, ``warmup`` the warm-up.

    At a closed pace the two are the same, and only the first are written. Routes have tags by their number.
    MachineError when it cannot be written.
    """
    intervals = [
        Interval(slice_.start_ns, slice_.duration_ns, text, tag)
        for slice_ in loaded.slices
        for text, tag in _texts(slice_, is_open=loaded.order.load.is_open)
    ]
    what = f"{title}, {loaded.order.load.label}"
    if len(loaded.order.requests) > 1:
        names = (request.name for request in loaded.order.requests)
        what += "; " + ", ".join(f"route-{number} is {name}" for number, name in enumerate(names, 1))
    try:
        path.write_text(histogram_log(what, "response times", loaded.started_at, intervals), encoding="utf-8")
    except OSError as error:
        raise MachineError(f"--hdr {path} cannot be written ({error.strerror}): give another place") from None


def _texts(slice_: Slice, *, is_open: bool) -> Iterator[tuple[str, str]]:
    warmup = slice_.phase == "warmup"
    if text := slice_.response_hdr or slice_.latency_hdr:
        yield text, "warmup" if warmup else ""
    if is_open and slice_.latency_hdr and not warmup:
        yield slice_.latency_hdr, "service"
    for number, route in enumerate(slice_.routes, 1):
        if (text := route.response_hdr or route.latency_hdr) and not warmup:
            yield text, f"route-{number}"
