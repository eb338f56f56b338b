"""Servers given as a command line: ``--current`` (what runs today) and ``--cmd`` (any server).

Where it listens is said by ``{port}`` or ``{bind}``, put in where the program is known, and told by PORT in any case:
what platforms run (``npm start``, a Procfile's line) reads it from there. ``NAME=value`` before the program is a
variable, as in a shell.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, takewhile
from pathlib import Path
from typing import NamedTuple

from webdyno.model.built import Built
from webdyno.model.contender import Contender
from webdyno.model.errors import UsageError
from webdyno.model.placeholder import PLACEHOLDERS, placeholders
from webdyno.model.secret import hidden_line
from webdyno.session.tryout.fitting import Setting

CURRENT = "current"
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
ALLOWED = tuple(name for name in PLACEHOLDERS if name != "pool")
_PLACED = {"port", "bind"}
BINDS: dict[str, tuple[frozenset[str], list[str]]] = {
    "gunicorn": (frozenset({"-b", "--bind"}), ["--bind", "{bind}"]),
    "uvicorn": (frozenset({"--host", "--port", "--uds", "--fd"}), ["--host", "{host}", "--port", "{port}"]),
    "granian": (frozenset({"--host", "--port", "--uds"}), ["--host", "{host}", "--port", "{port}"]),
    "hypercorn": (frozenset({"-b", "--bind"}), ["--bind", "{bind}"]),
    "daphne": (frozenset({"-b", "--bind", "-p", "--port", "-e", "--endpoint"}), ["-b", "{host}", "-p", "{port}"]),
    "waitress-serve": (frozenset({"--listen", "--host", "--port"}), ["--listen={bind}"]),
    "flask": (frozenset({"-h", "--host", "-p", "--port"}), ["--host", "{host}", "--port", "{port}"]),
    "fastapi": (frozenset({"--host", "--port"}), ["--host", "{host}", "--port", "{port}"]),
    "datasette": (frozenset({"-h", "--host", "-p", "--port"}), ["--host", "{host}", "--port", "{port}"]),
}
"""Programs whose options for where they listen are known: what is taken out, and what is put in."""
_LAUNCHERS = {"python", "python3", "uv", "run", "-m", "poetry", "pipenv", "exec"}


class Line(NamedTuple):
    """A command line: the variables before it, and its words."""

    variables: dict[str, str]
    words: list[str]


def read_line(text: str, flag: str) -> Line:
    """A command line, no shell involved. UsageError for an empty or unclosed one, or a wrong placeholder."""
    shown = hidden_line(text)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{flag} {shown!r}: {str(error).lower()}") from None
    leading = list(takewhile(_ASSIGNMENT.fullmatch, words))
    if len(leading) == len(words):
        what = "variables alone are not a command; add one after them" if words else "give a command"
        raise UsageError(
            f"{flag}{f' {shown!r}' if words else ''}: {what}, such as {flag} 'node server.js --port {{port}}'"
        )
    for name in (name for word in words for name in placeholders(word)):
        if name not in ALLOWED:
            there = ", ".join(f"{{{each}}}" for each in ALLOWED)
            raise UsageError(f"{flag} {shown!r}: {{{name}}} is not a placeholder; there are {there}")
    variables = dict(word.split("=", 1) for word in leading)
    return Line(variables, words[len(leading) :])


def placed(line: Line) -> Line:
    """With the place to listen put in where the program is known, and PORT to tell it by in any case."""
    port = line.variables.get("PORT", "")
    variables = line.variables | {"PORT": port if says_where([port]) else "{port}"}
    return Line(variables, line.words if says_where(line.words) else _put_in(line.words))


def says_where(texts: Iterable[str]) -> bool:
    """One of them has the place of the port in it."""
    return any(name in _PLACED for text in texts for name in placeholders(text))


def told_by_port(contender: Contender) -> bool:
    """Only PORT says where a command is to listen."""
    others = [text for name, text in contender.environment.items() if name != "PORT"]
    return not says_where([*contender.serve, *others])


def _put_in(words: list[str]) -> list[str]:
    """``words`` as they are where the program is not known."""
    program = next((Path(word).name for word in words if Path(word).name not in _LAUNCHERS), "")
    if program == "manage.py" and "runserver" in words:
        at = words.index("runserver") + 1
        kept = [word for word in words[at:] if not re.fullmatch(r"([\w.\[\]:]*:)?\d+", word)]
        return [*words[:at], "{bind}", *kept]
    if program not in BINDS:
        return words
    taken, given = BINDS[program]
    kept = _without(words, taken)
    at = next(i for i, word in enumerate(kept) if Path(word).name == program) + 1
    if program in ("flask", "fastapi"):  # their options come after the subcommand
        at = next((i for i, word in enumerate(kept) if word in ("run", "dev") and i >= at), at - 1) + 1
    return [*kept[:at], *given, *kept[at:]]


def _without(words: list[str], options: frozenset[str]) -> list[str]:
    """``words`` less those options with their values: ``-b X``, ``-bX``, ``--bind X`` and ``--bind=X``."""
    kept: list[str] = []
    rest = iter(words)
    short = tuple(option for option in options if len(option) == 2)
    for word in rest:
        if word in options:
            next(rest, None)
        elif word.partition("=")[0] in options or (word.startswith(short) and re.match(r"-\w[\d.:\[]", word)):
            continue
        else:
            kept.append(word)
    return kept


def command_settings(text: str, name: str, flag: str, cores: int) -> list[Setting]:
    """A command as settings: one, or one for each number of workers when it says ``{workers}``."""
    variables, words = placed(read_line(text, flag))
    joined = " ".join([*words, *variables.values()])
    numbers = [1, cores, 2 * cores] if "{workers}" in joined and name != CURRENT else [None]
    found = []
    for number in dict.fromkeys(numbers):
        contender = Contender(
            name=name if number is None else f"{name}-{number}w",
            app="own",
            runtime="own",
            server=Path(words[0]).name,
            model="as its command says",
            serve=words,
            environment=variables,
            workers=number or cores,
            because=text,
            author="you",
            ready_s=60.0,
            stop_s=10.0,
        )
        found.append(Setting(contender, name, number, None, recommended=True, is_command=True))
    return found


def command_built(setting: Setting, folder: Path, environment: Mapping[str, str], packages: Mapping[str, str]) -> Built:
    """What there is to serve for a command: the user's own folder and environment."""
    told = (setting.contender.serve, setting.contender.environment, str(folder))
    key = hashlib.sha256(repr(told).encode()).hexdigest()[:24]
    return Built(
        contender=setting.name,
        key=key,
        directory=str(folder),
        environment=dict(environment),
        versions=dict(packages),
        log="",
        seconds=0.0,
    )


def names_for(given: Sequence[str], kind: str = "cmd") -> list[str]:
    """``cmd`` for one, ``cmd-1`` and ``cmd-2`` for two."""
    numbers = count(1)
    return [kind] if len(given) == 1 else [f"{kind}-{next(numbers)}" for _ in given]
