"""What is said of a call that cannot be understood: one sentence, and the line that was probably meant."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from cyclopts import (
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

MISSING = {
    "show": "show what? Name a contender, study, workload, app, runtime, service or matrix (see: webdyno list)",
    "plan": "plan what? Name a study (see: webdyno list studies), or a study file",
    "export": "export what? Name a results folder, such as results/quickstart-20261120-143000",
    "completion": "completion for which shell? Name bash, zsh or fish",
}
"""By command; what else needs an argument asks for it itself, because a flag may stand in its place."""


def complaint(error: CycloptsError, command: str | None) -> str:
    """The sentence, with what to try."""
    if (ours := _ours(error, command)) is not None:
        return ours
    unused = error.unused_tokens or []
    said = str(error).strip()
    if isinstance(error, UnusedCliTokensError):
        said = f"{' '.join(map(repr, unused))}: more than webdyno {command} takes"
    elif isinstance(error, UnknownOptionError) and "-k" in (error.token.keyword, error.token.value):
        said = "-k names contenders wherever it is a flag; to accept any certificate, give --insecure"
    elif isinstance(error, MissingArgumentError) and error.argument is not None:
        name = error.keyword or error.argument.tokens[-1].keyword or error.argument.name
        said = f"{name} needs a value: {(error.argument.parameter.help or '').rstrip('.')}"
    return f"{said} (try: webdyno {f'{command} ' if command else ''}--help)"


def _ours(error: CycloptsError, command: str | None) -> str | None:
    """Of what has a sentence that says all, the sentence."""
    unused = error.unused_tokens or []
    if isinstance(error, UnknownCommandError) and unused and (line := meant(unused)):
        return f"{unused[0]} is not a command; did you mean: webdyno {line}"
    is_missing = isinstance(error, MissingArgumentError) and error.keyword is None
    is_place = is_missing and not (error.argument and error.argument.tokens)
    return MISSING.get(command or "") if is_place else None


def meant(words: Sequence[str]) -> str | None:
    """The line that does something with ``words``, which begin with no command; None where that is not known."""
    from webdyno.commands import COMMANDS
    from webdyno.commands.options import catalogue_of
    from webdyno.model.spelling import nearest

    word, more = words[0], words[1:]
    if word.startswith(("http://", "https://")):
        return shlex.join(["load", *words])
    if (Path(word) / "results.sqlite").is_file():
        return shlex.join(["report", *words])
    known = catalogue_of(None)
    if word in known.contenders:
        return shlex.join(["run", "quickstart", "-k", *words])
    study = word if word in known.studies or word.endswith(".toml") else nearest(word, [*COMMANDS, *known.studies])
    return None if study is None or study in COMMANDS else shlex.join(["run", study, *more])
