"""A load in the form in which ApacheBench 2.3 prints its own, for scripts that read it.

Where ab's counters overlap so do these: a reset is in Receive and in Exceptions, and once in Failed requests.
"""

from __future__ import annotations

from collections.abc import Iterator

from webdyno.commands.loading.figures import figures, of_status
from webdyno.histogram import Histogram
from webdyno.session.engine import Loaded

_SERVED = (50, 66, 75, 80, 90, 95, 98, 99, 100)


def ab_lines(_: str, loaded: Loaded) -> Iterator[str]:
    """As ``ab`` prints it after its banner."""
    said, order = figures(loaded), loaded.order
    broken = said.read + said.late
    complete = said.answers + broken
    failed = said.connect + broken + said.bodies
    head = _headers(loaded.summary.get("first_answer") or "")
    yield from (
        f"Benchmarking {order.host} (be patient).....done",
        "",
        "",
        f"Server Software:        {head.get('server', '')}",
        f"Server Hostname:        {order.host}",
        f"Server Port:            {order.port}",
        "",
        f"Document Path:          {order.requests[0].path}",
        f"Document Length:        {head.get('content-length', '0')} bytes",
        "",
        f"Concurrency Level:      {order.load.connections}",
        f"Time taken for tests:   {said.seconds:.3f} seconds",
        f"Complete requests:      {complete}",
        f"Failed requests:        {failed}",
    )
    if failed:
        yield f"   (Connect: {said.connect}, Receive: {broken}, Length: {said.bodies}, Exceptions: {broken})"
    if strange := of_status(said.statuses, 300, 599):
        yield f"Non-2xx responses:      {strange}"
    if order.load.keep_alive:
        yield f"Keep-Alive requests:    {max(0, said.answers - loaded.summary.get('closes_announced', 0))}"
    yield from _rates(said.bytes_in, complete, said.seconds, order.load.connections)
    yield from _times(loaded)


def _headers(first_answer: str) -> dict[str, str]:
    lines = [line.partition(":") for line in first_answer.split("\r\n")[1:]]
    return {name.strip().lower(): value.strip() for name, _, value in lines}


def _rates(bytes_in: int, complete: int, seconds: float, connections: int) -> Iterator[str]:
    each_ms = seconds * 1e3 / complete if complete else 0.0
    yield f"Total transferred:      {bytes_in} bytes"
    yield f"Requests per second:    {complete / seconds if seconds else 0.0:.2f} [#/sec] (mean)"
    yield f"Time per request:       {each_ms * connections:.3f} [ms] (mean)"
    yield f"Time per request:       {each_ms:.3f} [ms] (mean, across all concurrent requests)"
    yield f"Transfer rate:          {bytes_in / 1024 / seconds if seconds else 0.0:.2f} [Kbytes/sec] received"


def _times(loaded: Loaded) -> Iterator[str]:
    times = loaded.response
    yield ""
    yield "Connection Times (ms)"
    yield "              min  mean[+/-sd] median   max"
    for name, histogram in (
        ("Connect", loaded.merged("connect_hdr")),
        ("Processing", loaded.merged("latency_hdr")),
        ("Waiting", loaded.merged("ttfb_hdr")),
        ("Total", times),
    ):
        yield _row(name, histogram)
    if times is None:
        return
    yield ""
    yield "Percentage of the requests served within a certain time (ms)"
    for point in _SERVED:
        longest = " (longest request)" if point == 100 else ""
        yield f"{point:>4}% {_ms(times.percentile(point)):>6.0f}{longest}"


def _row(name: str, times: Histogram | None) -> str:
    if times is None:
        return f"{name + ':':<12}{0:>5}{0:>5}{0.0:>6.1f}{0:>7}{0:>8}"
    least, middle, most = _ms(times.min), _ms(times.percentile(50)), _ms(times.max)
    return f"{name + ':':<12}{least:>5.0f}{_ms(times.mean):>5.0f}{_ms(times.stdev):>6.1f}{middle:>7.0f}{most:>8.0f}"


def _ms(ns: float | None) -> float:
    return (ns or 0.0) / 1e6
