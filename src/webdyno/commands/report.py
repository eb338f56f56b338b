"""``webdyno report``: read a results folder again; it needs nothing but that folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from webdyno.commands.options import JsonOption, flag, numbers
from webdyno.commands.printing import err, give, give_bytes, out_console, out_is_seen
from webdyno.model.errors import UsageError

if TYPE_CHECKING:
    from webdyno.store import Store

Format = Literal["terminal", "html", "md", "csv", "json", "openmetrics", "svg", "png"]
PICTURES = ("svg", "png")


def report(
    folder: Annotated[
        Path | None, Parameter(help="A results folder, or its results.sqlite. [default: the newest in results]")
    ] = None,
    /,
    *,
    format_: Annotated[Format, Parameter(name=["--format", "-f"], help="Format of the report.")] = "terminal",
    out: Annotated[
        Path | None, flag("--out", "-o", help="Write to this file instead of printing; its extension names the format.")
    ] = None,
    table: Annotated[
        list[str] | None, flag("--table", "-t", help="Only these tables in a picture, numbered as on the page: 1,3.")
    ] = None,
    dark: Annotated[bool, flag("--dark", help="A picture for a dark background.")] = False,
    json: JsonOption = False,
) -> int:
    """Report a results folder again: on the terminal, as one HTML page, Markdown, CSV, JSON, OpenMetrics or a picture.

    Example: `webdyno report` or `webdyno report results/quickstart-20261120-143000 --format html --out report.html`
    """
    from webdyno.session.reports import rendered
    from webdyno.store import Store

    if json and format_ not in ("terminal", "json"):
        raise UsageError(f"--json and --format {format_} exclude each other: a report has one format")
    form = _by_name(out, "json" if json else format_)
    tables = numbers(table, "--table")
    if form not in PICTURES and (tables or dark):
        raise UsageError("--table and --dark are for pictures: they need --format svg or --format png")
    if form == "png" and out is None and out_is_seen():
        raise UsageError("a PNG cannot be printed on a terminal: name a file with --out, or send it through a pipe")
    folder = _newest(Path("results")) if folder is None else folder
    with Store.open(folder) as store:
        if form == "terminal" and out is None:
            show(store, folder)
            return 0
        made = drawn(store, tables or [], dark=dark) if form in PICTURES else rendered(store, form)
    _give(made, form, out)
    return 0


def _newest(results: Path) -> Path:
    """The folder that was written to last, which is said; UsageError where there is none."""
    from webdyno.store import FILE

    newest = max(results.glob(f"*/{FILE}"), key=lambda file: file.stat().st_mtime_ns, default=None)
    if newest is None:
        raise UsageError(
            f"report what? There is nothing in {results}: name a results folder, or make one (webdyno run quickstart)"
        )
    err(f"the newest results: {newest.parent}")
    return newest.parent


_ENDINGS: dict[str, Format] = {
    ".html": "html",
    ".htm": "html",
    ".md": "md",
    ".csv": "csv",
    ".json": "json",
    ".svg": "svg",
    ".png": "png",
}


def _by_name(out: Path | None, form: Format) -> Format:
    """Where no form is named, the one that the file's name ends in; Markdown for any other, the terminal for no file.

    UsageError for a file of one form with the name of another.
    """
    named = None if out is None else _ENDINGS.get(out.suffix.lower())
    if form == "terminal" or named is None:
        return named or form
    if named != form:
        raise UsageError(f"--format {form} and --out {out} contradict each other: leave one out, or rename the file")
    return form


def drawn(store: Store, tables: list[int], *, dark: bool) -> str:
    """The picture of a store as SVG; UsageError for a table that it does not have."""
    from webdyno.analyse import analyse
    from webdyno.report import titles
    from webdyno.report.picture import render_picture
    from webdyno.report.words import count

    plan, fingerprint, runs = store.plan(), store.fingerprint(), store.runs()
    analysis = analyse(plan, fingerprint, runs)
    for number in tables:
        if number > len(analysis.verdicts):
            there = [f"{at} {titles.of(verdict)}" for at, verdict in enumerate(analysis.verdicts[:12], 1)]
            has = f"this folder has {count(len(analysis.verdicts), 'table')}"
            raise UsageError(f"--table {number}: {': '.join([has, *filter(None, ['; '.join(there)])])}")
    return render_picture(plan, fingerprint, runs, analysis, of=list(dict.fromkeys(tables)), dark=dark)


def show(store: Store, folder: Path) -> None:
    """The terminal report of a store, on standard output."""
    from webdyno.analyse import analyse
    from webdyno.report.terminal import render_terminal

    plan, fingerprint, runs = store.plan(), store.fingerprint(), store.runs()
    analysis = analyse(plan, fingerprint, runs)
    render_terminal(plan, fingerprint, runs, analysis, folder, out_console())


def _give(made: str, form: Format, out: Path | None) -> None:
    """To the file, or to standard output; as a PNG where that is the form."""
    from webdyno.session.reports import write

    content: str | bytes = made
    if form == "png":
        from webdyno.report.png import png

        content = png(made)
    if out is not None:
        write(out, content)
    elif isinstance(content, bytes):
        give_bytes(content)
    else:
        give([content])
