"""A load in the form in which wrk 4 and wrk2 print theirs, for scripts that read them.

``requests`` are complete answers and those that timed out, as in wrk, which waits for late answers and counts them in
both places. Req/Sec is per thread, by the slice.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from webdyno.commands.loading.figures import figures, of_status, within_stdev
from webdyno.histogram import Histogram
from webdyno.session.engine import Loaded

_STEP = 0.85
"""A unit is changed when its number would reach this part of the next unit's size."""
_SHORT = (50.0, 75.0, 90.0, 99.0)
_LONG = (50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0)
_TICKS_PER_HALF = 5
"""Of the spectrum: points in each halving of the distance to 100 %."""


def wrk_lines(url: str, loaded: Loaded) -> Iterator[str]:
    """wrk 4, asked with --latency."""
    yield from _head(url, loaded)
    yield "  Latency Distribution"
    times = loaded.response
    for point in _SHORT:
        yield f"{point:7.0f}%{_padded(_time_us(_us(times, point)), 10)}"
    yield from _tail(loaded)


def wrk2_lines(url: str, loaded: Loaded) -> Iterator[str]:
    """wrk2, asked with --latency."""
    yield from _head(url, loaded)
    yield "  Latency Distribution (HdrHistogram - Recorded Latency)"
    times = loaded.response
    for point in _LONG:
        yield f"{point:7.3f}%{_padded(_time_us(_us(times, point)), 10)}"
    yield ""
    yield "  Detailed Percentile spectrum:"
    yield "       Value   Percentile   TotalCount 1/(1-Percentile)"
    yield ""
    yield from _spectrum(times)
    yield "-" * 58
    yield from _tail(loaded)


def _head(url: str, loaded: Loaded) -> Iterator[str]:
    load, times = loaded.order.load, loaded.response
    threads = loaded.order.most_threads
    yield f"Running {_time_s(load.duration_s or loaded.seconds)} test @ {url}"
    yield f"  {threads} threads and {load.connections} connections"
    yield f"  Thread Stats{'Avg':>6}{'Stdev':>11}{'Max':>8}{'+/- Stdev':>12}"
    mean, stdev = ((times.mean or 0.0) / 1e3, (times.stdev or 0.0) / 1e3) if times else (0.0, 0.0)
    within = within_stdev(times) if times else 0.0
    yield _stats("Latency", within, *map(_time_us, (mean, stdev, _us(times, 100.0))))
    rates = [slice_.ok * 1e9 / slice_.duration_ns / threads for slice_ in loaded.steady if slice_.duration_ns]
    mean, stdev = (statistics.fmean(rates), statistics.pstdev(rates)) if rates else (0.0, 0.0)
    near = 100 * sum(abs(rate - mean) <= stdev for rate in rates) / max(1, len(rates))
    yield _stats("Req/Sec", near, *map(_metric, (mean, stdev, max(rates, default=0.0))))


def _stats(name: str, within: float, mean: str, stdev: str, most: str) -> str:
    return f"    {name:<10}{_padded(mean, 8)}{_padded(stdev, 10)}{_padded(most, 9)}{within:8.2f}%"


def _tail(loaded: Loaded) -> Iterator[str]:
    said = figures(loaded)
    yield f"  {said.answers + said.late} requests in {_time_us(said.seconds * 1e6)}, {_binary(said.bytes_in)}B read"
    if said.connect or said.read or said.late:
        yield f"  Socket errors: connect {said.connect}, read {said.read}, write 0, timeout {said.late}"
    if strange := of_status(said.statuses, 400, 599):
        yield f"  Non-2xx or 3xx responses: {strange}"
    yield f"Requests/sec: {said.per_s:9.2f}"
    yield f"Transfer/sec: {_binary(said.bytes_in / said.seconds if said.seconds else 0.0):>10}B"


def _spectrum(times: Histogram | None) -> Iterator[str]:
    """HdrHistogram's classic form: percentiles ever denser towards 100 %, values in ms."""
    if times is None:
        return
    counts, up_to = times.counts(), 0
    at = 0.0
    for place, (_, count) in enumerate(counts):
        up_to += count
        reached = 100.0 * up_to / times.count
        value_ms = (times.percentile(reached) or 0) / 1e6
        while at <= reached and not (place == len(counts) - 1 and at > 100.0 - 100.0 / times.count):
            shown = f"{1 / (1 - at / 100):12.2f}" if at < 100 else f"{'inf':>12}"
            yield f"{value_ms:12.3f} {at / 100:12.6f} {up_to:12d} {shown}"
            at = _next(at)
    yield f"{(times.max or 0) / 1e6:12.3f} {1:12.6f} {up_to:12d} {'inf':>12}"
    mean, stdev = (times.mean or 0.0) / 1e6, (times.stdev or 0.0) / 1e6
    yield f"#[Mean    = {mean:12.3f}, StdDeviation   = {stdev:12.3f}]"
    yield f"#[Max     = {(times.max or 0) / 1e6:12.3f}, Total count    = {times.count:12d}]"
    yield f"#[Buckets = {27:12d}, SubBuckets     = {2048:12d}]"


def _next(percent: float) -> float:
    """The next percentile of the spectrum: each halving of what is left has the same number of points."""
    halvings = math.floor(math.log2(100 / (100 - percent))) + 1 if percent < 100 else 60
    return percent + 100.0 / (_TICKS_PER_HALF * 2.0**halvings)


def _us(times: Histogram | None, point: float) -> float:
    value = None if times is None else times.percentile(point)
    return 0.0 if value is None else value / 1e3


def _scaled(number: float, scale: int, base: str, units: str, digits: int) -> str:
    unit = base
    for larger in units.split():
        if number < scale * _STEP:
            break
        number, unit = number / scale, larger
    return f"{number:.{digits}f}{unit}"


def _time_us(us: float) -> str:
    return _scaled(us / 1e6, 60, "s", "m", 2) if us >= 1e6 else _scaled(us, 1000, "us", "ms", 2)


def _time_s(seconds: float) -> str:
    return _scaled(seconds, 60, "s", "m", 0)


def _metric(number: float) -> str:
    return _scaled(number, 1000, "", "k M G T", 2)


def _binary(number: float) -> str:
    return _scaled(number, 1024, "", "K M G T", 2)


def _padded(text: str, width: int) -> str:
    """Numbers stand under each other, and units of one or two letters beside them."""
    pad = 2 - sum(letter.isalpha() for letter in text[-2:])
    return f"{text:>{width - pad}}{' ' * pad}"
