"""Row: everything that is known of a kind of doubt but its sentence, which its rule writes from what it saw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple

from webdyno.model.doubt import Doubt, Severity

About = Literal["contender", "table", "study"]
Effect = tuple[Severity, ...]
VOIDS: Effect = ("voids",)
SHADES: Effect = ("shades",)
EITHER: Effect = ("voids", "shades")
"""By how bad it is."""
Numbers = Mapping[str, float | int | str]
EACH = "one per name"
"""Instead of a number: as many as there are packages, contenders or kinds of errors, under their own names."""


class Threshold(NamedTuple):
    """A limit of a rule, by the name that it has in the rule's file."""

    name: str
    value: float | tuple[float, float]
    """One, or from one to another."""
    unit: str


@dataclass(frozen=True, slots=True)
class Floor:
    """That a rate may be higher than it was measured, because something else held the contender back."""

    by: Literal["measuring", "warming", "counting", "service"]
    """measuring and warming: the rate is not its own, nor is a time; counting: a time is not touched; service: it may
    be its own, for a service is also full when the contender asks too much."""
    times: Callable[[Numbers], float]
    """How many times higher at most, by the doubt's numbers."""
    is_luck: bool = False
    """Another round may lift it."""
    flattered: Callable[[Numbers], float] | None = None
    """How many times lower at most: measuring may also have helped it. None: it never does."""


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of doubt about one kind of thing."""

    kind: str
    about: About
    effect: Effect
    rule: Callable[[Any], Doubt | None]
    """Of a Cell, a Table or Evidence; silent about what was not measured."""
    _: KW_ONLY
    advice: tuple[str, ...]
    """What to do; with more than one, the rule chooses."""
    numbers: tuple[str, ...]
    limits: tuple[Threshold, ...] = ()
    floor: Floor | None = None
