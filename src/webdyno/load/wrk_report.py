"""What wrk and wrk2 say at the end: the line of JSON that our script makes them print, or else their own report.

The report rounds latencies to two decimals of a unit and the duration to hundredths, and hides a latency beyond p99; so
a line of our script, where there is one, is believed instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from webdyno.load.order import Fault
from webdyno.load.tool import last_words
from webdyno.model.sample import Phase, Slice

_TIME = r"(-?[\d.]+)(us|ms|s|m|h)"
_UNITS_US = {"us": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6}
_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
_WHOLE = re.compile(rf"\s*(\d+) requests in {_TIME}, ([\d.]+)([KMGTP]?)B read")
_SOCKET = re.compile(r"\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
_STATUS = re.compile(r"\s*Non-2xx or 3xx responses: (\d+)")
_SPREAD = re.compile(rf"\s*Latency\s+{_TIME}\s+{_TIME}\s+{_TIME}\s")
_POINT = re.compile(rf"\s*([\d.]+)%\s+{_TIME}\s*$")
_POINTS = {50.0: "p50", 75.0: "p75", 90.0: "p90", 99.0: "p99", 99.9: "p99.9"}


class Errors(msgspec.Struct):
    """Its counters, as it names them."""

    connect: int
    read: int
    write: int
    status: int
    timeout: int


class Report(msgspec.Struct):
    """One run; ``latency_us`` is None when nothing was answered in time."""

    duration_us: int
    requests: int
    bytes: int
    errors: Errors
    latency_us: dict[str, float] | None


def read_report(name: str, lines: Iterable[str]) -> Report | Fault:
    """The run as the tool called ``name`` told it; its standard error is among the lines."""
    heard = []
    for line in lines:
        heard.append(line)
        if line.startswith('{"webdyno":'):
            try:
                return msgspec.json.decode(line, type=Report)
            except msgspec.DecodeError as error:
                return Fault(f"{name}'s last line cannot be read ({error}): {line.strip()[:200]}")
    return _plain(heard) or Fault(f"{name} ended without a result: {last_words(heard)}")


def slice_of(report: Report, phase: Phase, late: int = 0) -> Slice:
    """The run as one Slice; ``late`` answers of it came after the timeout.

    An answer that is both late and of 400 or above is in both of wrk's counters; it is taken out once, as late.
    """
    errors = report.errors
    wrong = min(errors.status, report.requests - late)
    failed = errors.connect + errors.read + errors.write
    kinds = {"wrong-status": wrong, "timeout": late, "socket": failed}
    points = report.latency_us
    return Slice(
        phase=phase,
        index=0,
        start_ns=None,
        duration_ns=report.duration_us * 1000,
        offered=report.requests + failed,
        ok=report.requests - late - wrong,
        errors={kind: count for kind, count in kinds.items() if count},
        bytes_in=report.bytes,
        latency_ns=None if points is None else {point: value * 1000 for point, value in points.items()},
    )


def _plain(lines: list[str]) -> Report | None:
    """The report for people; None when there is none."""
    whole: re.Match[str] | None = None
    counts = {"connect": 0, "read": 0, "write": 0, "status": 0, "timeout": 0}
    points: dict[str, float] = {}
    for line in lines:
        if found := _WHOLE.match(line):
            whole = found
        elif found := _SOCKET.match(line):
            counts |= dict(zip(("connect", "read", "write", "timeout"), map(int, found.groups()), strict=True))
        elif found := _STATUS.match(line):
            counts["status"] = int(found[1])
        elif found := _SPREAD.match(line):
            points |= {name: _us(found[at], found[at + 1]) for name, at in (("mean", 1), ("stdev", 3), ("max", 5))}
        elif (found := _POINT.match(line)) and float(found[1]) in _POINTS:
            points.setdefault(_POINTS[float(found[1])], _us(found[2], found[3]))
    if whole is None:
        return None
    return Report(
        duration_us=round(_us(whole[2], whole[3])),
        requests=int(whole[1]),
        bytes=round(float(whole[4]) * _BYTES[whole[5]]),
        errors=Errors(**counts),
        latency_us=points if points.get("max") else None,
    )


def _us(number: str, unit: str) -> float:
    return float(number) * _UNITS_US[unit]
