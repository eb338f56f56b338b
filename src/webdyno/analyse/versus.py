"""Versus: head against base over a whole results folder, or over two, with every reason not to believe it.

Joins figures, changes and doubts into one verdict per table, and these into one for all: worse when any table is, for
that is what a merge must not let through.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

import msgspec

from webdyno.analyse.change import Change, Judgement, judge_apart
from webdyno.analyse.deciding import decide, judge
from webdyno.analyse.doubts import about_contender, about_study, about_table
from webdyno.analyse.doubts.alike import all_equal
from webdyno.analyse.doubts.machine import placement
from webdyno.analyse.doubts.rounds import few_rounds, incomplete
from webdyno.analyse.doubts.table import kind_of
from webdyno.analyse.estimate import fit
from webdyno.analyse.floors import SERVICE_BOUND, room
from webdyno.analyse.sitting import made_of, planned
from webdyno.analyse.table import Cell, Evidence, Table, tables
from webdyno.analyse.verdict import FIGURES
from webdyno.analyse.window import BLAMELESS
from webdyno.model.doubt import Doubt
from webdyno.model.errors import UsageError
from webdyno.model.estimate import Estimate

BASE, HEAD = "base", "head"
SHOWN = ("rate", "p50", "p99", "cpu_per_request", "memory_peak")
"""Figures that are told; the rate is judged, and in pairs CPU per request where the rate cannot tell."""
MORE_ERRORS = 0.001
"""By how much the error rate of head may be above that of base."""
_OF_A_STUDY = (kind_of(incomplete), kind_of(few_rounds), kind_of(all_equal))
"""Doubts about a ranking of many: here few rounds are in the interval, and equality is an answer."""

Outcome = Literal["better", "same", "worse", "cannot tell"]
_OUTCOMES: dict[Judgement, Outcome] = {
    "faster": "better",
    "slower": "worse",
    "same": "same",
    "cannot tell": "cannot tell",
}


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of one side."""

    rate: Estimate | None
    error_ratio: float
    failed: list[str]
    """What went wrong in rounds that did not succeed, a sentence each."""
    log_tail: str = ""


class Versus(msgspec.Struct, frozen=True, kw_only=True):
    """One table: one workload under one load, base and head."""

    where: str
    outcome: Outcome
    why: str
    """Empty, or what made the outcome where it was no figure."""
    by: str = "rate"
    """The figure that decided."""
    changes: dict[str, Change]
    base: Side
    head: Side
    pairs: int
    doubts: list[str]


def over_pairs(evidence: Evidence, base: str, head: str, margin: float) -> Versus:
    """Two contenders of one folder, whose rounds are pairs made in one sitting."""
    for table in tables(evidence):
        cells = {cell.name: cell for cell in table.cells}
        if {base, head} <= set(cells):
            doubts = about_study(evidence)
            asked, made = evidence.plan.paired, made_of(evidence.runs, (base, head))
            judge = partial(_paired, cells[base], cells[head], margin, planned(asked, made))
            return _versus(Shared(cells[base], cells[head], table, table), doubts, judge)
    raise UsageError(f"no table has both {base} and {head}")


def over_folders(base: Evidence, head: Evidence, margin: float) -> list[Versus]:
    """Every table that two folders share. UsageError when they share none."""
    return [versus for _, versus in side_by_side(base, head, margin)]


class Shared(NamedTuple):
    """What two folders have in common: one contender under one load of one workload."""

    base: Cell
    head: Cell
    table: Table
    """Of head."""
    base_table: Table

    @property
    def is_paired(self) -> bool:
        """Both are of one sitting."""
        return self.table is self.base_table


def side_by_side(base: Evidence, head: Evidence, margin: float) -> list[tuple[Shared, Versus]]:
    """What ``over_folders`` compares, each with its cells.

    Contenders are matched by name; where each folder has a single one, these two.
    """
    ones, others = tables(base), tables(head)
    shared = [
        Shared(mine, theirs, other, one)
        for one in ones
        for other in others
        if (one.workload.name, one.load, one.driver) == (other.workload.name, other.load, other.driver)
        for mine, theirs in _matched(one, other)
    ]
    if not shared:
        raise UsageError("the two folders share no contender under the same workload and load: nothing can be compared")
    doubts = [doubt for each in (base, head) for doubt in about_study(each)]
    found = []
    for it in shared:
        judge = partial(_apart, it.base, it.head, margin, len(shared))
        named = f"{it.head.name}: " if len(shared) > 1 else ""
        versus = _versus(it, doubts, judge)
        found.append((it, msgspec.structs.replace(versus, where=f"{named}{versus.where}", pairs=0)))
    return found


def figure_of(cell: Cell, figure: str) -> Estimate | None:
    """A figure of FIGURES over the rounds of one cell alone; None when no round has it."""
    unit, of = FIGURES[figure]
    fitted = fit({(cell.name, w.run.trial.round): value for w in cell.windows if (value := of(w))})
    return None if fitted is None else fitted.estimate(cell.name, unit)


def outcome_of(tables_: Sequence[Versus]) -> Outcome:
    """Of all tables together."""
    told = {each.outcome for each in tables_}
    if "worse" in told:
        return "worse"
    if "cannot tell" in told or not told:
        return "cannot tell"
    return "better" if told == {"better"} else "same"


def _matched(one: Table, other: Table) -> list[tuple[Cell, Cell]]:
    mine, theirs = {c.name: c for c in one.cells}, {c.name: c for c in other.cells}
    shared = [(mine[name], theirs[name]) for name in mine if name in theirs]
    if not shared and len(mine) == len(theirs) == 1:
        return [(one.cells[0], other.cells[0])]
    return shared


