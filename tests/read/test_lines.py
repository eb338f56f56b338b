"""Where keys stand, whatever form TOML allows them to be written in."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from webdyno.read.lines import Key, dotted, lines

EVERYTHING = '''\
# 1
title = "a # that = is [ no ] comment"
"quoted key" = 'x'
dotted.key = 1
text = """
more = "no key"
\\"""
"""
raw = \'\'\'
[no.table]
\'\'\'
list = [ # 12
    "a",
    ["b", { c = 1, d = [2] }], # 14

    "e,]}",
]
empty = []
inline = { one = 1, two = { three = 3 } }

[table] # 21
key = 1979-05-27T07:32:00Z

[table."sub.table"]
key = true

[[loads]] # 27
connections = [1,
    2]

[loads.deep]
x = 1

[[loads]] # 34
connections = [3]
[loads.deep]
x = 2
[[loads.inner]]
y = 1.5e3'''

EXPECTED: dict[Key, int] = {
    ("title",): 2,
    ("quoted key",): 3,
    ("dotted",): 4,
    ("dotted", "key"): 4,
    ("text",): 5,
    ("raw",): 9,
    ("list",): 12,
    ("list", 0): 13,
    ("list", 1): 14,
    ("list", 1, 1, "d", 0): 14,
    ("list", 2): 16,
    ("empty",): 18,
    ("inline", "two", "three"): 19,
    ("table",): 21,
    ("table", "key"): 22,
    ("table", "sub.table"): 24,
    ("table", "sub.table", "key"): 25,
    ("loads",): 27,
    ("loads", 0): 27,
    ("loads", 0, "connections", 1): 29,
    ("loads", 0, "deep"): 31,
    ("loads", 0, "deep", "x"): 32,
    ("loads", 1): 34,
    ("loads", 1, "connections"): 35,
    ("loads", 1, "deep", "x"): 37,
    ("loads", 1, "inner", 0): 38,
    ("loads", 1, "inner", 0, "y"): 39,
}


@pytest.mark.parametrize(("key", "line"), EXPECTED.items(), ids=map(dotted, EXPECTED))
def test_a_key_stands_on_its_line(key: Key, line: int) -> None:
    assert lines(EVERYTHING)[key] == line


def test_every_key_that_tomllib_reads_is_found_and_no_other() -> None:
    def keys(value: Any, key: Key) -> set[Key]:
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return {key}.union(*(keys(inner, (*key, name)) for name, inner in inside))

    assert set(lines(EVERYTHING)) == keys(tomllib.loads(EVERYTHING), ()) - {()}


def test_an_empty_text_has_no_keys() -> None:
    assert lines("") == lines("# only this\n\n") == {}


def test_windows_line_ends_count_once() -> None:
    assert lines("a = 1\r\nb = [\r\n1,\r\n]\r\nc = 2\r\n")[("c",)] == 5


@pytest.mark.parametrize(
    ("key", "text"),
    [((), ""), (("a",), "a"), (("loads", 0, "connections"), "loads[0].connections"), (("a", 1, 2), "a[1][2]")],
)
def test_a_key_is_written_as_people_do(key: Key, text: str) -> None:
    assert dotted(key) == text
