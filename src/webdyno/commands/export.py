"""``webdyno export``: the raw evidence of a results folder, for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from webdyno.commands.printing import err, give

Format = Literal["jsonl", "csv", "hlog"]


def export(
    folder: Annotated[Path, Parameter(help="A results folder, or its results.sqlite.")],
    /,
    *,
    format_: Annotated[
        Format, Parameter(name=["--format", "-f"], help="jsonl: whole Runs; csv: a row per second; hlog: histograms.")
    ] = "jsonl",
    out: Annotated[
        Path | None,
        Parameter(
            name=["--out", "-o"], help="File to write (hlog: folder). [default: standard output; hlog: DIR/hlog]"
        ),
    ] = None,
) -> int:
    """Export Runs as JSON lines, seconds as CSV, or latencies as HdrHistogram logs.

    Example: `webdyno export results/quickstart-20261120-143000 --format csv --out seconds.csv`
    """
    from webdyno.export import export as write_export
    from webdyno.export import lines
    from webdyno.store import Store

    with Store.open(folder) as store:
        runs, home = store.numbered(), store.folder
    if format_ == "hlog" or out is not None:
        for path in write_export(runs, format_, out if out is not None else home / "hlog"):
            err(str(path))
    else:
        give(lines(runs, format_))
    return 0
