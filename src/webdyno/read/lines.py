"""On which line every key and every list item of a TOML text stands.

tomllib gives values without places, and a complaint without a line is half a complaint. This scanner finds places
without values: it walks a text that tomllib has already accepted, so it refuses nothing and may trust the grammar.
"""

from __future__ import annotations

import re

Key = tuple[str | int, ...]
"""Path of a value: names of tables and keys, and numbers (from 0) of list items."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'  # up to two quotes may stand right before the closing three
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\r\n]*")


def lines(text: str) -> dict[Key, int]:
    """Line (from 1) of each key, table header and list item in a valid TOML ``text``."""
    return _Scanner(text).scan()


def dotted(key: Key) -> str:
    """``loads[0].connections``: a key as people write it."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).removeprefix(".")


class _Scanner:
    """A position in the text, and what was found before it."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.found: dict[Key, int] = {}
        self.items: dict[Key, int] = {}
        """Number of the current item of each array of tables."""

    def scan(self) -> dict[Key, int]:
        table: Key = ()
        while self.skip(_BLANK) < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.assignment(table)
        return self.found

    def skip(self, pattern: re.Pattern[str]) -> int:
        """Move past ``pattern``, which may match nothing; the new position."""
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def note(self, key: Key) -> None:
        self.found.setdefault(key, self.text.count("\n", 0, self.at) + 1)

    def header(self) -> Key:
        """``[a.b]`` or ``[[a.b]]``: the path of the table that follows."""
        start = self.at
        self.at += 2 if self.text.startswith("[[", self.at) else 1
        repeated = self.at - start == 2
        *parents, last = self.names()
        key: Key = ()
        for name in parents:
            key = self.current((*key, name))
        key = (*key, last)
        self.note(key)
        if repeated:
            self.items[key] = self.items.get(key, -1) + 1
            key = self.current(key)
            self.note(key)
        self.at += 2 if repeated else 1
        return key

    def current(self, key: Key) -> Key:
        """``key``, with the number of its newest item when it is an array of tables."""
        return (*key, self.items[key]) if key in self.items else key

    def names(self) -> list[str]:
        """The parts of a dotted key."""
        names = []
        while True:
            self.skip(_SPACE)
            start = self.at
            if self.text[start] in "\"'":
                self.skip(_STRING)
                names.append(self.text[start + 1 : self.at - 1])
            else:
                self.skip(_BARE_KEY)
                names.append(self.text[start : self.at])
            self.skip(_SPACE)
            if self.text[self.at] != ".":
                return names
            self.at += 1

    def assignment(self, table: Key) -> None:
        key = table
        start = self.at
        for name in self.names():
            key = (*key, name)
            here, self.at = self.at, start
            self.note(key)
            self.at = here
        self.at += 1  # the equals sign
        self.skip(_SPACE)
        self.value(key)

    def value(self, key: Key) -> None:
        opening = self.text[self.at]
        if opening == "[":
            self.list_of(key)
        elif opening == "{":
            self.inline_table(key)
        elif opening in "\"'":
            self.skip(_STRING)
        else:
            self.skip(_SCALAR)

    def list_of(self, key: Key) -> None:
        self.at += 1
        number = 0
        while self.text[self.skip(_BLANK)] != "]":
            self.note((*key, number))
            self.value((*key, number))
            number += 1
            if self.text[self.skip(_BLANK)] == ",":
                self.at += 1
        self.at += 1

    def inline_table(self, key: Key) -> None:
        self.at += 1
        while self.text[self.skip(_BLANK)] != "}":
            self.assignment(key)
            if self.text[self.skip(_BLANK)] == ",":
                self.at += 1
        self.at += 1
