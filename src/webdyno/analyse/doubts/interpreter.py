"""Doubt about the interpreter: a Python without a global lock that took the lock up again."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.table import Cell
from webdyno.model.doubt import Doubt

GIL_ON_ADVICE = (
    "use a version of the module that supports free threading; PYTHON_GIL=0 keeps the lock off, at your own risk"
)


def gil_on(cell: Cell) -> Doubt | None:
    """A free-threaded Python said in its log that a module switched the GIL on again, in any round.

    PEP 703: importing an extension that does not declare itself safe without the lock enables it for the process.
    """
    locked = [run for run in cell.runs if run.gil_modules]
    if not locked:
        return None
    modules = sorted({module for run in locked for module in run.gil_modules})
    rounds = f" in {len(locked)} of {words.count(len(cell.runs), 'round')}" if len(locked) < len(cell.runs) else ""
    return Doubt(
        kind="gil-on",
        severity="shades",
        subject=cell.name,
        sentence=f"{cell.name} was to run without a GIL, and loading {words.listing(modules, 3)} switched it on "
        f"again{rounds}, so threads of one process took turns",
        advice=GIL_ON_ADVICE,
        numbers={"modules": ", ".join(modules), "rounds": len(locked)},
    )
