"""Any two contenders of a table compared: for the picture at the top, and as data for the page's script.

The script shows the ratio of any two that a reader chooses. It gets logarithms of the figures and, of each pair, half
the interval of their difference, in ten-thousandths: with these it shows what the analysis would.
"""

from __future__ import annotations

from dataclasses import dataclass

from webdyno.analyse.ratios import Ratios, ratios
from webdyno.analyse.table import Table
from webdyno.model.trial import Plan
from webdyno.model.verdict import Verdict
from webdyno.report.answer import FIGURES

_MANY = 40
"""Contenders beyond which only rates are compared by the script: pairs are many, and the page is to stay small."""
_UNIT = 1e4


@dataclass(frozen=True, slots=True)
class Compared:
    """By figure; empty where nothing is compared."""

    ratios: dict[str, Ratios]
    data: dict[str, str]
    """Attributes for the table of the ranking."""


def compared(plan: Plan, table: Table, verdict: Verdict) -> Compared:
    """All figures of one table. Pairs that are asked at a fixed rate are not compared by it."""
    if verdict.pair_apart_s is not None:
        return Compared({}, {})
    found = {key: each for key in FIGURES if (each := ratios(plan, table, verdict, key)) is not None}
    names = [standing.contender for standing in verdict.standings if standing.place is not None]
    shown = {key: each for key, each in found.items() if key == "rate" or len(names) <= _MANY}
    return Compared(found, {f"data_{key}": _data(each, names) for key, each in shown.items()})


def _data(found: Ratios, names: list[str]) -> str:
    """``0,-1204;57,..``: the logarithm of each contender in the order of the ranking, then half the interval of each
    pair, the first with all behind it, the second with all behind that, and so on; empty: unknown.
    """
    at = [found.names.index(name) if name in found.names else None for name in names]
    first = next((found.logs[place] for place in at if place is not None), 0.0)
    logs = ["" if place is None else f"{(found.logs[place] - first) * _UNIT:.0f}" for place in at]
    reach = [
        "" if one is None or other is None or (half := found.reach[one][other]) is None else f"{half * _UNIT:.0f}"
        for row, one in enumerate(at)
        for other in at[row + 1 :]
    ]
    return f"{','.join(logs)};{','.join(reach)}"
