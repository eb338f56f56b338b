"""Rules for workers and threads."""

from __future__ import annotations

import pytest

from webdyno.model.rule import evaluate


@pytest.mark.parametrize(
    ("expected", "rule", "cores"),
    [
        (4, 4, 2),
        (5, "2 * cores + 1", 2),
        (2, "cores", 2),
        (1, "cores // 2", 1),  # never less than one worker
        (8, "min(8, 4 * cores)", 3),
        (2, "max(2, cores)", 1),
        (1, 0, 1),
    ],
)
def test_a_rule_gives_a_whole_number_of_at_least_one(expected: int, rule: int | str, cores: int) -> None:
    assert evaluate(rule, cores) == expected


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("2 *", "'2 *' is not a rule; write a whole number or arithmetic over cores"),
        ("cpus", "'cpus' cannot stand in a rule; whole numbers, cores, + - * //, min() and max() can"),
        ("cores / 2", "'cores / 2' cannot stand in a rule; whole numbers, cores, + - * //, min() and max() can"),
        (
            "__import__('os')",
            "\"__import__('os')\" cannot stand in a rule; whole numbers, cores, + - * //, min() and max() can",
        ),
        ("min()", "'min()' cannot stand in a rule; whole numbers, cores, + - * //, min() and max() can"),
        ("1 // (cores - 1)", "'1 // (cores - 1)' divides by zero when cores = 1"),
    ],
)
def test_anything_else_is_refused_with_a_sentence(rule: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        evaluate(rule, 1)
    assert str(caught.value) == sentence


def test_workers_stand_in_a_rule_only_where_they_are_known() -> None:
    assert evaluate("6000 // workers", 4, workers=4) == 1500
    with pytest.raises(ValueError, match="'workers' cannot stand in a rule; whole numbers, cores, "):
        evaluate("6000 // workers", 4)
