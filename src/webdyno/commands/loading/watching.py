"""What is seen while a load runs: a panel on a terminal, redrawn with each slice; nothing anywhere else."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from webdyno.analyse.error_share import failed
from webdyno.analyse.words import rate, time_ns
from webdyno.commands.printing import err_console, err_is_seen, out_is_seen
from webdyno.histogram import decode
from webdyno.load.driver import Event
from webdyno.model.load import Load
from webdyno.model.outward import clean
from webdyno.model.sample import Slice

if TYPE_CHECKING:
    from rich.console import Group

RECENT = 8
"""Slices kept in sight."""
_SPECTRUM = (50.0, 75.0, 90.0, 99.0, 99.9, 100.0)
_BAR = 40


@contextlib.contextmanager
def watching(title: str, load: Load, *, quiet: bool) -> Iterator[Callable[[Event], None]]:
    """Gives what is told every event; it draws on standard error when that is a terminal, and standard output too.

    Standard output matters because nobody looks at a panel who pipes the result into a file and the panel away.
    """
    if quiet or not (err_is_seen() and out_is_seen()):
        yield lambda _: None
        return
    from rich.live import Live

    panel = Panel(title, load)
    with Live(console=err_console(), auto_refresh=False, transient=True, redirect_stderr=False) as live:

        def watch(event: Event) -> None:
            if isinstance(event, Slice) and event.duration_ns:
                panel.add(event)
                live.update(panel.draw(), refresh=True)

        yield watch


class Panel:
    """The last few slices and the spectrum of the last one. Redrawn once per slice: more would cost the engine."""

    def __init__(self, title: str, load: Load) -> None:
        self._title, self._load = title, load
        self._lines: list[str] = []
        self._spectrum: list[tuple[str, int]] = []
        self._passed_ns = 0

    def add(self, slice_: Slice) -> None:
        """A slice is over."""
        self._passed_ns += slice_.duration_ns
        text = slice_.response_hdr or slice_.latency_hdr
        histogram = decode(text) if text else None
        self._spectrum = []
        if histogram is not None:
            points = [(point, histogram.percentile(point)) for point in _SPECTRUM]
            self._spectrum = [("max" if p == 100 else f"p{p:g}", value) for p, value in points if value is not None]
        self._lines = [*self._lines, slice_line(slice_, dict(self._spectrum))][-RECENT:]

    def text(self) -> list[str]:
        """What the panel shows, line by line."""
        whole = self._load.duration_s
        of = "" if whole is None else f" of {self._load.warmup_s + whole:g}"
        head = f"{self._title}  {self._load.label}  {self._passed_ns / 1e9:.0f}{of} s, Ctrl-C stops and keeps it"
        most = max((value for _, value in self._spectrum), default=0) or 1
        bars = [f"  {name:>6} {time_ns(value):>9} {'█' * bar_length(value, most)}" for name, value in self._spectrum]
        return [head, *self._lines, *bars]

    def draw(self) -> Group:
        """For rich."""
        from rich.console import Group
        from rich.text import Text

        return Group(*(Text(clean(line), no_wrap=True, overflow="ellipsis") for line in self.text()))


def bar_length(value: float, most: float) -> int:
    """At least one block, as a share of the longest: linear, so that a tail looks as long as it is."""
    return max(1, round(_BAR * value / most))


def slice_line(slice_: Slice, points: dict[str, int]) -> str:
    """One slice in one line."""
    seconds = slice_.duration_ns / 1e9
    wrong = failed(slice_.errors)
    times = "  ".join(f"{name} {time_ns(points[name])}" for name in ("p50", "p99") if name in points)
    head = f"  {slice_.phase} {slice_.index + 1:>4}  {rate(slice_.ok / seconds):>12}"
    return f"{head}  {times}  {rate(wrong / seconds)} errors"
