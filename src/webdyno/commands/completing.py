"""What a shell offers behind a flag or a command: names of the catalogue, and of those that ``--catalogue`` adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from webdyno.model.errors import WebdynoError

if TYPE_CHECKING:
    from cyclopts.completion import CompletionContext

    from webdyno.model.catalogue import Catalogue

Complete = Callable[["CompletionContext"], list[str]]


def contenders(context: CompletionContext) -> list[str]:
    """Also behind a comma."""
    return _listed(context.incomplete, _known(context).contenders)


def workloads(context: CompletionContext) -> list[str]:
    """Also behind a comma."""
    return _listed(context.incomplete, _known(context).workloads)


def studies(context: CompletionContext) -> list[str]:
    """Names of studies; a study's file is typed whole."""
    return list(_known(context).studies)


def everything(context: CompletionContext) -> list[str]:
    """What ``webdyno show`` shows."""
    it = _known(context)
    shelves = (it.contenders, it.studies, it.workloads, it.apps, it.runtimes, it.services, it.matrices)
    return list(dict.fromkeys(name for shelf in shelves for name in shelf))


def _known(context: CompletionContext) -> Catalogue:
    """Of folders that cannot be read nothing is offered: a shell that completes is no place for a complaint."""
    from webdyno.commands.options import catalogue_of

    typed: list[Path] = []
    with suppress(KeyError):
        typed = [Path(text) for text in context["--catalogue"].raw_tokens]
    with suppress(WebdynoError):
        return catalogue_of(typed)
    return catalogue_of(None)


def _listed(incomplete: str, names: Iterable[str]) -> list[str]:
    """``a,b`` for ``a,`` and each name, a."""
    before, comma, _ = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name not in before.split(",")]
