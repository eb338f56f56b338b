"""Numbers as people read them: the one place where a figure becomes text, for sentences and for every report.

A figure is written with the digits its interval supports and no more: the last digit shown is at most a fourth of the
half-width away from the truth we computed. Without an interval it gets three digits. The text is plain ASCII but for
the micro sign, so that it survives a pipe, a mail and a log.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from webdyno.model.verdict import Estimate

MISSING, UNKNOWN = "-", "unknown"
_SMALL_RATIO = 0.1
"""Below it two places would be one digit."""
_MOST_PLACES = 4
_EXACT = 1e-9
"""Of a figure, the half-width below which it was the same in every round: as bytes of an answer are."""
_WIDEST = 1000.0
"""Times its lower end that the upper end of an interval is at most where it tells a reader anything."""


def decimals(value: float, half_width: float | None) -> int:
    """Digits after the point that ``value`` deserves; negative: zeros before it."""
    if not math.isfinite(value) or value == 0:
        return 0
    significant = 2 - math.floor(math.log10(abs(value)))
    if half_width is None or not math.isfinite(half_width):
        return significant
    if half_width <= abs(value) * _EXACT:
        return significant
    return max(min(-math.floor(math.log10(half_width / 2)), significant + 2), significant - 2)


def number(value: float, places: int) -> str:
    """``48244.3, -2`` -> ``48,200``; thousands are separated by commas."""
    return f"{round(value, places):,.{max(places, 0)}f}"


def half_width(estimate: Estimate) -> float | None:
    """Half the length of its interval; None without one."""
    return None if estimate.low is None or estimate.high is None else (estimate.high - estimate.low) / 2


def plain(estimate: Estimate, scale: float = 1.0) -> str:
    """Its value, in units of ``scale``."""
    width = half_width(estimate)
    return number(estimate.value / scale, decimals(estimate.value / scale, None if width is None else width / scale))


def interval(estimate: Estimate, scale: float = 1.0, dash: str = "-", places: int | None = None) -> str:
    """``47,950-48,700``; empty without an interval. Written with the digits of the value it belongs to, or with as many
    ``places``; an end that is not zero never reads as zero, for a ratio of ``60-17,000`` is far from none."""
    width = half_width(estimate)
    if estimate.low is None or estimate.high is None or width is None:
        return ""
    if is_unknown(estimate):
        return UNKNOWN
    places = decimals(estimate.value / scale, width / scale) if places is None else places
    return dash.join(_end(end / scale, places) for end in (estimate.low, estimate.high))


def is_unknown(estimate: Estimate) -> bool:
    """Whether its interval says nothing: one degree of freedom makes ends of ``0.00`` and ``10,128,867,474``."""
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and low > 0 and high > _WIDEST * low


def _end(value: float, places: int) -> str:
    lost = value != 0 and round(value, places) == 0
    return number(value, decimals(value, None) - 1 if lost else places)


def with_interval(estimate: Estimate, unit: str) -> str:
    """``48,200 requests/s (47,950-48,700)``."""
    bounds = interval(estimate)
    return f"{plain(estimate)} {unit}" + (f" ({bounds})" if bounds else "")


def times(estimate: Estimate) -> str:
    """A ratio: ``1.32x``."""
    return f"{plain(estimate)}x"


def of_best(ratio: Estimate, dash: str = "-", places: int | None = None) -> str:
    """``0.75x (0.71-0.79)``: a rate divided by that of the best, and where that ratio lies; see ``places_of_best``."""
    places = places_of_best(ratio) if places is None else places
    if ratio.low is None or ratio.high is None or ratio.low == ratio.high:
        return f"{number(ratio.value, places)}x"
    if is_unknown(ratio):
        return f"{number(ratio.value, places)}x ({UNKNOWN})"
    low, high = (number(end, places) for end in (ratio.low, ratio.high))
    return f"{number(ratio.value, places)}x ({low}{dash}{high})"


def places_of_best(ratio: Estimate) -> int:
    """As many digits for everyone, so that a column can be compared at a glance; more only where an end of the interval
    would read as the ratio itself, or as 1, which it is not.
    """
    places = 2 if ratio.value >= _SMALL_RATIO else 3
    if ratio.low is None or ratio.high is None or ratio.low == ratio.high:
        return places
    ends = [ratio.low, ratio.high]
    while places < _MOST_PLACES and any(round(end, places) in (round(ratio.value, places), 1.0) for end in ends):
        places += 1
    return places


def rate(per_s: float) -> str:
    """``48,200/s``, without an interval: three digits."""
    return f"{number(per_s, min(decimals(per_s, None), 2))}/s"


_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_SIZES = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "bytes"))


def time_unit(ns: float) -> tuple[float, str]:
    """The unit ``ns`` reads best in: its length in ns, and its name."""
    return next((pair for pair in _TIMES if abs(ns) >= pair[0]), _TIMES[-1])


def time_ns(ns: float | Estimate) -> str:
    """``1.23 ms``; an Estimate with the digits its interval supports."""
    value = ns.value if isinstance(ns, Estimate) else ns
    scale, unit = time_unit(value)
    if isinstance(ns, Estimate):
        return f"{plain(ns, scale)} {unit}"
    return f"{number(value / scale, decimals(value / scale, None))} {unit}"


def size(of: float | Estimate) -> str:
    """``61.2 MiB``: powers of 1024, as container tools and the studies' memory limits count."""
    value = of.value if isinstance(of, Estimate) else of
    scale, unit = next((pair for pair in _SIZES if abs(value) >= pair[0]), _SIZES[-1])
    return f"{number(value / scale, min(decimals(value / scale, None), 1))} {unit}"


def per_cent(part: float) -> str:
    """``0.31 %``; what is not zero never reads as zero."""
    percent = part * 100
    if 0 < percent < 0.01:
        return "< 0.01 %"
    return f"{number(percent, 0 if percent >= 10 or percent == 0 else 1 if percent >= 1 else 2)} %"


def count(number_of: int, noun: str = "") -> str:
    """``1 round``, ``1,200 rounds``; ``1,200`` without a noun."""
    return f"{number_of:,} {noun if number_of == 1 else noun + 's'}" if noun else f"{number_of:,}"


def listing(names: Sequence[str], most: int = 6) -> str:
    """``a, b and c``; a long list is cut and says by how much."""
    shown = list(names[:most]) + ([f"{len(names) - most} more"] if len(names) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


def length(seconds: float) -> str:
    """``45 s``, ``5 min 20 s``, ``2 h 5 min``."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return (f"{minutes} min" + (f" {left} s" if left else "")) if minutes else f"{left} s"
