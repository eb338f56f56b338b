"""Doubts about the answers: wrong ones under load, rounds in which there were none, and rounds in which they ended.

Both come from published tables: servers ranked by the speed of their error pages, and a mean taken of two crashes and
two successes.
"""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.doubts.driver import generator_bound
from webdyno.analyse.error_share import error_share
from webdyno.analyse.table import Cell
from webdyno.analyse.unanswered import silence
from webdyno.analyse.window import BLAMELESS, TOO_MANY
from webdyno.model.doubt import Doubt
from webdyno.model.run import OUTCOMES

WRONG_ANSWERS_ADVICE = (
    "look at its log and at first_error in the Run; use fewer connections until it answers everything"
)
DEAD_CELL_ADVICE = "read the end of its log; `webdyno check {name}` starts it without load"
NOT_ITS_FAULT_ADVICE = "what failed was not {name}: read the messages of those runs, then measure again"
FELL_SILENT_ADVICE = "look in its log for a deadlock, or for a pool whose places are never returned"


def wrong_answers(cell: Cell) -> Doubt | None:
    """Requests that failed.

    Shades; voids from 1 % on, because a server that drops work is not compared with one that does it. Requests that a
    load generator at its own limit never sent (``shed``) are not the server's fault.
    """
    errors = cell.errors
    if "shed" in errors and generator_bound(cell) is not None:
        del errors["shed"]
    wrong = sum(errors.values())
    if not wrong:
        return None
    ratio = error_share(errors, sum(window.ok for window in cell.windows))
    told = words.listing([f"{errors[kind]:,} {kind}" for kind in sorted(errors, key=lambda kind: -errors[kind])], 3)
    return Doubt(
        kind="wrong-answers",
        severity="voids" if ratio >= TOO_MANY else "shades",
        subject=cell.name,
        sentence=f"{cell.name} failed {words.per_cent(ratio)} of the requests ({told}); only correct answers count "
        "in its rate",
        advice=WRONG_ANSWERS_ADVICE,
        numbers={"share": ratio, **errors},
    )


def dead_cell(cell: Cell) -> Doubt | None:
    """Rounds that failed. They are never in an average. A contender that failed through its own fault is not ranked."""
    if not cell.failed:
        return None
    own = [run for run in cell.failed if run.outcome not in BLAMELESS]
    outcome = (own or cell.failed)[0].outcome
    what = OUTCOMES["no-success"] if outcome == "ok" else OUTCOMES[outcome]
    return Doubt(
        kind="dead-cell",
        severity="voids" if own else "shades",
        subject=cell.name,
        sentence=f"{cell.name} {what} in {len(cell.failed)} of {words.count(len(cell.runs), 'round')}; failed "
        "rounds are in no figure",
        advice=(DEAD_CELL_ADVICE if own else NOT_ITS_FAULT_ADVICE).format(name=cell.name),
        numbers={"failed": len(cell.failed), "rounds": len(cell.runs), "outcome": outcome},
    )


def fell_silent(cell: Cell) -> Doubt | None:
    """No request was answered at the end of a round, for a second and for longer than its answers take, though requests
    waited. Its rate is that of the time before. Voids.
    """
    silences = [(window, found) for window in cell.windows if (found := silence(window.run.slices)) is not None]
    if not silences:
        return None
    window, worst = max(silences, key=lambda pair: pair[1].ns)
    return Doubt(
        kind="fell-silent",
        severity="voids",
        subject=cell.name,
        sentence=f"{cell.name} stopped answering in {words.count(len(silences), 'round')}: {worst.sentence} "
        f"(round {window.run.trial.round})",
        advice=FELL_SILENT_ADVICE,
        numbers={"rounds": len(silences), "silent_ns": worst.ns, "unanswered": worst.unanswered},
    )
