"""The flags that several commands share, and what they lead to: the catalogue, lists, numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from webdyno.commands.completing import Complete, studies
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import UsageError
from webdyno.model.way import LEAST_CPUS, MOST_CPUS, WayName
from webdyno.read import default_folder, read_catalogue


def flag(*names: str, help: str, offers: Complete | None = None) -> Parameter:  # noqa: A002 - cyclopts' own word
    """A flag without a negative twin (no ``--no-json``); ``offers``: what a shell completes it with."""
    return Parameter(name=names, negative=(), help=help, completer=offers)


CatalogueOption = Annotated[
    list[Path] | None,
    Parameter(name=["--catalogue"], negative=(), help="Folder with more contenders, workloads ... (may be repeated)."),
]
JsonOption = Annotated[bool, Parameter(name=["--json"], help="Print data as JSON instead of a table.")]
StudyOption = Annotated[str | None, flag("--study", "-s", help="Only what this study uses.", offers=studies)]
ResultsOption = Annotated[Path, Parameter(name=["--results"], help="Where to create the results folder.")]


ResumeOption = Annotated[
    Path | None,
    Parameter(name=["--resume"], help="Continue the plan of this results folder, without repeating its runs."),
]
WayOption = Annotated[
    WayName | None,
    flag("--way", help="How contenders are kept to cores and limits. [default: the best available here]"),
]
AsUserOption = Annotated[
    bool | None,
    Parameter(
        name=["--as-user"],
        negative=["--no-as-user"],
        help="Run contenders as throw-away users who see nothing of yours; needs root. [default: for root and somebody "
        "else's catalogue]",
    ),
]
CpusOption = Annotated[float | None, flag("--cpus", help="Quota of CPU time for each contender, in cores: --cpus 0.5.")]
WaitOption = Annotated[bool, flag("--wait", help="If another webdyno is measuring here, wait for it to end.")]


def catalogue_of(folders: list[Path] | None) -> Catalogue:
    """The catalogue that comes with webdyno and whatever ``--catalogue`` adds."""
    return read_catalogue([default_folder(), *(folders or [])])


def split(values: list[str] | None) -> list[str] | None:
    """``-k a,b -k c`` as one list; None stays None."""
    if values is None:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def cpus_of(cpus: float | None) -> float | None:
    """``cpus``, proven to be a quota that the kernel takes; UsageError."""
    if cpus is not None and not LEAST_CPUS <= cpus <= MOST_CPUS:
        raise UsageError(f"--cpus {cpus:g}: give CPU time in cores, from {LEAST_CPUS:g} to {MOST_CPUS}: --cpus 2")
    return cpus


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


def holds_runs(folder: Path) -> bool:
    """Whether a results folder has a Run that counts, so that it is worth being named."""
    from webdyno.store import FILE, Store

    if not (folder / FILE).is_file():
        return False
    with Store.open(folder) as store:
        return bool(store.done())
