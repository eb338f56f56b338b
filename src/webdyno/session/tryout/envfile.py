"""``--env`` and ``--env-file``: variables, one NAME=value a line, as shells, Docker and python-dotenv write them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from webdyno.model.errors import UsageError

_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"(?P<sign>['\"])(?P<text>.*?)(?P=sign)\s*(?:#.*)?")


_PLAIN = r"(?:[A-Za-z0-9_@%+=:,./-][A-Za-z0-9_@%+=:,./#-]*)?"
_TO_SHELL = re.compile(rf"(?:export\s+)?[A-Za-z_]\w*=(?:{_PLAIN}|'[^']*'|\"[^\"$`\\!]*\")(?:\s+#.*)?", re.ASCII)
_TO_SYSTEMD = re.compile(r"[A-Za-z_]\w*\s*=\s*(?:[^\s'\"\\](?:[^'\"\\#]|(?<!\s)#)*|'[^']*'|\"[^\"\\]*\")?", re.ASCII)
"""Lines that mean to a shell, and to systemd (systemd.exec(5), EnvironmentFile), what they mean here."""


class Read(NamedTuple):
    """A file of variables, and the numbers of the lines that others read otherwise than it was read here."""

    path: Path
    by_shell: list[int]
    by_systemd: list[int]


def how_read(path: Path) -> Read:
    """By its lines; a file that cannot be read has been refused before."""
    found = Read(path.expanduser().absolute(), [], [])
    for number, line in enumerate(path.expanduser().read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not _TO_SHELL.fullmatch(text):
            found.by_shell.append(number)
        if not _TO_SYSTEMD.fullmatch(text):
            found.by_systemd.append(number)
    return found


def read_env_file(path: Path) -> dict[str, str]:
    """Its variables. UsageError, with the line, for what is none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"--env-file {path}: it cannot be read: {reason}") from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = _LINE.fullmatch(text)
        if match is None:
            raise UsageError(f"--env-file {path}:{number}: write NAME=value, one variable a line")
        found[match["name"]] = _value(match["value"])
    return found


def lying_there(folder: Path, given: Mapping[str, str], said: str) -> str:
    """Behind a semicolon, for an app that did not start: its folder has a .env that it was not given; else nothing.

    Only where that file has a variable that ``given`` lacks: one that was given, by whatever way, is not missing.
    """
    path = folder / ".env"
    try:
        missing = [name for name in read_env_file(path) if name not in given] if path.is_file() else []
    except UsageError:
        return ""
    named = [name for name in missing if re.search(rf"\b{name}\b", said)]
    if named:
        return f"; {named[0]} stands in its .env: give that with --env-file {shlex.quote(str(path))}"
    return f"; there is a .env, which it was not given: --env-file {shlex.quote(str(path))}" if missing else ""


def read_variables(given: Sequence[str]) -> dict[str, str]:
    """Those of ``--env NAME=value``, each taken as it stands. UsageError for what is none."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not _NAME.fullmatch(name):
            raise UsageError(f"--env {name}: write NAME=value")
        found[name] = value
    return found


def _value(text: str) -> str:
    """Without its quotes; in double quotes ``\\n`` is a line feed. Unquoted, a comment ends it."""
    quoted = _QUOTED.fullmatch(text)
    if quoted is None:
        return re.split(r"\s+#", text, maxsplit=1)[0].strip()
    if quoted["sign"] == '"':
        return quoted["text"].replace("\\n", "\n").replace('\\"', '"')
    return quoted["text"]
