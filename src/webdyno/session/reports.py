"""The report of a results folder as a file: in the forms that are text."""

from __future__ import annotations

from contextlib import suppress
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
    """Write a report file whole, or say why not: whenever that is cut off, the file is as it was before.

    What is no ordinary file (``/dev/stdout``, a pipe) is written to as it is.
    """
    told, there = content.encode() if isinstance(content, str) else content, path.resolve()
    fresh = there.with_name(f".{there.name}.new")
    try:
        if there.exists() and not there.is_file():
            there.write_bytes(told)
            return
        fresh.unlink(missing_ok=True)  # of one that was killed; nothing that lies there is written to
        with fresh.open("xb") as file:
            file.write(told)
        fresh.replace(there)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise MachineError(f"{path}: the report could not be written: {error.strerror}; name another --out") from error
