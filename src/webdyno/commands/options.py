"""The flags that several commands share, and what they lead to: the catalogue, the cache, the two consoles."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from cyclopts import Parameter

from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import ContenderError, UsageError
from webdyno.model.log import last_lines
from webdyno.read import default_folder, read_catalogue

if TYPE_CHECKING:
    from rich.console import Console


def flag(*names: str, help: str) -> Parameter:  # noqa: A002 - cyclopts' own word
    """A flag without a negative twin (no ``--no-json``)."""
    return Parameter(name=names, negative=(), help=help)


CatalogueOption = Annotated[
    list[Path] | None,
    Parameter(name=["--catalogue"], negative=(), help="Folder with more contenders, workloads ... (may be repeated)."),
]
JsonOption = Annotated[bool, Parameter(name=["--json"], help="Print data as JSON instead of a table.")]
StudyOption = Annotated[str | None, Parameter(name=["--study", "-s"], help="Only what this study uses.")]
ResultsOption = Annotated[Path, Parameter(name=["--results"], help="Folder that results folders are made in.")]


ResumeOption = Annotated[
    Path | None, Parameter(name=["--resume"], help="Continue the plan of this results folder; repeats nothing it has.")
]
WaitOption = Annotated[bool, flag("--wait", help="Wait while another webdyno measures here, instead of refusing.")]


def catalogue_of(folders: list[Path] | None) -> Catalogue:
    """The catalogue that comes with webdyno and whatever ``--catalogue`` adds."""
    return read_catalogue([default_folder(), *(folders or [])])


def split(values: list[str] | None) -> list[str] | None:
    """``-k a,b -k c`` as one list; None stays None."""
    if values is None:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


MOST_CONNECTIONS = 1_000_000
"""The engine's own limit; no other driver opens as many."""


def connections_of(number: int, flag: str = "--connections") -> int:
    """``number``, proven to be one of connections; UsageError."""
    if number < 1:
        raise UsageError(f"{flag} {number}: give a whole number of at least 1")
    if number > MOST_CONNECTIONS:
        raise UsageError(f"{flag} {number}: give at most {MOST_CONNECTIONS:,} connections")
    return number


def numbers(values: list[str] | None, flag: str) -> list[int] | None:
    """``-c 8,64 -c 256`` as numbers of connections."""
    parts = split(values)
    if parts is None:
        return None
    for part in parts:
        if not part.isdecimal() or int(part) < 1:
            raise UsageError(f"{flag} {part}: give whole numbers of at least 1, such as {flag} 8,64,256")
    return [connections_of(int(part), flag) for part in parts]


def say_json(data: Any) -> None:
    """Print ``data`` (structs, dicts, lists) as indented JSON on standard output."""
    print(msgspec.json.format(msgspec.json.encode(data, order="deterministic"), indent=2).decode())


def holds_runs(folder: Path) -> bool:
    """Whether a results folder has a Run that counts, so that it is worth being named."""
    from webdyno.store import FILE, Store

    if not (folder / FILE).is_file():
        return False
    with Store.open(folder) as store:
        return bool(store.done())


def say_failed(error: ContenderError) -> None:
    """What a contender did wrong and the end of what it wrote, on standard error."""
    print(f"webdyno: {error}", file=sys.stderr)
    for line in last_lines(error.log_tail, 12):
        print(f"  | {line}", file=sys.stderr)


def out_console() -> Console:
    """Standard output for people; 80 columns wide at least, colourless where that is asked or nobody looks."""
    console = _console()
    return console if console.is_terminal else _console(width=_piped_width())


def err_console() -> Console:
    """Standard error, for progress."""
    return _console(file=sys.stderr)


def _console(**options: Any) -> Console:
    from rich.console import Console

    class Ours(Console):
        def on_broken_pipe(self) -> None:  # rich's own ends the program with exit code 1
            raise BrokenPipeError

    return Ours(highlight=False, **options)


def _piped_width() -> int:
    """A pipe has no width; COLUMNS says what the reader wants, else wide enough that no column is lost."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) >= 40 else 140
