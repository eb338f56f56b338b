"""What people type for a length of time, a size, a rate or a share: the one reader of numbers with units.

A unit may be left out where only one can be meant: seconds, MB, requests per second, per cent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from webdyno.model.errors import UsageError

LONGEST_LOAD_H, LONGEST_WAIT_H = 24, 1
"""The engine's own limits."""
MOST_PER_S = 1e7
_LONGEST_H = 1000
_MOST_MB = 2**25
_NUMBER = re.compile(r"(?P<number>inf|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(?P<unit>[a-zµ%]*)", re.IGNORECASE)
_SECONDS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_MEGABYTES = {"k": 2**-10, "m": 1, "g": 2**10, "t": 2**20}
_PER_S = {"": 1.0, "k": 1e3}
_ASKED = re.compile(r"\s*(requests|req)?\s*/\s*s$|\s*rps$")


def seconds(text: str, flag: str, most_h: int = _LONGEST_H) -> float:
    """``500ms``, ``2s``, ``1.5 min``, or seconds; UsageError for what is none, or beyond ``most_h``."""
    value = _value(text, _SECONDS, "s")
    if value is None or not value > 0:
        raise UsageError(f"{flag} {text}: give a duration such as 500ms, 2s or 1m")
    if value > most_h * 3600:
        raise UsageError(f"{flag} {text}: that is too long, give up to {most_h}h")
    return value


def size_mb(text: str, flag: str) -> int | None:
    """``512M``, ``1.5 GB``, or MB, of 2**20 bytes each; ``none``: no limit; UsageError."""
    if text.strip().lower() == "none":
        return None
    sizes = {f"{unit}{end}": megabytes for unit, megabytes in _MEGABYTES.items() for end in ("", "b", "ib")}
    value = _value(text, sizes, "m")
    if value is None or value < 1:
        raise UsageError(f"{flag} {text}: give a size such as 512M or 2G, or none")
    if value > _MOST_MB:
        raise UsageError(f"{flag} {text}: no machine has that much memory; give a size such as 512M or 2G, or none")
    return round(value)


def share(text: str, flag: str, least: float, most: float) -> float:
    """``5%``, or per cent, as a part of the whole; UsageError below ``least`` and above ``most``, which are parts."""
    value = part_of(text)
    if value is None or not least <= value <= most:
        raise UsageError(f"{flag} {text}: give a share from {100 * least:g}% to {100 * most:g}%, such as 5%")
    return value


def per_s(text: str, flag: str, most_per_s: float = MOST_PER_S) -> float:
    """``5000``, ``5k``, ``5000/s``, ``5k requests/s``: requests per second, above 0; UsageError."""
    value = rate_of(text)
    if value is None or not 0 < value <= most_per_s:
        raise UsageError(f"{flag} {text}: give requests per second, above 0 and up to {most_per_s:,.0f}, such as 5000")
    return value


def rate_of(text: str) -> float | None:
    """As ``per_s``, also 0; None for what is no rate."""
    return _value(_ASKED.sub("", text.strip().lower()), _PER_S, "")


def part_of(text: str) -> float | None:
    """As ``share``, whatever its size; None for what is no share."""
    value = _value(text, {"%": 1.0}, "%")
    return None if value is None else value / 100


def length_ns(text: str) -> int | None:
    """A length of time that names its unit, in ns; None for what is none: what may be ms or s is not guessed."""
    value = _value(text, _SECONDS, "")
    return None if value is None or not value < _LONGEST_H * 3600 else round(value * 1e9)


def _value(text: str, units: Mapping[str, float], unit: str) -> float | None:
    """The number in the unit that all ``units`` are given in; ``unit`` where it has none; None for what is none."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None or (match["unit"] or unit).lower() not in units:
        return None
    return float(match["number"]) * units[(match["unit"] or unit).lower()]
