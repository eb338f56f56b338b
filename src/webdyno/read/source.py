"""One TOML file as it was written: its data, the line of each key, and the complaint about any key of it."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from webdyno.model.errors import CatalogueError
from webdyno.read.lines import Key, dotted, lines

_PLACE = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")


@dataclass(frozen=True)
class Source:
    """A file that is valid TOML, whatever else may be wrong with it."""

    path: Path
    text: str
    data: dict[str, Any]

    @cached_property
    def lines(self) -> dict[Key, int]:
        """Where each key stands; found only when something is wrong."""
        return lines(self.text)

    def wrong(self, key: Key, problem: str) -> CatalogueError:
        """The complaint about ``key``, with its line, or that of the table it should stand in."""
        inside = (self.lines.get(key[:length]) for length in range(len(key), 0, -1))
        return CatalogueError(self.path, next((line for line in inside if line), None), dotted(key) or None, problem)


def read_source(path: Path) -> Source:
    """The file at ``path``; CatalogueError when it cannot be read or is not TOML."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise CatalogueError(path, line, None, "is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise CatalogueError(path, None, None, f"cannot be read: {error.strerror}") from None
    try:
        return Source(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        place = _PLACE.search(said)
        last = text.rstrip().count("\n") + 1
        line = int(place["line"]) if place and place["line"] else last
        reason = said[: place.start()] if place else said
        raise CatalogueError(path, line, None, f"is not valid TOML: {reason[:1].lower()}{reason[1:]}") from None
    except (ValueError, RecursionError) as error:
        what = (
            "a number with thousands of digits"
            if isinstance(error, ValueError)
            else "brackets in thousands of brackets"
        )
        raise CatalogueError(path, None, None, f"cannot be read: it has {what}; remove that") from None


def suggest(name: str, known: Iterable[str]) -> str:
    """``did you mean "x"?`` for the nearest spelling, else what there is to choose from."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f'did you mean "{near[0]}"?'
    if not names:
        return "there are none"
    return f"known: {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"
