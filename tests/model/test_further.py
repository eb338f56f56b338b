"""Further: what each look costs, and the looks of a plan that goes on."""

from __future__ import annotations

import msgspec
import pytest

from webdyno.model.further import Further

FURTHER = Further(looks=[6, 9], budget_s=60.0)


@pytest.mark.parametrize(("rounds", "comparisons"), [(2, 2), (3, 2), (4, 4), (6, 4), (7, 8), (9, 8), (12, 8)])
def test_a_look_counts_as_twice_as_many_comparisons_as_the_one_before(rounds: int, comparisons: int) -> None:
    assert FURTHER.comparisons(rounds, whole=3) == comparisons


def test_all_looks_together_have_what_one_analysis_has() -> None:
    longer = msgspec.structs.replace(FURTHER, looks=[*FURTHER.prolonged()])
    assert sum(1 / longer.comparisons(rounds, whole=3) for rounds in (3, *longer.looks)) < 1


def test_looks_that_are_added_leave_the_earlier_ones_what_they_were() -> None:
    looks = [*FURTHER.prolonged()]
    assert looks == [6, 9, 18, 36, 72]
    longer = msgspec.structs.replace(FURTHER, looks=looks)
    assert [longer.comparisons(rounds, 3) for rounds in (3, 6, 9)] == [FURTHER.comparisons(n, 3) for n in (3, 6, 9)]
    assert [*longer.prolonged()] == looks
