"""Export: Runs in the forms other tools read. Pure: Runs in, text out; only ``export`` writes, and only what they
gave.

    jsonl   one Run per line, everything, with its number
    csv     one row per Slice, COLUMNS below; what is not known is an empty cell, never 0
    hlog    one HdrHistogram log (format 1.3) per Run, in nanoseconds; warm-up intervals bear the tag "warmup", so the
            usual tools, which take untagged intervals unless told otherwise, show the steady phase. Turns are bursts,
            and not in it

Runs whose driver gave no histogram have no hlog: percentiles cannot be turned back into one.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from webdyno.histogram import decode
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.outward import clean, csv_cell
from webdyno.model.run import Run
from webdyno.model.sample import ERROR_KINDS, Slice

FORMATS = ("jsonl", "csv", "hlog")

Numbered = tuple[int, Run]
"""A Run and its number in the store."""
Cell = int | float | str | None


def export(runs: Sequence[Numbered], form: str, out: Path) -> list[Path]:
    """Write ``runs`` to the file ``out`` (hlog: into the folder ``out``, one file per Run). The files written."""
    if form == "hlog":
        texts = {out / log_name(number, run): hlog(run) for number, run in runs if has_histogram(run)}
        if not texts:
            raise UsageError("none of these Runs has a histogram: only --driver engine gives one; export jsonl or csv")
    elif form in FORMATS:
        texts = {out: "".join(lines(runs, form))}
    else:
        raise UsageError(f"there is no format {form!r}; there are: {', '.join(FORMATS)}")
    for path, text in texts.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        except OSError as error:
            raise MachineError(f"{path} cannot be written ({error.strerror}): give another place") from None
    return list(texts)


def lines(runs: Iterable[Numbered], form: str) -> Iterator[str]:
    """The text of jsonl or csv, line by line, as a pipe wants it."""
    return _jsonl(runs) if form == "jsonl" else _csv(runs)


# jsonl


def _jsonl(runs: Iterable[Numbered]) -> Iterator[str]:
    for number, run in runs:
        yield clean(msgspec.json.encode({"number": number} | msgspec.to_builtins(run)).decode()) + "\n"


# csv


class _Row(msgspec.Struct):
    number: int
    run: Run
    slice: Slice
    latency: dict[str, float]


Column = tuple[str, str, Callable[[_Row], Cell]]
"""Name, what it means, and where it comes from; a unit, where there is one, is the end of the name."""


def _field(name: str, means: str) -> Column:
    return (name, means, lambda row: getattr(row.slice, name))


def _error(kind: str) -> Column:
    """An absent kind is 0 only for a driver that can tell it."""

    def cell(row: _Row) -> Cell:
        told = row.run.driver_can is not None and kind in row.run.driver_can.error_kinds
        return row.slice.errors.get(kind, 0 if told else None)

    return (
        "errors_" + kind.replace("-", "_"),
        f"requests that ended as {kind}; empty: the driver does not report it",
        cell,
    )


def _latency(point: str) -> Column:
    name = f"latency_{point.replace('.', '_')}_ns"
    return (name, f"{point} of the latencies of this row", lambda row: row.latency.get(point))


COLUMNS: list[Column] = [
    ("run", "number of the Run", lambda row: row.number),
    ("trial", "id of the Trial", lambda row: row.run.trial.id),
    ("contender", "name", lambda row: row.run.trial.contender),
    ("workload", "name", lambda row: row.run.trial.workload),
    ("connections", "clients that loop", lambda row: row.run.trial.load.connections),
    ("keep_alive", "1 or 0: connections are used again", lambda row: int(row.run.trial.load.keep_alive)),
    ("driver", "load tool", lambda row: row.run.trial.driver),
    ("round", "from 1", lambda row: row.run.trial.round),
    ("outcome", "of the Run", lambda row: row.run.outcome),
    ("block", "number of the block it was measured in by turns; empty: alone", lambda row: row.run.block),
    ("beside", "the other contenders of that block", lambda row: " ".join(row.run.beside) or None),
    (
        "host",
        "of a fleet, by its address; empty: webdyno's own machine",
        lambda row: row.run.rig.contender_host or None,
    ),
    _field("phase", "warmup, turn or steady"),
    _field("turn", "pass of the block in which this was its turn, from 0; empty: no turn"),
    _field("index", "place of the Slice within its Run, from 0"),
    _field("start_ns", "CLOCK_MONOTONIC"),
    _field("duration_ns", "length of the Slice"),
    _field("offered", "requests that ended in it, however they ended"),
    _field("ok", "correct answers"),
    ("ok_per_s", "correct answers per second", lambda row: _ok_per_s(row.slice)),
    *(_error(kind) for kind in ERROR_KINDS),
    _field("bytes_in", "bytes received"),
    _field("bytes_out", "bytes sent"),
    _field("connections_opened", "connections opened"),
    _field("closes_announced", "connections ended because an answer said so"),
    _field("closes_silent", "connections the contender ended unannounced, between answers"),
    _field("stale_retries", "requests sent twice because the connection was gone"),
    _field("in_flight", "requests under way at its end"),
    _field("drained_ns", "of the length of a turn, how long it waited for the last answers"),
    _field("reopened", "connections that the server had closed while it rested, opened again before this turn"),
    _field("contender_cpu_ns", "what the contender's processes used in this stretch of a block"),
    _field("others_cpu_ns", "what other programs and the hypervisor took of the trial's cores in this turn"),
    *(_latency(point) for point in ("mean", "p50", "p75", "p90", "p99", "p99.9", "max")),
    ("driver_cpu_ns", "user and system time of the driver", lambda row: _driver_cpu_ns(row.slice)),
    ("driver_idle_ns", "time its threads had nothing to do, added up", lambda row: row.slice.idle_ns),
    ("driver_run_delay_ns", "time they could have run and had no core, added up", lambda row: row.slice.run_delay_ns),
]


def _csv(runs: Iterable[Numbered]) -> Iterator[str]:
    yield _csv_line([name for name, _, _ in COLUMNS])
    for number, run in runs:
        for slice_ in run.slices:
            row = _Row(number, run, slice_, _points(slice_))
            yield _csv_line([cell(row) for _, _, cell in COLUMNS])


def _csv_line(cells: Sequence[Cell]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(map(csv_cell, cells))
    return line.getvalue()


def _points(slice_: Slice) -> dict[str, float]:
    """What is known of the latency: counted, else as the driver said it, else nothing."""
    if slice_.latency_hdr is None:
        return slice_.latency_ns or {}
    histogram = decode(slice_.latency_hdr)
    points: dict[str, Any] = {"mean": histogram.mean, "max": histogram.max}
    points |= {f"p{percent:g}": histogram.percentile(percent) for percent in (50, 75, 90, 99, 99.9)}
    return {point: value for point, value in points.items() if value is not None}


def _ok_per_s(slice_: Slice) -> float | None:
    """None for a Slice too short for its driver's clock."""
    return slice_.ok * 1e9 / slice_.duration_ns if slice_.duration_ns else None


