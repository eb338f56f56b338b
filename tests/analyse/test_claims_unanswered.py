"""Claims about errors, where requests without an answer at the end of a load may be errors that nobody counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import LOAD, change_slices, histogram, run
from tests.analyse.test_claims import good, judged
from webdyno.load.wrk import Wrk
from webdyno.model.run import Run

MEINHELD = {"contenders": ["meinheld"], "measure": "errors", "relation": "at least", "value": 0.01}
HARDLY = {"contenders": ["meinheld"], "measure": "errors", "relation": "at most", "value": 0.005}


def ending(runs: Sequence[Run], ages_ns: Sequence[float], **changes: Any) -> list[Run]:
    """With so many requests under way at the end, so old."""
    made = []
    for each in runs:
        last = msgspec.structs.replace(
            each.slices[-1], errors={"unfinished": len(ages_ns)}, unfinished_hdr=histogram(np.array(ages_ns))
        )
        made.append(msgspec.structs.replace(each, slices=[*each.slices[:-1], last], **changes))
    return made


def serving() -> list[Run]:
    """Four rounds of 2,000 answers of 5 ms each, none of them wrong."""
    return good("meinheld", 1_000, latency_ns=np.full(500, 5e6))


def test_requests_that_hang_at_the_end_leave_a_claim_about_errors_open() -> None:
    assert judged(serving(), MEINHELD).ruling == "does not hold"
    hung = judged(ending(serving(), [2e9] * 64), MEINHELD)
    assert hung.ruling == "cannot tell"
    assert "256 requests to meinheld had no answer when the load ended: if they had failed, its error" in hung.sentence
    assert "0 % (0 % to 3.1 %), claimed: at least 1.0 %" in hung.sentence
    assert judged(ending(serving(), [2e9] * 64), HARDLY).ruling == "cannot tell"


def test_requests_that_had_only_just_been_asked_say_nothing_of_errors() -> None:
    young = ending(serving(), [1e6] * 64)
    assert judged(young, MEINHELD).ruling == "does not hold"
    assert judged(young, HARDLY).ruling == "holds"


def test_what_hangs_can_only_add_errors() -> None:
    failing = [change_slices(each, errors={"timeout": 500}) for each in serving()]
    assert judged(ending(failing, [2e9] * 64), MEINHELD).ruling == "holds"


def test_clients_that_never_got_an_answer_count_as_requests_that_may_hang() -> None:
    starved = [msgspec.structs.replace(each, summary={"connections_unanswered": 33}) for each in serving()]
    verdict = judged(starved, MEINHELD)
    assert verdict.ruling == "cannot tell"
    assert "132 requests to meinheld had no answer" in verdict.sentence


def test_clients_without_any_answer_decide_a_claim_about_them_and_bound_a_question_of_ours_about_the_rate() -> None:
    """31 of 64 were served: of these the rate is, as an article's tool has it, and of 64 there is none."""
    starved = [msgspec.structs.replace(each, summary={"connections_unanswered": 33}) for each in serving()]
    few = {"contenders": ["meinheld"], "measure": "served", "relation": "at most", "value": 0.95}
    assert judged(starved, few).ruling == "holds"
    told = [msgspec.structs.replace(each, summary={"connections_unanswered": 0}) for each in serving()]
    assert judged(told, few).ruling == "does not hold"
    rate = {"contenders": ["meinheld"], "relation": "more than", "value": 10}
    assert (judged(starved, rate).ruling, judged(told, rate).ruling) == ("holds", "holds")
    assert "without a single answer" in judged(starved, rate).sentence
    assert judged(starved, {**rate, "ours": True}).ruling == "cannot tell"
    assert judged(starved, {**rate, "value": 2_000, "ours": True}).ruling == "does not hold"
    memory = {"contenders": ["meinheld"], "measure": "memory", "relation": "more than", "value": 1}
    assert judged(starved, memory).ruling == "holds", "what it needed it needed"


def test_a_driver_that_drops_what_is_under_way_may_have_lost_one_request_of_each_client() -> None:
    by_wrk = [msgspec.structs.replace(each, driver_can=Wrk().can) for each in serving()]
    assert judged(by_wrk, MEINHELD).ruling == "cannot tell"  # 64 of 2,064
    assert judged(by_wrk, {**MEINHELD, "value": 0.05}).ruling == "does not hold"
    counted = [
        msgspec.structs.replace(
            each,
            trial=msgspec.structs.replace(
                each.trial, load=msgspec.structs.replace(each.trial.load, count=2_000, duration_s=None)
            ),
        )
        for each in by_wrk
    ]
    assert judged(counted, MEINHELD).ruling == "does not hold"  # its end is the last answer


