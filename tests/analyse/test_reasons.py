"""Reasons: what keeps a claim open is said first; what is decided has one reason at most, and one that explains it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.analyse.fakes import change_slices
from tests.analyse.test_claims import THREE, driver_full, good, judged, wavering, with_closes
from webdyno.model.further import Further
from webdyno.model.run import Run

CLOSES = "closes the connection after an answer"


@pytest.mark.parametrize(
    ("claim", "border"),
    [
        (
            {"relation": "more than", "times": 3.0, "than": ["node"]},
            "3x; go serves 3.0",
        ),
        ({"relation": "at most", "times": 3.0, "than": ["node"]}, "3x; go serves 3.0"),
        ({"relation": "about", "times": 2.4, "than": ["node"]}, "3x; go serves 3.0"),
        ({"relation": "about", "times": 3.75, "than": ["node"]}, "3x; go serves 3.0"),
        (
            {"relation": "at least", "value": 30_000},
            "30,000/s; the request rate of go is",
        ),
    ],
)
def test_an_interval_across_the_border_is_said_first(claim: dict[str, Any], border: str) -> None:
    first = f"the interval includes {border}"
    verdict = judged(THREE, {"contenders": ["go"], **claim})
    assert (verdict.ruling, verdict.sentence[: len(first)]) == ("cannot tell", first)


def test_a_rival_that_was_held_back_is_said_first_and_alone() -> None:
    slow = [driver_full(each) for each in with_closes(good("node", 10_000, cpu=0.4))]
    verdict = judged([*good("go", 30_000), *slow], {"contenders": ["go"], "relation": "more than", "than": ["node"]})
    assert verdict.ruling == "cannot tell"
    doubt, fact = verdict.sentence.split("; go serves 3.0")
    assert doubt.startswith("the load generator ")
    assert CLOSES not in fact


def test_a_wide_interval_is_the_reason_where_what_held_back_is_not() -> None:
    """The load generator bounds go from below, and what go surely lacks is precision."""
    rough = [*wavering("node", 9_950), *good("go", 20_000, cpu=0.4)]
    claim = {"contenders": ["go"], "relation": "at least", "times": 2, "than": ["node"]}
    verdict = judged([driver_full(each) if each.trial.contender == "go" else each for each in rough], claim)
    assert verdict.ruling == "cannot tell"
    assert verdict.sentence.startswith("the interval includes 2x; go serves 2.0")


def test_what_is_sure_by_itself_and_not_among_many_says_so() -> None:
    failing = [
        change_slices(each, errors={"reset": 12 if name == "n00" else 5})
        for name in (f"n{at:02}" for at in range(40))
        for each in good(name, 500)[:3]
    ]
    claim = {"contenders": ["n*"], "measure": "errors", "relation": "at most", "value": 0.016}
    verdict = judged(failing, claim)
    assert verdict.ruling == "cannot tell"
    why = "decided on its own, but not after correcting for 40 comparisons"
    assert verdict.sentence.startswith(f"{why}; the error rate of n00")


def test_what_is_sure_at_one_look_and_not_over_all_says_so() -> None:
    """The interval that is shown lies above 1. Judged as one of so many looks it is wider."""
    runs = [*wavering("go", 10_300), *good("node", 10_000)]
    claim = {"contenders": ["go"], "relation": "more than", "than": ["node"]}
    assert judged(runs, claim).ruling == "holds"
    often = judged(runs, claim, further=Further(looks=[2, 3], budget_s=1.0), whole_rounds=1)
    assert often.ruling == "cannot tell"
    why = "decided on its own, but not after correcting for repeated looks"
    assert often.sentence.startswith(f"{why}; go serves 1.0")


def closing(*names: str) -> list[Run]:
    runs = {name: good(name, rate) for name, rate in (("go", 30_000), ("node", 10_000))}
    return [each for name, of in runs.items() for each in (with_closes(of) if name in names else of)]


@pytest.mark.parametrize(
    ("names", "measure", "told"),
    [
        (("node",), "rate", True),
        (("go",), "rate", False),  # the faster one: it would have been faster still
        (("go", "node"), "rate", False),  # both pay
        (("node",), "cpu_per_request", True),
        (("node",), "memory", False),
    ],
)
def test_a_doubt_is_a_reason_where_it_set_back_the_one_that_is_worse(
    names: tuple[str, ...], measure: str, *, told: bool
) -> None:
    claim = {"contenders": ["go"], "measure": measure, "than": ["node"]}
    relation = {"rate": "more than", "cpu_per_request": "less than", "memory": "about"}[measure]
    verdict = judged(closing(*names), {**claim, "relation": relation})
    assert verdict.ruling == "holds"
    assert (f"node {CLOSES}" in verdict.sentence) is told
    assert f"go {CLOSES}" not in verdict.sentence


def test_a_figure_is_explained_by_one_doubt_at_most() -> None:
    wrong = [change_slices(each, errors={"wrong-body": 100}) for each in with_closes(good("node", 10_000))]
    claim = {"contenders": ["node"], "relation": "at most", "value": 20_000}
    verdict = judged(wrong, claim)
    assert verdict.ruling == "holds"
    assert verdict.sentence.count("; ") == 1
    assert {"closes-connections", "wrong-answers"} <= set(verdict.doubts), "all of them stand among the doubts"


def test_errors_beside_none_are_told_as_they_are() -> None:
    failing = [change_slices(each, errors={"reset": 5_000}) for each in good("node", 10_000)]
    claim = {"contenders": ["node"], "measure": "errors", "relation": "more than", "than": ["go"]}
    verdict = judged([*good("go", 30_000), *failing], claim)
    assert verdict.ruling == "holds"
    assert verdict.sentence.startswith("the error rate of node is 33 %, and that of go is 0")


def test_a_claim_is_refuted_by_the_one_that_is_behind_and_not_by_one_that_is_hardly_ahead() -> None:
    runs = [*good("go", 10_000), *wavering("near", 9_800), *wavering("far", 10_100)]
    verdict = judged(runs, {"contenders": ["go"], "relation": "more than", "than": ["near", "far"]})
    assert verdict.ruling == "does not hold"
    assert "as many requests per second as far (" in verdict.sentence
