"""Curve, Percentiles, Course: how figures of contenders go with the number of connections, how long parts of their
requests took, and how their rates go with the age of their servers."""

from __future__ import annotations

import msgspec

from webdyno.model.claim import Measure, OriginalFigure
from webdyno.model.estimate import Estimate


class CurveRow(msgspec.Struct, frozen=True, kw_only=True):
    """One contender: its figure at each number of connections; None where there is none."""

    contender: str
    cells: list[Estimate | None]
    facet: str = ""
    """Framework and server, in a study that has them on several runtimes; the contender is then one line of it."""
    line: str = ""
    """The runtime, in such a study."""
    doubts: list[list[str]] = []
    """Kinds of the Doubts about each cell; the tables tell them."""
    of_article: bool = False
    """It runs a system of the study's article as the article did."""
    published: list[OriginalFigure] = []
    """What the article says of this figure of it, where no ratio can be made of it."""


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of every contender against connections, all else the same, one driver only."""

    workload: str
    driver: str
    manner: str
    """Of the load, its number of connections apart: keep-alive, close ..."""
    measure: Measure
    connections: list[int]
    rows: list[CurveRow]
    """Best first, by the rates."""
    graph: str = ""
    """Title of the article's graph of this measure; empty: it has none."""
    trimmed: bool = False
    """Of each contender the highest and the lowest round are left out of its figures."""


class Percentiles(msgspec.Struct, frozen=True, kw_only=True):
    """Times within which parts of one contender's requests were served, in one table."""

    workload: str
    load: str
    driver: str
    contender: str
    measures: list[Measure]
    """One for each cell: p50 ..., and ``latency_max`` for all of them."""
    cells: list[Estimate | None]
    """None where the driver does not give this one."""
    doubts: list[str] = []
    """Kinds of the Doubts about them; the tables tell them."""


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """Rate of one contender in equal parts of its server's life under load, warm-up included."""

    workload: str
    load: str
    driver: str
    contender: str
    facet: str
    line: str
    parts: list[Estimate]
    gain: Estimate | None
    """The last part divided by the first."""
    doubts: list[str] = []
    """Kinds of the Doubts about it; the tables tell them."""
