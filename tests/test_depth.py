"""How deep a JSON text is nested, known before a decoder goes down into it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdyno.depth import DEEPEST, is_deep

MANY: list[Any] = [[]] * 3000
"""Short texts are not looked at."""


def depth(value: Any) -> int:
    """As a decoder finds it."""
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a]":{"b":[],"c":', "}}]")])
def test_what_is_nested_deeper_than_anything_of_ours_is_deep(opening: str, closing: str) -> None:
    seen = []
    for levels in range(1, DEEPEST + 2):
        text = f"[{opening * levels}1{closing * levels}, {json.dumps(MANY)}]"
        seen.append(is_deep(text.encode()))
        assert seen[-1] is (depth(json.loads(text)) > DEEPEST)
    assert {*seen} == {False, True}


DEEP = {
    "closed": "[" * 100_000 + "]" * 100_000,
    "never closed": "[" * 100_000,
    "of both kinds": '{"a":[' * 50_000,
    "beside what is closed": "[[]," * 50_000,
}
SAID = {
    "brackets": "[" * 5000,
    "quotes": '{"[' * 5000,
    "backslashes": "\\" * 5000 + "[" * 5000,
    "both": '\\"[' * 5000,
    "ends": "]" * 5000,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_a_decoder_would_go_down_into_is_deep_though_it_never_ends(text: str) -> None:
    assert is_deep(text.encode())


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_brackets_within_a_string_nest_nothing(said: str) -> None:
    assert not is_deep(json.dumps({"log": said, said: [said]}).encode())


def test_a_string_that_ends_with_a_backslash_ends() -> None:
    assert is_deep(f'["\\\\", {"[" * 6000}{"]" * 6000}]'.encode())


@given(
    st.recursive(st.text() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)),
    st.integers(0, 40),
)
def test_it_is_deep_as_a_decoder_finds_it(value: Any, more: int) -> None:
    for _ in range(more):
        value = [value]
    text = json.dumps([value, *MANY])
    assert is_deep(text.encode()) is (depth(json.loads(text)) > DEEPEST)
