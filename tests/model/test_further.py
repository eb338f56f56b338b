"""Further: what each look costs, and the looks of a plan that goes on."""

from __future__ import annotations

import pytest

from webdyno.model.further import Further

FURTHER = Further(looks=[6, 9], budget_s=60.0)


@pytest.mark.parametrize(
    ("rounds", "comparisons"), [(2, 2), (3, 2), (4, 4), (6, 4), (7, 8), (9, 8), (12, 16), (72, 64)]
)
def test_a_look_counts_as_twice_as_many_comparisons_as_the_one_before(rounds: int, comparisons: int) -> None:
    assert FURTHER.comparisons(rounds, whole=3) == comparisons


def test_looks_go_on_whenever_rounds_have_doubled() -> None:
    assert [*FURTHER.all_looks] == [6, 9, 18, 36, 72]


def test_all_looks_together_have_what_one_analysis_has() -> None:
    assert sum(1 / FURTHER.comparisons(rounds, whole=3) for rounds in (3, *FURTHER.all_looks)) < 1
