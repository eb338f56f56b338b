"""What is wrong with the further rounds of a study is said with its key."""

from __future__ import annotations

import pytest

from webdyno.model.further import Further
from webdyno.read.check_study import _further


@pytest.mark.parametrize("looks", [[], [3], [6, 6], [9, 6]])
def test_looks_rise_beyond_the_rounds_of_everything(looks: list[int]) -> None:
    [(key, problem)] = _further(("further",), Further(looks=looks, budget_s=60), 3)
    assert key == ("further", "looks")
    assert problem == "must be rising numbers of rounds, each more than the 3 of everything"


def test_further_rounds_have_some_time() -> None:
    [(key, problem)] = _further(("brief", "further"), Further(looks=[6], budget_s=0), 3)
    assert (key, problem) == (("brief", "further", "budget_s"), "must be more than 0, but is 0")


def test_a_study_without_them_has_no_fault() -> None:
    assert list(_further(("further",), None, 3)) == []
    assert list(_further(("further",), Further(looks=[6, 9], budget_s=60), 3)) == []
