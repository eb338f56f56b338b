"""A load in the form in which oha 1 prints its own for people (``--no-tui``), for scripts that read it."""

from __future__ import annotations

from collections.abc import Iterator

from webdyno.analyse.error_share import NOT_AN_ERROR, failed
from webdyno.commands.loading.figures import figures
from webdyno.histogram import Histogram
from webdyno.session.engine import Loaded

_POINTS = (10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99)
_BARS = 11
_WIDTH = 32
_MESSAGES = {NOT_AN_ERROR: "aborted due to deadline", "connect-refused": "Connection refused (os error 111)"}
_ANSWERED = ("wrong-status", "wrong-body")
"""In the statuses, and no errors to oha."""
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def oha_lines(_: str, loaded: Loaded) -> Iterator[str]:
    """The whole report."""
    said, times = figures(loaded), loaded.response
    errors = {kind: n for kind, n in loaded.summary["errors"].items() if n and kind not in _ANSWERED}
    asked = said.answers + failed(errors)
    yield "Summary:"
    yield f"  Success rate:\t{100 * said.answers / asked if asked else 0.0:.2f}%"
    yield f"  Total:\t{said.seconds:.4f} secs"
    yield f"  Slowest:\t{_s(times.max if times else None)}"
    yield f"  Fastest:\t{_s(times.min if times else None)}"
    yield f"  Average:\t{_s(times.mean if times else None)}"
    yield f"  Requests/sec:\t{said.answers / said.seconds if said.seconds else 0.0:.4f}"
    yield ""
    yield f"  Total data:\t{_size(said.bytes_in)}"
    yield f"  Size/request:\t{_size(said.bytes_in / said.answers if said.answers else 0.0)}"
    yield f"  Size/sec:\t{_size(said.bytes_in / said.seconds if said.seconds else 0.0)}"
    if times is not None:
        yield from _distribution(times)
    if connect := loaded.merged("connect_hdr"):
        yield ""
        yield "Details (average, fastest, slowest):"
        yield f"  DNS+dialup:\t{_s(connect.mean)}, {_s(connect.min)}, {_s(connect.max)}"
    yield ""
    yield "Status code distribution:"
    for status, number in sorted(said.statuses.items(), key=lambda item: -item[1]):
        yield f"  [{status}] {number} responses"
    if errors:
        yield ""
        yield "Error distribution:"
        for kind, number in sorted(errors.items(), key=lambda item: -item[1]):
            yield f"  [{number}] {_MESSAGES.get(kind, kind)}"


def _distribution(times: Histogram) -> Iterator[str]:
    least, most = times.min or 0, times.max or 0
    step = (most - least) / (_BARS - 1)
    bins = [0] * _BARS
    for value, count in times.counts():
        bins[min(_BARS - 1, -int(-(value - least) // step)) if step else 0] += count
    fullest = max(bins)
    yield ""
    yield "Response time histogram:"
    width = len(str(fullest))
    for at, count in enumerate(bins):
        bar = "■" * (count * _WIDTH // fullest)
        yield f"  {(least + at * step) / 1e9:.3f} sec [{count}]{' ' * (width - len(str(count)))} |{bar}"
    yield ""
    yield "Response time distribution:"
    for point in _POINTS:
        yield f"  {point:.2f}% in {_s(times.percentile(point))}"


def _s(ns: float | None) -> str:
    return "NaN secs" if ns is None else f"{ns / 1e9:.4f} secs"


def _size(number: float) -> str:
    unit = _UNITS[0]
    for larger in _UNITS[1:]:
        if number < 1024:
            break
        number, unit = number / 1024, larger
    return f"{number:.0f} {unit}" if unit == "B" else f"{number:.2f} {unit}"
