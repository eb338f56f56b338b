"""What a type cannot say about the systems of an article: whom they are, which settings differ, and who is claimed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase

from webdyno.model.study import Study
from webdyno.model.system import System
from webdyno.read.check import Fault
from webdyno.read.lines import Key
from webdyno.read.source import suggest

FROM_CONTENDER = ("processes", "threads", "pool")
"""Settings of ours that are read from the contender."""


def systems_faults(it: Study, members: Collection[str]) -> Iterator[Fault]:
    """Faults of the systems of a study, and of claims about contenders that run none of them."""
    for at, system in enumerate(it.systems):
        yield from ((("systems", at, *inner), problem) for inner, problem in _system(system, members))
    if it.systems:
        yield from _claimed(it, members)


def _system(it: System, members: Collection[str]) -> Iterator[Fault]:
    if not it.name.strip():
        yield ("name",), "must not be empty"
    if not _fits(it.contender, members):
        yield ("contender",), f'there is no contender of this study "{it.contender}"; {suggest(it.contender, members)}'
    for at, name in enumerate(it.tuned):
        if name not in members:
            yield ("tuned", at), f'there is no contender of this study "{name}"; {suggest(name, members)}'
    for key in FROM_CONTENDER:
        if key in it.here:
            yield ("here", key), "is read from the contender; remove it"
    yield from settings_faults((), it.article, it.here)


def settings_faults(at: Key, article: Mapping[str, str], here: Mapping[str, str]) -> Iterator[Fault]:
    """A setting that is different here was something there: "none" where the article had nothing of the kind."""
    for key in here:
        if key not in article:
            yield (*at, "here", key), "has no counterpart in article; give its value there, or none"


def _claimed(it: Study, members: Collection[str]) -> Iterator[Fault]:
    """A claim of the article is about what runs as in the article, and about nothing that we tuned."""
    run = {name for system in it.systems for name in _fits(system.contender, members)}
    for at, claim in enumerate(it.claims):
        for field in ("contenders", "than"):
            for place, name in enumerate(getattr(claim, field)):
                meant = _fits(name, members).difference(*(_fits(one, members) for one in claim.without))
                if not claim.ours and (ours := sorted(meant - run)):
                    yield (
                        ("claims", at, field, place),
                        f"{ours[0]} runs no system of the article; name the contender of one, or set ours = true",
                    )


def _fits(name: str, members: Collection[str]) -> set[str]:
    return {known for known in members if fnmatchcase(known, name)}
