"""``--env`` and ``--env-file``: variables, one NAME=value a line, as shells, Docker and python-dotenv write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from webdyno.model.errors import UsageError

_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"(?P<sign>['\"])(?P<text>.*?)(?P=sign)\s*(?:#.*)?")


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
