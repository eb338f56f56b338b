"""Mismatch: a file that is not the one a lock names, said in one sentence for every tool."""

from __future__ import annotations

import re
from pathlib import Path

from webdyno.model.errors import BuildError

_SAYS = (
    (re.compile(r"Hash mismatch for `(?P<what>[^`]+)`"), None),  # uv
    (re.compile(r"DO NOT MATCH THE HASHES[^\n]*\n\s*(?P<what>\S+)"), None),  # pip
    (re.compile(r"[Ii]ntegrity checksum failed when using \w+: wanted (?P<wanted>\S+)"), "package-lock.json"),
    (re.compile(r"verifying (?P<what>\S+): checksum mismatch"), "go.sum"),
    (re.compile(r"(?:checksum for|verify the checksum of) `(?P<what>[^`]+)`"), "Cargo.lock"),
    (re.compile(r"transfer artifact (?P<what>\S+) [^\n]*Checksum validation failed"), "the repository's own checksum"),
)
"""How each tool says so, and the file that it compares with, where that is not the contender's lock."""


class MismatchError(BuildError):
    """No other tool and no other package of the system would help."""


def mismatch(said: str, folder: Path, lock: Path | None) -> str | None:
    """What is not as locked, by the words of the tool that worked in ``folder``, and what to try; None: they are other
    words.
    """
    for pattern, name in _SAYS:
        if match := pattern.search(said):
            told = match.groupdict()
            what = told["what"] if "what" in told else _with_integrity(told["wanted"], folder / "package-lock.json")
            return not_as_locked(what, name or (str(lock) if lock is not None else "its lock"))
    return None


def not_as_locked(what: str, names: str) -> str:
    """One sentence about the file of a package, and where its hash stands."""
    return (
        f"the file of {what} does not match its hash in {names}; empty the cache of the tool and of any mirror "
        "that it uses, and lock again only if you know why the file changed"
    )


def _with_integrity(wanted: str, lock: Path) -> str:
    """npm says only which hash it wanted."""
    text = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    found = re.search(rf'"node_modules/([^"]+)": {{[^{{}}]*"integrity": "{re.escape(wanted.rstrip("."))}"', text)
    return found[1] if found else "a package"
