"""Patterns of contenders' names: what ``*`` means wherever contenders are named (a study, ``-k``, a command).

``flask-*`` is matched against names; a pattern with a slash, such as ``pypy/*-jython``, against MATRIX/NAME, so that it
chooses among what one matrix became.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from webdyno.model.catalogue import Catalogue


def is_pattern(name: str) -> bool:
    """True when ``name`` is not a name but may stand for several."""
    return "*" in name or "/" in name


def matching(pattern: str, catalogue: Catalogue) -> list[str]:
    """Contenders that ``pattern`` stands for, in the order of the catalogue; none when it matches nothing."""
    if "/" not in pattern:
        return [name for name in catalogue.contenders if fnmatchcase(name, pattern)]
    return [name for name, matrix in catalogue.matrix_of.items() if fnmatchcase(f"{matrix}/{name}", pattern)]


def spelt_out(names: Iterable[str], catalogue: Catalogue) -> list[str]:
    """``names`` with what each pattern stands for in its place, each once."""
    every = [one for name in names for one in (matching(name, catalogue) if is_pattern(name) else [name])]
    return list(dict.fromkeys(every))
