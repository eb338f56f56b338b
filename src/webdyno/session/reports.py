"""The report of a results folder as a file: in the forms that are text."""

from __future__ import annotations

from pathlib import Path

from webdyno.analyse import analyse
from webdyno.model.errors import MachineError
from webdyno.store import Store


def rendered(store: Store, form: str) -> str:
    """The report of a store as text in one of the file formats (the terminal's falls back to Markdown)."""
    plan, fingerprint, runs = store.plan(), store.fingerprint(), store.runs()
    told = (plan, fingerprint, runs, analyse(plan, fingerprint, runs))
    if form == "html":
        from webdyno.report.html import render_html

        return render_html(*told)
    if form == "csv":
        from webdyno.report.csv import render_csv

        return render_csv(*told)
    if form == "json":
        from webdyno.report.json import render_json

        return render_json(*told).decode()
    if form == "openmetrics":
        from webdyno.report.openmetrics import render_openmetrics

        return render_openmetrics(*told)
    from webdyno.report.markdown import render_markdown

    return render_markdown(*told)


def write(path: Path, content: str | bytes) -> None:
    """Write a report file whole, or say why not."""
    try:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise MachineError(f"{path}: the report could not be written: {error.strerror}; name another --out") from error