def _driver_cpu_ns(slice_: Slice) -> int | None:
    if slice_.cpu_user_ns is None or slice_.cpu_system_ns is None:
        return None
    return slice_.cpu_user_ns + slice_.cpu_system_ns


# hlog


SHORT = ("lead", "turn")
"""Phases whose times are those of a burst."""


def has_histogram(run: Run) -> bool:
    """Whether there is anything to put into a histogram log."""
    return any(slice_.latency_hdr for slice_ in run.slices if slice_.phase not in SHORT)


def log_name(number: int, run: Run) -> str:
    """``0007-gunicorn-hello-64c-r2.hlog``; the names may come from a file somebody mailed: only tame letters stay."""
    trial = run.trial
    name = f"{number:04}-{trial.contender}-{trial.workload}-{trial.load.connections}c-r{trial.round}"
    return re.sub(r"[^\w.-]", "_", name) + ".hlog"


def hlog(run: Run) -> str:
    """One HdrHistogram log of service times; intervals count from the first Slice."""
    trial = run.trial
    what = f"{trial.contender}, {trial.workload}, {trial.load.label}, round {trial.round}, trial {trial.id}"
    intervals = [
        Interval(slice_.start_ns, slice_.duration_ns, slice_.latency_hdr, "warmup" if slice_.phase == "warmup" else "")
        for slice_ in run.slices
        if slice_.phase not in SHORT
    ]
    return histogram_log(what, "service times", datetime.datetime.fromisoformat(run.started_at), intervals)


class Interval(NamedTuple):
    """One stretch of a histogram log."""

    start_ns: int | None
    """CLOCK_MONOTONIC; None: where the one before it ended."""
    duration_ns: int
    histogram: str | None
    """V2, DEFLATE, base64; None: nothing was counted."""
    tag: str
    """Readers take untagged intervals unless told otherwise."""


def histogram_log(what: str, times: str, started_at: datetime.datetime, intervals: Sequence[Interval]) -> str:
    """A log (format 1.3) of what was measured, ``times`` naming the kind; intervals count from the first one."""
    started = started_at.astimezone(datetime.UTC)
    epoch_s = started.timestamp()
    head = [
        f"#webdyno: {' '.join(clean(what).split())}",
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {epoch_s:.3f} (seconds since epoch), {started:%a %b %d %H:%M:%S %Y} UTC]",
        f"#[BaseTime: {epoch_s:.3f} (seconds since epoch)]",
        f"#{times} in nanoseconds, Interval_Max in milliseconds; 0 is the first interval, not the Run's start",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    return "\n".join([*head, *_lines_of(intervals)]) + "\n"


def _lines_of(intervals: Sequence[Interval]) -> Iterator[str]:
    at_ns = 0
    first_ns = intervals[0].start_ns if intervals else None
    for interval in intervals:
        if first_ns is not None and interval.start_ns is not None:
            at_ns = interval.start_ns - first_ns
        if interval.histogram is not None:
            tag = f"Tag={interval.tag}," if interval.tag else ""
            highest = (decode(interval.histogram).max or 0) / 1e6
            times = f"{at_ns / 1e9:.3f},{interval.duration_ns / 1e9:.3f}"
            yield f"{tag}{times},{highest:.3f},{interval.histogram}"
        at_ns += interval.duration_ns
