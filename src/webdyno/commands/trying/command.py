"""Servers given as a command line: ``--current`` (what runs today, with its port put in) and ``--cmd`` (any server)."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from webdyno.commands.trying.fitting import Setting
from webdyno.model.built import Built
from webdyno.model.contender import Contender
from webdyno.model.errors import UsageError
from webdyno.model.placeholder import PLACEHOLDERS, placeholders

CURRENT = "current"
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


def words_of(text: str, flag: str) -> list[str]:
    """A command line as words, no shell involved. UsageError for an empty or unclosed one, or a wrong placeholder."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{flag} {text!r}: {str(error).lower()}") from None
    if not words:
        raise UsageError(f"{flag}: give a command, such as {flag} 'node server.js --port {{port}}'")
    for name in (name for word in words for name in placeholders(word)):
        if name not in ALLOWED:
            there = ", ".join(f"{{{each}}}" for each in ALLOWED)
            raise UsageError(f"{flag} {text!r}: {{{name}}} is no placeholder; there are {there}")
    return words


def current_words(text: str) -> list[str]:
    """``--current`` with the place to listen put in where the program is known. UsageError where it is not."""
    words = words_of(text, "--current")
    if any(name in _PLACED for word in words for name in placeholders(word)):
        return words
    program = next((Path(word).name for word in words if Path(word).name not in _LAUNCHERS), "")
    if program == "manage.py" and "runserver" in words:
        at = words.index("runserver") + 1
        kept = [word for word in words[at:] if not re.fullmatch(r"([\w.\[\]:]*:)?\d+", word)]
        return [*words[:at], "{bind}", *kept]
    if program not in BINDS:
        known = ", ".join([*BINDS, "manage.py runserver"])
        raise UsageError(
            f"--current {text!r}: say {{port}} (or {{bind}}) where the port stands; only for {known} webdyno knows it"
        )
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
    words = current_words(text) if name == CURRENT else words_of(text, flag)
    if name != CURRENT and not any(each in _PLACED for word in words for each in placeholders(word)):
        raise UsageError(
            f"{flag} {text!r}: say {{port}} (or {{bind}}) where its port stands, for each start has its own"
        )
    joined = " ".join(words)
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
    key = hashlib.sha256(repr((setting.contender.serve, str(folder))).encode()).hexdigest()[:24]
    return Built(
        contender=setting.name,
        key=key,
        directory=str(folder),
        environment=dict(environment),
        versions=dict(packages),
        log="",
        seconds=0.0,
    )


def names_for(given: list[str], kind: str = "cmd") -> list[str]:
    """``cmd`` for one, ``cmd-1`` and ``cmd-2`` for two."""
    numbers = count(1)
    return [kind] if len(given) == 1 else [f"{kind}-{next(numbers)}" for _ in given]
