"""Placeholders in commands."""

from __future__ import annotations

import pytest

from webdyno.model.placeholder import fill


def filled(*words: str, host: str = "127.0.0.1") -> list[str]:
    return fill(words, host=host, port=8000, workers=5, threads=2, cores=4)


def test_every_placeholder_is_replaced_wherever_it_stands() -> None:
    assert filled("-b", "{bind}", "--host={host}", ":{port}", "{workers}x{threads}", "{cores}") == [
        "-b", "127.0.0.1:8000", "--host=127.0.0.1", ":8000", "5x2", "4",
    ]  # fmt: skip


def test_an_ipv6_address_is_bracketed_in_bind_only() -> None:
    assert filled("{bind}", "{host}", host="::1") == ["[::1]:8000", "::1"]


def test_other_braces_stay() -> None:
    assert filled('{"port": {port}}', "{}", "{ }", "${HOME}x{1}"[1:2]) == ['{"port": 8000}', "{}", "{ }", "{"]


def test_an_unknown_placeholder_is_named_with_its_nearest_spelling() -> None:
    with pytest.raises(
        ValueError, match=r"^\{worker\} in '-w \{worker\}' is not a placeholder; did you mean \{workers\}\?$"
    ):
        filled("-w {worker}")


def test_one_that_resembles_nothing_lists_all_there_are() -> None:
    with pytest.raises(
        ValueError, match=r"there are \{bind\}, \{host\}, \{port\}, \{workers\}, \{threads\}, \{cores\}$"
    ):
        filled("{zzz}")
