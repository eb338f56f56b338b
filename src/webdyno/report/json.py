"""The report as JSON: everything that is claimed, as data.

Every estimate with its interval, every doubt with its numbers.

Format history: 1, the first. 2: the time to the steady state and the knee of a scaling are estimates like all others
(``settled``, ``to_95``, ``knee``), and what stands outside of the tables names the doubts about it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from webdyno.model.outward import clean
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Skipped
from webdyno.model.verdict import Analysis
from webdyno.report.failed import Failure, failures
from webdyno.report.sides import Sides, sides_of

SCHEMA = 2


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The document."""

    schema: int
    study: str
    title: str
    question: str
    seed: int
    rounds: int
    """As many as there may be, in a race."""
    estimate: str
    runs_planned: int
    """At most, in a race that goes on."""
    runs_done: int
    measured: Sides
    """Side by side in turns, or alone."""
    fingerprint: Fingerprint
    analysis: Analysis
    failures: list[Failure]
    skipped: list[Skipped]


def render_json(plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis) -> bytes:
    """The document, indented, ending in a new line."""
    from webdyno.analyse.replay import trials_in_all  # numpy, which other commands need not wait for

    told = Told(
        schema=SCHEMA,
        study=plan.study,
        title=plan.title,
        question=plan.question,
        seed=plan.seed,
        rounds=plan.rounds_of_all,
        estimate=plan.estimate,
        runs_planned=trials_in_all(plan, runs, fingerprint.ceilings),
        runs_done=len({run.trial.id for run in runs if run.outcome != "interrupted"}),
        measured=sides_of(runs),
        fingerprint=fingerprint,
        analysis=analysis,
        failures=failures(runs),
        skipped=plan.skipped,
    )
    return clean(msgspec.json.format(msgspec.json.encode(told), indent=2).decode()).encode() + b"\n"
