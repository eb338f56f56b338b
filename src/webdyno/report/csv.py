"""The report as CSV: one line for each contender in each table, plain numbers in the units of their column names.

Unknown is empty, never 0. Runs and Slices are not here: `webdyno export` writes those.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from webdyno.model.outward import csv_cell
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis, Estimate, Standing, Verdict

_FIGURES = {
    "rate_per_s": "rate",
    "ratio_to_best": "ratio_to_best",
    "p50_ns": "p50",
    "p99_ns": "p99",
    "cpu_per_request_ns": "cpu_per_request",
    "memory_peak_bytes": "memory_peak",
    "received_bytes_per_s": "bytes_per_s",
    "service_cpu_per_request_ns": "service_cpu_per_request",
    "memory_staying_bytes_per_request": "memory_staying",
}
"""Column and field of a Standing; each column is followed by its interval."""


def render_csv(plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis) -> str:  # noqa: ARG001
    """The whole report; every form takes the same four, whether it needs them or not."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=_columns(), lineterminator="\n")
    writer.writeheader()
    for verdict in analysis.verdicts:
        for standing in verdict.standings:
            writer.writerow({key: csv_cell(value) for key, value in _row(plan, verdict, standing).items()})
    return out.getvalue()


def _columns() -> list[str]:
    figures = [f"{column}{end}" for column in _FIGURES for end in ("", "_low", "_high")]
    head = ["study", "workload", "load", "driver", "place", "contender", "tie", "winner"]
    return [
        *head,
        *figures,
        "requests_per_connection",
        "connections",
        "connections_served",
        "error_ratio",
        "rounds_ok",
        "rounds_failed",
        "outcomes",
        "doubts",
        "voided",
    ]


def _row(plan: Plan, verdict: Verdict, standing: Standing) -> dict[str, str | float | int | None]:
    row: dict[str, str | float | int | None] = {
        "study": plan.study,
        "workload": verdict.workload,
        "load": verdict.load,
        "driver": verdict.driver,
        "place": standing.place,
        "contender": standing.contender,
        "tie": standing.letters,
        "winner": int(standing.contender in verdict.winners),
        "requests_per_connection": standing.requests_per_connection,
        "connections": standing.connections,
        "connections_served": standing.connections_served,
        "error_ratio": standing.error_ratio,
        "rounds_ok": standing.rounds_ok,
        "rounds_failed": standing.rounds_failed,
        "outcomes": " ".join(f"{outcome}:{number}" for outcome, number in standing.outcomes.items()),
        "doubts": " ".join(doubt.kind for doubt in standing.doubts),
        "voided": int(any(doubt.severity == "voids" for doubt in standing.doubts)),
    }
    for column, field in _FIGURES.items():
        estimate: Estimate | None = getattr(standing, field)
        for end, value in (("", "value"), ("_low", "low"), ("_high", "high")):
            row[f"{column}{end}"] = getattr(estimate, value) if estimate is not None else None
    return row
