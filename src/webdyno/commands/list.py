"""``webdyno list``: what the catalogue holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from cyclopts import Parameter

from webdyno.commands.options import CatalogueOption, JsonOption, StudyOption, catalogue_of, flag
from webdyno.commands.printing import out_console, say_json
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import UsageError
from webdyno.model.outward import clean
from webdyno.model.study import Study
from webdyno.read import cells
from webdyno.read.source import suggest

Kind = Literal["contenders", "studies", "workloads", "apps", "runtimes", "services", "matrices"]
Rows = Sequence[Mapping[str, object]]
"""Words as texts, numbers as such."""

WORDY = ("because", "install", "error")
"""Columns for --json and ``show`` only: sentences do not fit into a table."""
BRIEF: Mapping[str, Sequence[str]] = {
    "contenders": ("name", "server", "runtime", "model"),
    "studies": ("name", "title", "contenders", "rounds"),
    "workloads": ("name", "kind", "title"),
    "services": ("name", "title", "variable"),
    "combinations": ("name", "reason"),
}
"""Columns of a row that is one line; those of other kinds are short enough."""
_GAP = 2
_LEAST_CELLS = 6
"""A column that is cut keeps as many."""


def list_(
    kind: Annotated[Kind, Parameter(help="What to list.")] = "contenders",
    /,
    *,
    study: StudyOption = None,
    excluded: Annotated[
        bool, flag("--excluded", help="The combinations of matrices that are not contenders, each with its reason.")
    ] = False,
    wide: Annotated[bool, flag("--wide", help="Show every column, in as many lines as each cell needs.")] = False,
    catalogue: CatalogueOption = None,
    json: JsonOption = False,
) -> int:
    """List contenders, studies, workloads, apps, runtimes, services or matrices, each in one line.

    Example: `webdyno list --study quickstart`
    """
    known = catalogue_of(catalogue)
    if excluded and kind != "contenders":
        raise UsageError(f"--excluded lists combinations that are not contenders: leave out {kind}")
    chosen = None if study is None else _study(known, study)
    rows = _excluded(known, chosen) if excluded else _ROWS[kind](known)
    if chosen is not None and not excluded:
        rows = [row for row in rows if row["name"] in _names_in_study(known, chosen, kind)]
    if json:
        say_json(rows)
        return 0
    _print("combinations" if excluded else kind, rows, wide=wide)
    if chosen is not None and not excluded and kind == "contenders":
        _print_absent(known, chosen)
    return 0


def _print(kind: str, rows: Rows, *, wide: bool) -> None:
    from rich import box
    from rich.cells import set_cell_size
    from rich.table import Table
    from rich.text import Text

    columns = [column for column in (rows[0] if rows else ("name",)) if column not in WORDY]
    columns = columns if wide else [column for column in columns if column in BRIEF.get(kind, columns)]
    cells = [[clean(_shown(row[column])) for column in columns] for row in rows]
    console = out_console()
    if wide:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in columns:
            table.add_column(column, overflow="fold", no_wrap=column == "name")
        for row in cells:
            table.add_row(*map(Text, row))
        console.print(table)
    else:
        sizes = _sizes([columns, *cells], console.width)
        for at, row in enumerate([columns, *cells]):
            cut = [set_cell_size(_cut(cell, size), size) for cell, size in zip(row, sizes, strict=False)]
            console.print((" " * _GAP).join(cut).rstrip(), style="" if at else "bold", soft_wrap=True)
    more = "the errors seen: --json" if kind == "combinations" else "more about one: webdyno show NAME"
    console.print(f"{len(rows)} {kind}; {more if wide else f'{more}; every column: --wide'}", style="dim")


def _sizes(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Cells of each column for a row to be one line: names whole, of others what nine in ten need, then what is left.

    The first row has the titles. Columns at the right for which a narrow terminal has no room are left out.
    """
    from rich.cells import cell_len

    lengths = [sorted(map(cell_len, column)) for column in zip(*rows, strict=True)]
    names = lengths[0][-1]
    lengths = lengths[1 : max(1, (width - names) // (_GAP + _LEAST_CELLS) + 1)]
    room = width - names - _GAP * len(lengths)
    sizes = [max(each[len(each) * 9 // 10], cell_len(title)) for each, title in zip(lengths, rows[0][1:], strict=False)]
    while sum(sizes) > room:
        sizes[max(range(len(sizes)), key=sizes.__getitem__)] -= 1
    for at in reversed(range(len(sizes))):
        sizes[at] += max(0, min(lengths[at][-1] - sizes[at], room - sum(sizes)))
    return [names, *sizes]


def _cut(cell: str, size: int) -> str:
    """With three dots where it is longer, for a pipe may take nothing but ASCII."""
    from rich.cells import cell_len, set_cell_size

    return cell if cell_len(cell) <= size else set_cell_size(cell, size - 3).rstrip() + "..."


def _shown(cell: object) -> str:
    return " ".join(map(str, cell)) if isinstance(cell, list) else str(cell)


def _print_absent(known: Catalogue, study: Study) -> None:
    """What the study's article had and the study has not, each with its reason."""
    console = out_console()
    for it in study.absent:
        seen = "".join([f"; tried: {it.tried}" if it.tried else "", f"; seen: {it.error}" if it.error else ""])
        instead = f"; in its place: {', '.join(it.instead)}" if it.instead else ""
        console.print(f"not in it: {it.name}: {it.reason}{seen}{instead}")
    if left_out := len(_excluded(known, study)) - len(study.absent):
        console.print(f"{left_out} combinations are excluded; why: webdyno list --study {study.name} --excluded")


def _study(known: Catalogue, name: str) -> Study:
    if name not in known.studies:
        raise UsageError(f"--study {name}: there is no such study; {suggest(name, known.studies)}")
    return known.studies[name]


def _names_in_study(known: Catalogue, chosen: Study, kind: Kind) -> set[str]:
    contenders = [known.contenders[name] for name in chosen.contenders]
    return {
        "contenders": set(chosen.contenders),
        "workloads": set(chosen.workloads),
        "studies": {chosen.name},
        "apps": {contender.app for contender in contenders},
        "runtimes": {name for contender in contenders for name in contender.runtimes},
        "matrices": {known.matrix_of.get(name, "") for name in chosen.contenders},
        "services": {known.workloads[name].service or "" for name in chosen.workloads},
    }[kind]


def _contenders(known: Catalogue) -> Rows:
    rows = []
    for contender in known.contenders.values():
        app = known.apps[contender.app]
        rows.append(
            {
                "name": contender.name,
                "server": contender.server,
                "framework": app.framework,
                "runtime": contender.runtime,
                "model": contender.model,
                "workers": contender.workers,
                "threads": contender.threads,
                "answers": " ".join(contender.answers or app.answers),
                "because": contender.because,
            }
        )
    return rows


def _excluded(known: Catalogue, study: Study | None) -> Rows:
    """Combinations of all matrices, or of those the study uses with what else of its article is absent."""
    used = known.matrices if study is None else _names_in_study(known, study, "matrices")
    combinations = [
        {"name": cell.name, "matrix": matrix.name, "reason": cell.excluded.reason, "error": cell.excluded.error or ""}
        for matrix in known.matrices.values()
        if matrix.name in used
        for cell in cells(matrix)
        if cell.excluded
    ]
    absent = [] if study is None else study.absent
    return combinations + [
        {"name": it.name, "matrix": "", "reason": it.reason, "error": it.error or ""} for it in absent
    ]


def _matrices(known: Catalogue) -> Rows:
    rows = []
    for matrix in known.matrices.values():
        every = list(cells(matrix))
        rows.append(
            {
                "name": matrix.name,
                "title": matrix.title,
                "frameworks": len(matrix.frameworks),
                "servers": len(matrix.servers),
                "runtimes": len(matrix.runtimes),
                "contenders": sum(cell.excluded is None for cell in every),
                "excluded": sum(cell.excluded is not None for cell in every),
            }
        )
    return rows


def _studies(known: Catalogue) -> Rows:
    return [
        {
            "name": study.name,
            "title": study.title,
            "contenders": len(study.contenders),
            "workloads": " ".join(study.workloads),
            "connections": list(dict.fromkeys(count for load in study.loads for count in load.connections)),
            "rounds": study.rounds,
        }
        for study in known.studies.values()
    ]


def _workloads(known: Catalogue) -> Rows:
    return [
        {
            "name": workload.name,
            "title": workload.title,
            "kind": workload.kind,
            "service": workload.service or "",
            "requests": ", ".join(f"{request.method} {request.path}" for request in workload.requests),
        }
        for workload in known.workloads.values()
    ]


def _apps(known: Catalogue) -> Rows:
    return [
        {
            "name": app.name,
            "language": app.language,
            "interface": app.interface,
            "framework": app.framework,
            "answers": " ".join(app.answers),
        }
        for app in known.apps.values()
    ]


def _runtimes(known: Catalogue) -> Rows:
    return [
        {"name": runtime.name, "kind": runtime.kind, "language": runtime.language, "install": runtime.install}
        for runtime in known.runtimes.values()
    ]


def _services(known: Catalogue) -> Rows:
    return [
        {
            "name": service.name,
            "title": service.title,
            "variable": service.variable,
            "programs": " ".join(program for way in service.ways for program in way.find),
            "embedded": " ".join(way.server for way in service.ways if way.server),
            "install": service.install,
        }
        for service in known.services.values()
    ]


_ROWS = {
    "contenders": _contenders,
    "studies": _studies,
    "workloads": _workloads,
    "apps": _apps,
    "matrices": _matrices,
    "runtimes": _runtimes,
    "services": _services,
}
