"""The report as JSON: everything that is claimed, as data.

Every estimate with its interval, every doubt with its numbers.

Format history: 1, the first.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Skipped
from webdyno.model.verdict import Analysis
from webdyno.report.words import Failure, failures

SCHEMA = 1


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The document."""

    schema: int
    study: str
    title: str
    question: str
    seed: int
    rounds: int
    estimate: str
    runs_planned: int
    runs_done: int
    fingerprint: Fingerprint
    analysis: Analysis
    failures: list[Failure]
    skipped: list[Skipped]


def render_json(plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis) -> bytes:
    """The document, indented, ending in a new line."""
    told = Told(
        schema=SCHEMA,
        study=plan.study,
        title=plan.title,
        question=plan.question,
        seed=plan.seed,
        rounds=plan.rounds,
        estimate=plan.estimate,
        runs_planned=len(plan.trials),
        runs_done=sum(run.outcome != "interrupted" for run in runs),
        fingerprint=fingerprint,
        analysis=analysis,
        failures=failures(runs),
        skipped=plan.skipped,
    )
    return msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n"
