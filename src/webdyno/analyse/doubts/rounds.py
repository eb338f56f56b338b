"""Doubts about the rounds: too few, drifting, or not all there."""

from __future__ import annotations

import math

from webdyno.analyse import words
from webdyno.analyse.estimate import fit
from webdyno.analyse.table import Evidence, Table
from webdyno.model.doubt import Doubt

ENOUGH = 3
DRIFT = 0.05
SURE = 0.01
FEW_ROUNDS_ADVICE = "run at least three rounds: the variance between starts of a server is what matters"
DRIFTED_ADVICE = "look for heat, a power-saving governor or a noisy neighbour; let the machine settle and measure again"
ONE_START_ADVICE = "run it without --in-place: every round then starts every server again"
INCOMPLETE_ADVICE = (
    "continue with `--resume` of the command that made it, which repeats nothing; if it has none, measure "
    "again, to the end"
)


def few_rounds(table: Table) -> Doubt | None:
    """Less than three successful rounds: no interval with one, a wide one with two."""
    short = [cell.name for cell in table.cells if cell.windows and len(cell.windows) < ENOUGH]
    if not short:
        return None
    least = min(len(cell.windows) for cell in table.cells if cell.windows)
    everyone = len(short) == sum(1 for cell in table.cells if cell.windows)
    who = "every contender has" if everyone else f"{words.listing(short)} {'has' if len(short) == 1 else 'have'}"
    what = "an interval needs two" if least < 2 else "intervals are wide"
    return Doubt(
        kind="few-rounds",
        severity="shades",
        subject="",
        sentence=f"{who} only {words.count(least, 'successful round')}: {what}",
        advice=FEW_ROUNDS_ADVICE,
        numbers={"rounds": least, "contenders": len(short)},
    )


def drifted(table: Table) -> Doubt | None:
    """All contenders became faster or slower together, by 5 % or more (p < 0.01), from the first to the last round.

    Comparisons remain valid, because they are made within rounds. The figures themselves come from a machine that was
    changing.
    """
    fitted = fit(table.figures(lambda window: window.rate_per_s), met=table.met)
    trend = fitted.trend if fitted else None
    if trend is None or trend.p >= SURE or abs(trend.log) < math.log1p(DRIFT):
        return None
    change = math.expm1(trend.log)
    return Doubt(
        kind="drifted",
        severity="shades",
        subject="",
        sentence=f"all contenders became {words.per_cent(abs(change))} {'faster' if change > 0 else 'slower'} "
        "from the first to the last round; comparisons are made within rounds and remain valid",
        advice=DRIFTED_ADVICE,
        numbers={"change": change, "p": trend.p},
    )


def one_start(evidence: Evidence) -> Doubt | None:
    """Rounds in place: a server differs from start to start, and this variation was not measured."""
    plan = evidence.plan
    if not plan.in_place:
        return None
    return Doubt(
        kind="one-start",
        severity="shades",
        subject="",
        sentence=f"each server was started once and measured {words.count(plan.rounds, 'time')} in place: the "
        "variation from start to start, which is most of it, is in no interval, so the intervals are too narrow",
        advice=ONE_START_ADVICE,
        numbers={"rounds": plan.rounds},
    )


def _left(evidence: Evidence) -> int:
    """Runs still to do; of a race, those it would do next."""
    if evidence.plan.race is not None:
        from webdyno.analyse.replay import replay  # which asks some of the rules itself

        return len(replay(evidence.plan, evidence.runs, evidence.fingerprint.ceilings).trials)
    done = {run.trial.id for run in evidence.runs if run.outcome != "interrupted"}
    return sum(trial.id not in done for trial in evidence.plan.trials)


def incomplete(evidence: Evidence) -> Doubt | None:
    """The plan was not carried out to its end."""
    left, planned = _left(evidence), len(evidence.plan.trials)
    if not left:
        return None
    raced = evidence.plan.race is not None
    missing = words.count(left, "run") + (" is" if left == 1 else " are") + " missing in the current round"
    return Doubt(
        kind="incomplete",
        severity="shades",
        subject="",
        sentence=f"the race has not ended: {missing}"
        if raced
        else f"{left} of {words.count(planned, 'planned run')} are missing",
        advice=INCOMPLETE_ADVICE,
        numbers={"missing": left} if raced else {"missing": left, "planned": planned},
    )
