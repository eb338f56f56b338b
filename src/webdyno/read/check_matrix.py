"""What a type cannot say about a Matrix: its own keys, its exclusions, and every contender it becomes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from webdyno.model.catalogue import Catalogue
from webdyno.model.matrix import Matrix
from webdyno.read.check import Fault, contender_faults, names_faults, text_faults
from webdyno.read.expand import cell_faults, cells, contender, origin, settings_told
from webdyno.read.lines import Key
from webdyno.read.source import suggest

AXES = ("frameworks", "servers", "runtimes")
_WORD = re.compile(r"[a-z0-9][a-z0-9._]*")


def matrix_faults(it: Matrix, catalogue: Catalogue) -> Iterator[Fault]:
    """Faults of a matrix that could be expanded, its references looked up in ``catalogue``."""
    yield from text_faults(it, ("title", "language", "because", "author"))
    yield from names_faults(("answers",), it.answers, "workload", catalogue.workloads)
    for name, framework in it.frameworks.items():
        for key, problem in text_faults(framework, ("framework", "interface", "app")):
            yield ("frameworks", name, *key), problem
    yield from _untold(it)
    told: set[tuple[Key, str]] = set()
    for cell in cells(it):
        if cell.excluded is None:
            found = contender_faults(contender(it, cell), catalogue)
            # each value is in many contenders, and one complaint about it is enough
            mapped = ((origin(it, cell, key), problem) for key, problem in found)
            for fault in mapped:
                if fault not in told:
                    told.add(fault)
                    yield fault


def _untold(it: Matrix) -> Iterator[Fault]:
    """Settings that no command passes on, which would be left out of every contender without a word."""
    for name, server in it.servers.items():
        told = settings_told(
            [word for words in [*server.serve.values(), server.environment.values()] for word in words]
        )
        given = {"workers": server.workers != 1, "threads": server.threads != 1}
        for setting, is_given in given.items():
            if is_given and setting not in told:
                yield ("servers", name, setting), f"has no effect: none of its commands says {{{setting}}}"
        for setting in server.sweep:
            if setting in given and setting not in told:
                yield ("servers", name, "sweep", setting), f"has no effect: none of its commands says {{{setting}}}"
            elif setting not in given:
                yield ("servers", name, "sweep", setting), f"cannot be varied; {suggest(setting, given)}"


def expansion_faults(it: Matrix) -> Iterator[Fault]:
    """Faults that keep a matrix from being expanded at all."""
    for axis in AXES:
        values = getattr(it, axis)
        if not values:
            yield (axis,), "must hold at least one"
        for name in values:
            if not _WORD.fullmatch(name):
                yield (axis, name), f'"{name}" cannot be a part of a name; use a-z, 0-9 and dots, no dashes'
    parts = [*it.frameworks, *it.servers]
    for runtime, value in it.runtimes.items():
        for name in value.requires:
            if name not in parts:
                key = ("runtimes", runtime, "requires", name)
                yield key, f'there is no framework or server "{name}"; {suggest(name, parts)}'
    yield from _exclusions(it)
    for cell in cells(it):
        if cell.excluded is None:
            yield from cell_faults(it, cell)


def _exclusions(it: Matrix) -> Iterator[Fault]:
    for at, exclusion in enumerate(it.exclude):
        key = ("exclude", at)
        for axis in AXES:
            names = getattr(exclusion, axis)
            if names:
                yield from names_faults((*key, axis), names, axis.removesuffix("s"), getattr(it, axis))
        yield from (((*key, *inner), problem) for inner, problem in text_faults(exclusion, ("reason",)))
        if not any((exclusion.frameworks, exclusion.servers, exclusion.runtimes)):
            yield key, f"names no value of {', '.join(AXES)}, so it would exclude everything"
        elif not any(cell.excluded is exclusion for cell in cells(it)):
            yield key, "excludes nothing that the entries before it do not exclude; remove it"
