"""Pairs of requests in the report: which was sent first, which was answered first, and which waited."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
import numpy as np

from tests.analyse.fakes import FINGERPRINT, change_slices, histogram, plan, run, workload
from webdyno.analyse import analyse
from webdyno.model.claim import Claim
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.sample import Route
from webdyno.model.verdict import Analysis
from webdyno.model.workload import Request
from webdyno.report.html import render_html
from webdyno.report.sheet import Sheet
from webdyno.report.sheets import sheets

PAIRS = Load(
    connections=2, max_connections=20, pair_every_s=1.5, pair_apart_s=0.05, duration_s=2, warmup_s=0, timeout_s=30
)
NOISE = (1.0, 1.001, 0.999)
ORDERS = {
    "blocking-then-instant": [("blocking", 1.001e9), ("instant", 0.952e9)],
    "instant-then-blocking": [("instant", 1e6), ("blocking", 1.001e9)],
    "async-then-instant": [("async", 1.002e9), ("instant", 1.1e6)],
}
CLAIM = Claim(
    text="What needs no time waits",
    contenders=["tornado"],
    measure="p50",
    relation="about",
    value=1000,
    workload="blocking-then-instant",
    route="instant",
    headline=True,
)


def asked(order: str, took: Sequence[tuple[str, float]]) -> list[Run]:
    made = []
    for at, noise in enumerate(NOISE, 1):
        parts = [
            Route(name=name, offered=4, ok=4, errors={}, bytes_in=0, latency_hdr=histogram(np.full(4, ns * noise)))
            for name, ns in took
        ]
        made.append(change_slices(run("tornado", workload=order, load=PAIRS, round_=at), routes=parts))
    return made


def analysed(*claims: Claim) -> tuple[Analysis, str]:
    runs = [each for order, took in ORDERS.items() for each in asked(order, took)]
    known = {
        order: workload(order, requests=[Request(name=name, path=f"/{name}") for name, _ in took])
        for order, took in ORDERS.items()
    }
    made = plan(runs, workloads=known, claims=list(claims), shows=["p50"])
    analysis = analyse(made, FINGERPRINT, runs)
    return analysis, render_html(made, FINGERPRINT, runs, analysis)


def table(analysis: Analysis) -> Sheet:
    (found,) = [sheet for sheet in sheets(analysis) if sheet.key.startswith("pairs")]
    return found


def test_one_table_has_every_order_with_who_waited() -> None:
    analysis, page = analysed()
    found = table(analysis)
    assert found.title == "Who waits for whom: two requests, the second sent 50 ms after the first"
    assert [(row[1], row[3], row[5], row[6]) for row in found.rows] == [
        ("blocking", "instant", "blocking", "instant"),
        ("instant", "blocking", "instant", "none"),
        ("async", "instant", "instant", "none"),
    ]
    assert found.rows[0][4].startswith("952")
    assert " to " in found.rows[0][4]  # its interval
    assert found.title in page


def test_pairs_are_in_no_other_table_of_the_study() -> None:
    analysis, _ = analysed()
    assert [sheet.key for sheet in sheets(analysis)] == ["pairs-0.05"]
    assert {verdict.sentence for verdict in analysis.verdicts} == {
        "pairs are sent at a fixed rate, so the result is their times, not their rate"
    }


def test_a_claim_about_a_route_is_judged_by_its_times_alone() -> None:
    analysis, _ = analysed(CLAIM)
    (claim,) = analysis.claims
    assert claim.ruling == "holds"
    assert claim.sentence.startswith("the median latency of instant on tornado is 952 ms (")
    of_the_other = msgspec.structs.replace(CLAIM, relation="at most", value=500)
    assert analysed(of_the_other)[0].claims[0].ruling == "does not hold"


def test_the_same_route_is_compared_between_two_workloads() -> None:
    other = msgspec.structs.replace(CLAIM, value=None, relation="more than", than_workload="async-then-instant")
    (claim,) = analysed(other)[0].claims
    assert claim.ruling == "holds"
    assert claim.estimate is not None
    assert 800 < claim.estimate.value < 900


def test_claims_that_answer_the_question_lead_the_report_below_how_many_hold() -> None:
    open_ = msgspec.structs.replace(CLAIM, text="Four are ahead", cores=64)
    analysis, page = analysed(CLAIM, open_)
    first, second = analysis.sentence.split(". ")
    assert first.startswith("What needs no time waits: it holds, 952 ms (")
    assert second == "Four are ahead: cannot tell, the claim needs 64 cores or more, but the contenders had 1 here"
    assert "<h1>1 of 2 claims holds, 1 is undecided.</h1>" in page
    answers = re.findall("<li>(.*?)</li>", page.partition('class="answers"')[2].partition("</ul>")[0])
    assert [re.sub("<.*?>", "", each) for each in answers] == [
        f"holds What needs no time waits: {first.partition('holds, ')[2]}.",
        "cannot tell Four are ahead: the claim needs 64 cores or more, but the contenders had 1 here.",
    ]


def test_a_claim_that_was_not_asked_leads_nothing() -> None:
    nowhere = msgspec.structs.replace(CLAIM, workload="hello", route=None)
    analysis, _ = analysed(nowhere)
    assert analysis.claims[0].ruling == "cannot tell"
    assert "recommended" in analysis.sentence


def test_one_round_gives_a_headline_no_figure() -> None:
    runs = asked("blocking-then-instant", ORDERS["blocking-then-instant"])[:1]
    requests = [Request(name=name, path=f"/{name}") for name, _ in ORDERS["blocking-then-instant"]]
    known = {"blocking-then-instant": workload("blocking-then-instant", requests=requests)}
    analysis = analyse(plan(runs, workloads=known, claims=[CLAIM]), FINGERPRINT, runs)
    assert analysis.sentence == "What needs no time waits: cannot tell, one round gives no interval"
