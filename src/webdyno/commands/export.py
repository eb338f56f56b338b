"""``webdyno export``: the raw evidence of a results folder, for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

Format = Literal["jsonl", "csv", "hlog"]


def export(
    folder: Annotated[Path, Parameter(help="A results folder, or its results.sqlite.")],
    /,
    *,
    format_: Annotated[
        Format, Parameter(name=["--format", "-f"], help="jsonl: whole Runs; csv: a row per second; hlog: histograms.")
    ] = "jsonl",
    out: Annotated[
        Path | None, Parameter(name=["--out", "-o"], help="File to write (hlog: folder); standard output when not given.")
    ] = None,
) -> int:
    """Export Runs as JSON lines, seconds as CSV, or latencies as HdrHistogram logs.

    Example: `webdyno export results/quickstart-20261120-143000 --format csv --out seconds.csv`
    """
    raise NotImplementedError