@pytest.mark.parametrize(("left", "ruling"), [("meinheld", "cannot tell"), ("bjoern", "does not hold")])
def test_of_two_without_errors_the_one_that_left_requests_may_have_more(left: str, ruling: str) -> None:
    both = [*serving(), *good("bjoern", 1_000, latency_ns=np.full(500, 5e6))]
    runs = [each for one in both for each in (ending([one], [2e9] * 64) if one.trial.contender == left else [one])]
    claim = {"contenders": ["meinheld"], "measure": "errors", "relation": "more than", "than": ["bjoern"]}
    verdict = judged(runs, claim)
    assert verdict.ruling == ruling
    assert "neither meinheld nor bjoern failed a request" in verdict.sentence
    assert ("had no answer when the load ended" in verdict.sentence) == (ruling == "cannot tell")


def test_a_share_that_was_given_for_all_loads_is_judged_over_their_requests_together() -> None:
    """2,000 requests without an error and 500 of which 250 fail: a tenth of all, and neither 0 nor a half."""
    more = msgspec.structs.replace(LOAD, connections=1_000)
    few = [change_slices(each, errors={"timeout": 125}, ok=125) for each in good("meinheld", 250, load=more)]
    runs = [*serving(), *few]
    claim = {"contenders": ["meinheld"], "measure": "errors", "relation": "about", "value": 0.1}
    assert judged(runs, claim).ruling == "does not hold"
    both = judged(runs, {**claim, "together": True})
    assert both.ruling == "holds"
    assert "(hello, 64 and 1,000 connections in total, keep-alive)" in both.sentence
    hung = judged([*serving(), *ending(few, [2e9] * 1_000)], {**claim, "together": True})
    assert hung.ruling == "cannot tell"


def test_a_load_that_decides_nothing_leaves_the_share_of_all_open() -> None:
    more = msgspec.structs.replace(LOAD, connections=1_000)
    dead = [run("meinheld", round_=at, outcome="died", slices=[], load=more) for at in (1, 2, 3, 4)]
    claim = {"contenders": ["meinheld"], "measure": "errors", "relation": "about", "value": 0.1, "together": True}
    verdict = judged([*serving(), *dead], claim)
    assert verdict.ruling == "cannot tell"
    assert "meinheld did not serve: died in 4 rounds" in verdict.sentence


def test_clients_without_an_answer_leave_open_how_fast_it_was_and_not_how_much_cpu_it_used() -> None:
    starved = [msgspec.structs.replace(each, summary={"connections_unanswered": 33}) for each in serving()]
    used = {"contenders": ["meinheld"], "measure": "cpu", "relation": "about", "value": 1}
    fast = {"contenders": ["meinheld"], "measure": "latency_mean", "relation": "less than", "value": 6}
    assert judged(starved, used).ruling == "holds"
    assert judged(serving(), fast).ruling == "holds"
    assert judged(starved, fast).ruling == "cannot tell"


@pytest.mark.parametrize(
    ("relation", "times_of_go", "ruling"),
    [("more than", 2.0, "holds"), ("more than", 9.0, "cannot tell"), ("less than", 9.0, "cannot tell")],
)
def test_a_time_of_those_that_were_answered_decides_what_a_longer_one_would(
    relation: str, times_of_go: float, ruling: str
) -> None:
    """5 ms here beside 1 ms, and longer for the 33 of 64 clients that waited in vain."""
    starved = [msgspec.structs.replace(each, summary={"connections_unanswered": 33}) for each in serving()]
    runs = [*starved, *good("go", 5_000, latency_ns=np.full(2_500, 1e6))]
    claim = {"contenders": ["meinheld"], "measure": "latency_mean", "than": ["go"], "relation": relation}
    verdict = judged(runs, {**claim, "times": times_of_go})
    assert verdict.ruling == ruling
    assert "meinheld left 33 of 64 connections without a single answer" in verdict.sentence


@pytest.mark.parametrize(
    ("claim", "ruling"),
    [
        ({"contenders": ["go"], "relation": "highest"}, "holds"),
        ({"contenders": ["meinheld"], "relation": "less than", "than": ["go"]}, "holds"),
        ({"contenders": ["meinheld"], "relation": "highest"}, "does not hold"),
        ({"contenders": ["go"], "relation": "at most", "times": 9, "than": ["meinheld"]}, "cannot tell"),
        ({"contenders": ["meinheld"], "relation": "more than", "value": 10}, "cannot tell"),
        ({"contenders": ["meinheld"], "measure": "memory", "relation": "more than", "value": 1}, "cannot tell"),
    ],
)
def test_the_rounds_that_a_contender_survived_say_how_fast_it_was_at_most(claim: dict[str, Any], ruling: str) -> None:
    died = run("meinheld", round_=5, outcome="died", slices=[])
    verdict = judged([*serving(), died, *good("go", 5_000)], claim)
    assert verdict.ruling == ruling, verdict.sentence
    if ruling != "does not hold":  # that was decided by rounds that it survived
        assert "meinheld ended while under load in 1 of 5 rounds" in verdict.sentence
