"""The one table all of bench prints."""

from __future__ import annotations

from bench.table import table


def test_figures_stand_right_and_words_left() -> None:
    assert table(["what", "n"], [["a", "9"], ["long", "10.5"]]) == [
        "what     n",
        "----  ----",
        "a        9",
        "long  10.5",
    ]


def test_a_column_with_a_word_in_it_is_words() -> None:
    assert table(["n"], [["9"], ["9 %"]])[2:] == ["9", "9 %"]