def _versus(it: Shared, study: Sequence[Doubt], judge: Callable[[str], Change]) -> Versus:
    changes = {figure: judge(figure) for figure in SHOWN}
    about = {BASE: about_contender(it.base), HEAD: about_contender(it.head)}
    beside = [*about_table(it.base_table), *about_table(it.table)]
    outcome, why, by = _outcome(changes, it, about, beside)
    told = dict.fromkeys(
        doubt.sentence for doubt in [*about[BASE], *about[HEAD], *beside, *study] if doubt.kind not in _OF_A_STUDY
    )
    return Versus(
        where=f"{it.table.workload.name}, {it.table.load.label}",
        outcome=outcome,
        why=why,
        by=by,
        changes=changes,
        base=_side(it.base),
        head=_side(it.head),
        pairs=changes["rate"].ratio.rounds if changes["rate"].ratio else 0,
        doubts=list(told),
    )


def _outcome(
    changes: Mapping[str, Change], it: Shared, about: Mapping[str, Sequence[Doubt]], beside: Sequence[Doubt]
) -> tuple[Outcome, str, str]:
    """Failures first: a server that fails has no speed to compare. ``beside`` are the doubts about both tables.

    With the reason where it is no figure, and the figure.
    """
    if failed := _failed(it):
        return (*failed, "rate")
    if why := _not_comparable(it, about, beside):
        return "cannot tell", why, "rate"
    told = _OUTCOMES[changes["rate"].verdict]
    held = _held_back(told, about, changes["rate"])
    if told != "cannot tell" and not held:
        return told, "", "rate"
    verdict, by = decide({figure: change for figure, change in changes.items() if figure != "rate"})
    if it.is_paired and verdict != "cannot tell":
        return _OUTCOMES[verdict], "", by
    return "cannot tell", held, "rate"


def _failed(it: Shared) -> tuple[Outcome, str] | None:
    """What failures alone decide."""
    if it.base.failed:
        return "cannot tell", "base failed" + (", and so did head" if it.head.failed else "")
    if it.head.failed:
        if all(run.outcome in BLAMELESS for run in it.head.failed):
            return "cannot tell", "the load tool or the service failed in a run of head"
        return "worse", "head failed where base did not"
    if it.head.error_ratio > it.base.error_ratio + MORE_ERRORS:
        return "worse", "head answers more requests with errors"
    return None


def _not_comparable(it: Shared, about: Mapping[str, Sequence[Doubt]], beside: Sequence[Doubt]) -> str:
    """Why the figures of the two may not be compared at all; empty when they may."""
    for side, doubts in about.items():
        for doubt in doubts:
            if doubt.severity == "voids":
                return f"a doubt voids {side}: {doubt.kind}"
    for doubt in beside:
        if doubt.severity == "voids" and doubt.kind not in _OF_A_STUDY:
            return f"a doubt voids the table: {doubt.kind}"
    base, head = ({placement(window.run.rig) for window in cell.windows} for cell in (it.base, it.head))
    alike = base == head or not (base and head)
    return "" if alike else "base and head had different placements of cores and memory"


def _held_back(outcome: Outcome, about: Mapping[str, Sequence[Doubt]], rate: Change) -> str:
    """Why an outcome does not follow: a rate that is a floor may be higher, and then the outcome would be another.

    By the end of the interval that lies nearest to another outcome, not by its middle.
    """
    if rate.ratio is None:
        return ""
    low, high = rate.ratio.low or rate.ratio.value, rate.ratio.high or rate.ratio.value
    limit = 1 + rate.margin if outcome == "same" else 1.0
    reach = {BASE: _room(about[BASE]) / low, HEAD: _room(about[HEAD]) * high}
    held = [side for side, most in reach.items() if _room(about[side]) > 1 and most > limit]
    against: dict[str, Outcome] = {BASE: "better", HEAD: "worse"}
    decided = [side for side in held if outcome in ("same", against[side])]
    if len(held) > 1 and (decided or outcome == "cannot tell"):
        return "both were limited by something other than themselves"
    return f"{decided[0]} was limited by something other than itself" if decided else ""


def _room(doubts: Sequence[Doubt]) -> float:
    """How many times faster than measured a side may be."""
    return math.inf if any(doubt.kind == SERVICE_BOUND for doubt in doubts) else room(doubts)


def _side(cell: Cell) -> Side:
    failed = cell.failed
    return Side(
        rate=figure_of(cell, "rate"),
        error_ratio=cell.error_ratio,
        failed=list(dict.fromkeys(f"{run.outcome}: {run.message}" for run in failed)),
        log_tail=failed[-1].log_tail if failed else "",
    )


def _paired(base: Cell, head: Cell, margin: float, most: int | None, figure: str) -> Change:
    """Where they were measured in blocks, a pair is of one block."""
    mine, theirs = ({window.run.trial.round: window for window in cell.windows} for cell in (base, head))
    both = ((mine[number], theirs[number]) for number in sorted(set(mine) & set(theirs)))
    return judge([pair for pair in both if pair[0].run.block == pair[1].run.block], figure, margin, most)


def _apart(base: Cell, head: Cell, margin: float, at_once: int, figure: str) -> Change:
    of = FIGURES[figure][1]
    mine, theirs = ([value for window in cell.windows if (value := of(window))] for cell in (base, head))
    return judge_apart(mine, theirs, margin, tables=at_once, higher_is_better=figure == "rate")
