"""The flags that several commands share, and what they lead to: the catalogue, the cache, the two consoles."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from cyclopts import Parameter

from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import UsageError
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


def catalogue_of(folders: list[Path] | None) -> Catalogue:
    """The catalogue that comes with webdyno and whatever ``--catalogue`` adds."""
    return read_catalogue([default_folder(), *(folders or [])])


def cache_folder() -> Path:
    """Where builds are kept: WEBDYNO_CACHE, else XDG_CACHE_HOME/webdyno, else ~/.cache/webdyno."""
    named = os.environ.get("WEBDYNO_CACHE")
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute() / "webdyno"


def split(values: list[str] | None) -> list[str] | None:
    """``-k a,b -k c`` as one list; None stays None."""
    if values is None:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def numbers(values: list[str] | None, flag: str) -> list[int] | None:
    """``-c 8,64 -c 256`` as whole numbers of at least 1."""
    parts = split(values)
    if parts is None:
        return None
    for part in parts:
        if not part.isdecimal() or int(part) < 1:
            raise UsageError(f"{flag} {part}: give whole numbers of at least 1, such as {flag} 8,64,256")
    return [int(part) for part in parts]


def say_json(data: Any) -> None:
    """Print ``data`` (structs, dicts, lists) as indented JSON on standard output."""
    print(msgspec.json.format(msgspec.json.encode(data, order="deterministic"), indent=2).decode())


def out_console() -> Console:
    """Standard output for people; 80 columns wide at least, colourless where that is asked or nobody looks."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_piped_width())


def err_console() -> Console:
    """Standard error, for progress."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False)


def _piped_width() -> int:
    """A pipe has no width; COLUMNS says what the reader wants, else wide enough that no column is lost."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) >= 40 else 140
