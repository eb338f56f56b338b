"""Axis: where a value lies on a scale, and the few round numbers written along it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_NARROW = 3.5
"""A logarithmic axis whose high end is less than this many times its low one has ticks like a straight one."""
_LEGIBLE = 0.07
"""Part of an axis between two ticks whose texts do not touch."""


@dataclass(frozen=True)
class Axis:
    """From ``low`` to ``high``, straight or logarithmic, with its ticks as value and text."""

    title: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False

    def at(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        if self.log:
            value = max(value, self.low)  # a tool that counts whole milliseconds may say 0
            return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return (value - self.low) / (self.high - self.low)


def straight(title: str, values: Iterable[float], text: Callable[[float], str], *, steps: int = 5) -> Axis:
    """From zero to a round number above the largest value."""
    most = max(values, default=1.0) or 1.0
    step = _round_up(most / steps)
    high = step * math.ceil(most / step - 1e-9)
    ticks = tuple((step * n, text(step * n)) for n in range(round(high / step) + 1))
    return Axis(title, 0.0, high, ticks)


def logarithmic(title: str, values: Sequence[float], text: Callable[[float], str]) -> Axis:
    """From just below the smallest to just above the largest value, with ticks at round numbers."""
    above_zero = [value for value in values if value > 0] or [1.0]
    low, high = min(above_zero) / 1.15, max(above_zero) * 1.15
    if high / low < _NARROW:
        return Axis(title, low, high, _ticks(low, high, _round_up((high - low) / 5), text), log=True)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 3, 5, 7) if high / low < 12 else (1, 2, 5) if len(decades) <= 5 else (1,)
    ticks = tuple((m * 10.0**d, text(m * 10.0**d)) for d in decades for m in steps if low <= m * 10.0**d <= high)
    return Axis(title, low, high, ticks, log=True)


def course(title: str, low: float, high: float, *, steps: int = 12) -> Axis:
    """Seconds from ``low``, which may lie before zero, to ``high``, with ticks at round numbers between them."""
    return Axis(title, low, high, _ticks(low, high, _round_up((high - low) / steps), lambda second: f"{second:g}"))


def levels(title: str, values: Sequence[float], text: Callable[[float], str]) -> Axis:
    """A logarithmic axis whose ticks are the very values, but for those too near to the one before to be read."""
    scale = logarithmic(title, values, text)
    kept: list[float] = []
    for value in sorted(set(values)):
        if not kept or scale.at(value) - scale.at(kept[-1]) >= _LEGIBLE:
            kept.append(value)
    return Axis(title, scale.low, scale.high, tuple((value, text(value)) for value in kept), log=True)


def nines(most: float) -> Axis:
    """Percentiles as HdrHistogram plots them: each step to the right is ten times rarer."""
    named = ((0.0, "0 %"), (1.0, "90 %"), (2.0, "99 %"), (3.0, "99.9 %"), (4.0, "99.99 %"), (5.0, "99.999 %"))
    high = max(1.0, min(5.0, most))
    return Axis("percentile", 0.0, high, tuple(tick for tick in named if tick[0] <= high + 1e-9))


def _ticks(low: float, high: float, step: float, text: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """The multiples of ``step`` from ``low`` to ``high``."""
    within = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return tuple((step * n, text(step * n)) for n in within)


def short(value: float) -> str:
    """``20k``, for the ticks of an axis."""
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"


def whole(value: float) -> str:
    """``1,024``, for what is counted one by one."""
    return f"{value:,.0f}"


def _round_up(value: float) -> float:
    """The next of 1, 2, 2.5, 5 and 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= value * (1 - 1e-9))
